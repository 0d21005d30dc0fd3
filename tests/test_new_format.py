"""A newcomer adds a format by one module and one test folder, and touches nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bathtub

TOP = Path(__file__).parents[1]
MODULE = '''"""Heartbeats of a fictitious agent: `beat <ISO time> <node>`. A record is a line."""

from collections.abc import Iterator

from bathtub.ingest import Batch, Format
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import iso
from bathtub.schema import table
from bathtub.source import Source


def parse(source: Source) -> Iterator[Batch]:
    """One batch; each beat is a line of the node's coverage."""
    collector = Collector("heartbeat", source)
    lines = source.read(1 << 20).decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        words = line.split(" ")
        stamp = iso(words[1], source) if len(words) == 3 else None
        if stamp is None or stamp.at is None:
            collector.reject(number, "bad_beat", line)
            continue
        collector.kept += 1
        at = stamp.at
        collector.keep("coverage", {"node": words[2], "day": at.date(), "first_at": at, "last_at": at, "n_sampled": 1})
    yield collector.batch(len(lines))


FORMAT = Format("heartbeat", "1", "a line", (table("coverage"),), lambda head, _name: head.startswith(b"beat "), parse)
'''
CASE = {
    "input.txt": "beat 2026-05-01T00:00:01Z n1\nbeat never n1\n",
    "rows.csv": "node,day,first_at\nn1,2026-05-01,2026-05-01T00:00:01Z\n",
    "rejects.csv": "line,reason\n2,bad_beat\n",
    "counts.csv": "read,kept,rejected,out_of_scope\n2,1,1,0\n",
}


def test_one_module_and_one_folder_are_enough(tmp_path: Path) -> None:
    package = Path(bathtub.__file__).parent
    if not (TOP / "pipeline").is_dir():
        pytest.skip("not a checkout: the package stands alone")
    shutil.copytree(package, tmp_path / "pipeline" / "bathtub", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TOP / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    for name in ("sql", "data"):
        shutil.copytree(TOP / name, tmp_path / name)
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    (tmp_path / "pipeline/bathtub/ingest/heartbeat.py").write_text(MODULE)
    case = tmp_path / "tests/ingest/heartbeat/good_and_bad"
    case.mkdir(parents=True)
    for name, content in CASE.items():
        (case / name).write_text(content)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_ingest.py", "tests/test_layout.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "pipeline")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    listed = subprocess.run(
        [sys.executable, "-m", "bathtub", "parse", str(case / "input.txt"), "--json"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "pipeline")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert '"node": "n1"' in listed.stdout
