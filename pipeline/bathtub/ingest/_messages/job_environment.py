r"""Where a rank runs: the variables of a launcher, as jobs print them at their start, all in one line.

    RANK=5 LOCAL_RANK=1 WORLD_SIZE=16 HOSTNAME=node05 MASTER_ADDR=node01
    SLURM_PROCID=5 SLURM_LOCALID=1 SLURM_NTASKS=16 SLURMD_NODENAME=node05 LOCAL_RANK=1
    {'SLURMD_NODENAME': 'node05', 'RANK': '5', 'LOCAL_RANK': '1'}

Set by torchrun, Slurm's srun and Open MPI. `RANK` (also GLOBAL_RANK, OMPI_COMM_WORLD_RANK) is the global rank. SLURM_PROCID is
one only where a task is a rank: where a node has several tasks, or as many tasks as the job has ranks; with one torchrun on
each node it is the node's number, and such a line without a rank is not read. Nor is an environment printed one variable a
line, since the lines of several processes mix. MASTER_ADDR is where ranks meet, not where this one runs.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, MAX_RANK, number
from bathtub.schema import table

_VARIABLE = re.compile(
    r"(?<![A-Za-z0-9_])(?P<name>(?:OMPI_COMM_WORLD|SLURM|SLURMD|GLOBAL|LOCAL|WORLD)_[A-Z_]{1,24}|RANK|HOSTNAME)['\"]?\s?[=:]\s?['\"]?"
    r"(?P<value>[\w.-]{1,255})",
    re.ASCII,
)
_RANK = ("RANK", "GLOBAL_RANK", "OMPI_COMM_WORLD_RANK")
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
_WORLD = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE")
_NODE = ("SLURMD_NODENAME", "HOSTNAME")
_TASKS, _NODES = ("SLURM_NTASKS", "SLURM_NPROCS"), ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")
_MAX_VARIABLES = 64


def parse(text: str) -> Said | None:
    """The placement that one line of variables tells."""
    told = {found["name"]: found["value"] for found, _ in zip(_VARIABLE.finditer(text), range(_MAX_VARIABLES), strict=False)}
    rank, local, world = _first(told, _RANK), _first(told, _LOCAL), _first(told, _WORLD)
    if rank is None and _is_rank_of_task(told, world):
        rank, world = _first(told, ("SLURM_PROCID",)), world or _first(told, _TASKS)
    host = next((told[name] for name in _NODE if name in told), None)
    if rank is None or not rank < (MAX_RANK if world is None else min(world, MAX_RANK)) or (host is None and local is None):
        return None
    return {"source_kind": "environment", "rank": rank, "n_ranks": world, "host": host, "local_gpu": local}


def _first(told: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    """The first of these variables that is a whole number."""
    values = (told.get(name, "") for name in names)
    return next((number(value) for value in values if value.isdecimal()), None)


def _is_rank_of_task(told: Mapping[str, str], world: int | None) -> bool:
    """Whether Slurm's tasks are ranks: several on a node, or as many as the job has ranks."""
    tasks, nodes = _first(told, _TASKS), _first(told, _NODES)
    has_several = bool(_first(told, ("SLURM_LOCALID",))) or (tasks is not None and nodes is not None and tasks > nodes)
    return has_several or (tasks is not None and tasks == world)


GRAMMAR = Grammar(
    name="job_environment",
    version="1",
    table=table("placements"),
    emitters=JOB_EMITTERS,
    literals=(b"LOCAL_RANK",),
    parse=parse,
)
