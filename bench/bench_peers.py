"""Every set of dumps with a known truth: what is right, what we say, and what PyTorch's analyser names, as a table in Markdown.

    python bench/bench_peers.py [--corpus FOLDER] [--torch PYTHON]

The sets are those of the corpus (else nothing is printed but a word); each moment in its pickled form. PyTorch's analyser runs
where an interpreter has it (--torch, $BATHTUB_TORCH_PYTHON). It stops on dumps of gloo, which do not say who is in a group:
it gets copies that do. What NVIDIA's resiliency extension (commit d8686d9) names is known for some sets and not run here.
"""

import argparse
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_hang import has_torch

from bathtub.hang import dump_files, hang

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
NVRX = {
    "nvrx/gpu_error_1st": "12", "nvrx/lock_gil_1st": "9, 14", "real_gloo/ring_wrap_hang/at_hang": "2",
    "real_gloo/type_mismatch/at_hang": "nobody", "real_gloo/skip_one_collective/at_hang": "0, 1, 3",
    "real_gloo/sub_groups_hang/at_hang": "2, 3", "real_gloo/cross_group_deadlock/at_hang": "0, 1, 2, 3",
    "real_gloo/dtype_mismatch/after_error": "2", "real_gloo/rank_sigkill/after_error": "3",
    "real_gloo/tutorial_extra_collective/at_issue": "1", "synth_small/started_waiters_json": "nobody",
    "synth_versions/torch2.2_list": "crash", "synth_versions/1.4": "crash", "synth_versions/mixed_2.9_2.10": "nobody",
    "synth_small/pipeline_batched_healthy": "0, 4",
}  # fmt: skip
"""Ranks named, where that is published."""

Truth = Mapping[str, object]


def snapshots(corpus: Path) -> Iterator[tuple[str, Path, Truth]]:
    """Name, folder and truth of each set, one form of each."""
    for case, right in json.loads((corpus / "expected.json").read_text())["cases"].items():
        common = {name: right[name] for name in ("world", "backend") if name in right}
        for snapshot, expected in right.get("snapshots", {}).items():
            yield f"{case}/{snapshot}", corpus / case / snapshot / "pickle", {**common, **expected}
        if "snapshots" not in right:
            yield case, corpus / case, right


def said(culprits: list[int] | None) -> str:
    return ", ".join(map(str, culprits or [])) or "nobody"


def ours(folder: Path, truth: Truth) -> Mapping[str, object]:
    """Our verdict on the dumps of the folder alone: logs of the same ranks stay aside."""
    return hang(dump_files([folder]), truth["world"] if truth.get("needs_world") else None)


def theirs(python: str, folder: Path, truth: Truth) -> str:
    """The ranks that PyTorch's analyser names: those it calls missing, and its culprits."""
    with tempfile.TemporaryDirectory() as scratch:
        copied(dump_files([folder]), Path(scratch), truth)
        command = [python, "-m", "torch.distributed.flight_recorder.fr_trace", scratch, "--allow-incomplete-ranks"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
    output = found.stdout + found.stderr
    if found.returncode:
        return "crash"
    missing = [rank for listed in re.findall(r"missing ranks: \{([\d, ]+)\}", output) for rank in listed.split(",")]
    named = sorted({int(rank) for rank in [*missing, *re.findall(r"Culprit rank (\d+)", output)]})
    return "cannot decide" if not named and "cannot decide" in output else said(named)


def copied(paths: Sequence[Path], to: Path, truth: Truth) -> None:
    """The files; those of gloo with the members of each group: all ranks of the default group, else those that use it."""
    loaded = {path: dump for path in paths if (dump := gloo_dump(path)) is not None}
    users: dict[tuple[str, str], list[int]] = {("0", "default_pg"): list(range(truth["world"]))}
    for path, dump in loaded.items():
        for group in {entry["process_group"] for entry in dump["entries"]} - {("0", "default_pg")}:
            users.setdefault(group, []).append(int(re.search(r"\d+$", path.name)[0]))
    for path in paths:
        if path not in loaded:
            shutil.copyfile(path, to / path.name)
            continue
        rank = int(re.search(r"\d+$", path.name)[0])
        mine = {group: sorted(ranks) for group, ranks in users.items() if rank in ranks}
        config = {name: {"name": name, "desc": desc, "ranks": str(ranks)} for (name, desc), ranks in mine.items()}
        (to / path.name).write_bytes(pickle.dumps({**loaded[path], "pg_config": config}, 2))


def gloo_dump(path: Path) -> dict[str, object] | None:
    """A dump whose one group has no name, as gloo writes it. The corpus is our own: its pickles may be loaded."""
    try:
        dump = pickle.loads(path.read_bytes())
    except (pickle.UnpicklingError, EOFError):
        return None
    return dump if isinstance(dump, dict) and list(dump["pg_config"]) == [""] else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path(os.environ.get("BATHTUB_CORPUS", CORPUS)))
    parser.add_argument("--torch", default=os.environ.get("BATHTUB_TORCH_PYTHON", sys.executable), metavar="PYTHON")
    chosen = parser.parse_args()
    if not (chosen.corpus / "nccl" / "expected.json").exists():
        print("skipped: no corpus")
        return
    python = chosen.torch if has_torch(chosen.torch) else None
    print("| set | truth | we name | our finding | torch's analyser | NVRx (published) |\n|---|---|---|---|---|---|")
    n_right = n_theirs = n_sets = 0
    for name, folder, truth in snapshots(chosen.corpus / "nccl"):
        verdict, right = ours(folder, truth), said(truth["culprits"])
        other = theirs(python, folder, truth) if python else "skipped: no torch"
        n_sets, n_right, n_theirs = n_sets + 1, n_right + (said(verdict["culprits"]) == right), n_theirs + (other == right)
        weaker = f" (weaker: {said(verdict['suspects'])})" if verdict["suspects"] else ""
        finding = f"{verdict['finding']}, {verdict['class']}, {verdict['confidence']}"
        print(
            f"| {name} | {right} | {said(verdict['culprits'])}{weaker} | {finding} | {other} | {NVRX.get(name, '')} |", flush=True
        )
    print(f"\n{n_sets} sets: {n_right} exact by us" + (f", {n_theirs} by torch's analyser" if python else ""))


if __name__ == "__main__":
    main()
