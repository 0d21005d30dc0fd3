"""What the grammars of a job's output share: who writes it, whose line it is, and numbers within bounds."""

import re

JOB_EMITTERS = frozenset(
    {"job_output", "python", "python3", "torchrun", "accelerate", "deepspeed", "srun", "mpirun", "slurmstepd", "bash", "sh"}
    | {"docker", "dockerd", "containerd", "enroot", "podman", "kubelet"}
)
"""`job_output` is a file of the job's own; the others are what syslog and the journal put in front of its lines."""

MAX_DIGITS = 18
MAX_RANK = 1 << 24

# [rank5]:[E314 11:42:07.327555102 ProcessGroupNCCL.cpp:683] …        [rank5]: Traceback …       [rank 3] RuntimeError: …
_RANK = re.compile(r"\[rank ?(\d{1,8})\]", re.ASCII)
# node12 [stderr] [rank18]:[E521 …       node12: [rank18]:[E521 …
_LAUNCHER = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,254})(?::| \[(?:stderr|stdout|err|out)\]:?)\s*(?=\[rank ?\d)", re.ASCII)


def number(digits: str | None) -> int | None:
    """A whole number that a column can hold; None where there is none, or it is absurd."""
    return int(digits) if digits and len(digits.lstrip("-")) <= MAX_DIGITS else None


def rank_of(text: str) -> int | None:
    """The global rank in front of a line."""
    found = _RANK.search(text)
    return int(found[1]) if found is not None and int(found[1]) < MAX_RANK else None


def writer(text: str) -> dict[str, object]:
    """The global rank in front of a line, and the host that the launcher put there."""
    launched = _LAUNCHER.match(text)
    return {"rank": rank_of(text), "host": launched["host"] if launched else None, "ranks": [], "flags": []}


def ranks_in(listed: str) -> list[int]:
    """The ranks of `0, 1, 3`; those beyond any job are left out."""
    found = (number(part.strip()) for part in listed.split(","))
    return [rank for rank in found if rank is not None and 0 <= rank < MAX_RANK]
