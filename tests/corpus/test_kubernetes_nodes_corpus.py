"""What node-problem-detector and the node monitoring agent of EKS can say of a node is kept, and known.

Their own files name it: the conditions and rules of the one (whose kernel patterns our grammars read too, where the line is a
fault that we know), the reasons of the other with their default severity.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bathtub import knowledge
from bathtub.ingest import formats
from bathtub.ingest._messages import interpret
from tests.cases import rows_of, source

NPD = "scheduler/node-problem-detector"
EKS = "scheduler/eks-node-monitoring-agent/reasons.yaml"
AT = "2026-05-20T03:04:05Z"

LINES: dict[str, tuple[str, str | None, str | None]] = {
    "OOMKilling": ("Killed process 4242 (python3) total-vm:9000kB, anon-rss:800kB, file-rss:0kB", "memory", "oom_kill"),
    "TaskHung": ("INFO: task python3:4242 blocked for more than 120 seconds.", "stall", "blocked_task"),
    "DockerHung": ("INFO: task docker:4242 blocked for more than 120 seconds.", "stall", "blocked_task"),
    "KernelOops": ("BUG: unable to handle kernel NULL pointer dereference at 0000000000000008", "crash", "oops"),
    "KernelOops of a division": ("divide error: 0000 [#1] SMP NOPTI", "crash", "oops"),
    "Ext4Error": ("EXT4-fs error (device nvme0n1p1): ext4_find_entry:1455: inode #2: comm sh", "disk", "ext4_error"),
    "Ext4Warning": ("EXT4-fs warning (device nvme0n1p1): ext4_end_bio:323: I/O error 10", "disk", "ext4_warning"),
    "XfsHasShutdown": ("XFS (nvme1n1): Log I/O Error Detected. Shutting down filesystem", "disk", "xfs_shutdown"),
    "MemoryReadError": ("EDAC MC0: 1 CE memory read error on CPU0_DIMM1 (channel:1 slot:0)", "edac", "edac_corrected"),
    "CperHardwareErrorCorrected": ("{1}[Hardware Error]: event severity: corrected", "ghes", "ghes_corrected"),
    "CperHardwareErrorRecoverable": ("{1}[Hardware Error]: event severity: recoverable", "ghes", "ghes_recoverable"),
    "CperHardwareErrorFatal": ("{1}[Hardware Error]: event severity: fatal", "ghes", "ghes_fatal"),
    "UnregisterNetDevice": ("unregister_netdevice: waiting for eth0 to become free. Usage count = 1", None, None),
    "IOError": ("Buffer I/O error on dev sdb, logical block 0, async page read", None, None),
    "FilesystemIsReadOnly": ("EXT4-fs (nvme0n1p1): Remounting filesystem read-only", "disk", "read_only"),
}  # fmt: skip
"""A line of our own for each rule about the kernel, and the fault that it is to the grammars; none where only the event tells."""


def monitors(corpus: Path) -> Iterator[tuple[str, dict[str, list[dict[str, str]]]]]:
    """Name and content of each file of node-problem-detector."""
    for path in sorted((corpus / NPD).glob("*.json")):
        yield path.stem, json.loads(path.read_text())


def node_with(condition: str, status: str, reason: str) -> dict[str, object]:
    """A node with one condition."""
    said = {"type": condition, "status": status, "reason": reason, "message": "said so", "lastTransitionTime": AT}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": [said]}}


def event_of(reason: str, message: str = "said so") -> dict[str, object]:
    """An event about a node."""
    about = {"kind": "Node", "name": "n1"}
    head = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1", "uid": "u1"}, "involvedObject": about}
    return {**head, "reason": reason, "message": message, "lastTimestamp": AT}


def kept(folder: Path, *things: dict[str, object]) -> list[tuple[object, ...]]:
    """What is kept of objects: what each says, in their order."""
    path = folder / "objects.jsonl"
    path.write_text("".join(json.dumps(thing) + "\n" for thing in things))
    rows = rows_of(formats()["kubernetes_json"].parse(source(path)), "scheduler_events")
    return [tuple(row[name] for name in ("event", "node", "condition", "condition_status", "reason")) for row in rows]


def known(**wanted: str | None) -> list[dict[str, str | None]]:
    """The rows of what reasons stand for with these values."""
    rows = knowledge.tables()["agent_reasons"].iter_rows(named=True)
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def test_every_condition_of_the_problem_detector_is_kept_and_known_as_healthy(corpus: Path, tmp_path: Path) -> None:
    said = [(each["type"], "False", each["reason"]) for _, told in monitors(corpus) for each in told["conditions"]]
    assert {condition for condition, _, _ in said} == {
        "KernelDeadlock", "XfsShutdown", "CperHardwareErrorFatal", "ReadonlyFilesystem", "KubeletUnhealthy",
    }  # fmt: skip
    assert kept(tmp_path, *(node_with(*each) for each in said)) == [("object_condition", "n1", *each) for each in said]
    for condition, status, reason in said:
        found = known(condition=condition, condition_status=status, reason=reason)
        assert [row["stands_for"] for row in found] == ["healthy"], reason


def test_every_lasting_problem_is_kept_and_known_as_a_fault(corpus: Path, tmp_path: Path) -> None:
    rules = [rule for _, told in monitors(corpus) for rule in told["rules"] if rule["type"] == "permanent"]
    said = [(rule["condition"], "True", rule["reason"]) for rule in rules]
    assert len(said) == 6
    assert kept(tmp_path, *(node_with(*each) for each in said)) == [("object_condition", "n1", *each) for each in said]
    for condition, status, reason in said:
        found = known(condition=condition, condition_status=status, reason=reason)
        assert [row["stands_for"] for row in found] == ["fault"], reason


def test_every_passing_problem_is_kept_as_an_event_and_known(corpus: Path, tmp_path: Path) -> None:
    said = [rule["reason"] for _, told in monitors(corpus) for rule in told["rules"] if rule["type"] == "temporary"]
    assert len(said) == 19
    assert kept(tmp_path, *(event_of(each) for each in said)) == [("object_event", "n1", None, None, each) for each in said]
    assert [each for each in said if len(known(agent="node-problem-detector", condition=None, reason=each)) != 1] == []


def test_the_kernel_lines_that_the_detector_looks_for_are_read(corpus: Path) -> None:
    rules = [rule for name, told in monitors(corpus) for rule in told["rules"] if name.startswith(("kernel", "readonly"))]
    for rule in rules:
        lines = [told for reason, told in LINES.items() if reason.partition(" ")[0] == rule["reason"]]
        assert any(re.search(rule["pattern"], told[0]) for told in lines), rule["pattern"]
    for line, family, kind in LINES.values():
        found = interpret("kernel", line, {})
        read = found[1] if found and isinstance(found[1], dict) else {}
        assert (read.get("family"), read.get("kind")) == (family, kind), line


def test_every_reason_of_the_monitoring_agent_is_kept_and_known_with_its_severity(corpus: Path, tmp_path: Path) -> None:
    told = yaml.safe_load((corpus / EKS).read_text())
    said = [(condition, each) for condition, reasons in told.items() for each in reasons.values()]
    assert len(said) == 75
    for condition, each in said:
        severity, shape = each["DefaultSeverity"], each["Template"].replace("%d", "<n>").replace("%s", "<name>")
        found = known(agent="eks-node-monitoring-agent", condition=condition, reason=shape, default_severity=severity)
        assert len(found) == 1, (condition, shape, severity)
        reason = each["Template"].replace("%d", "79").replace("%s", "Containerd")
        fatal, warning = (condition, "False", reason), ("object_event", "n1", None, None, reason)
        assert kept(tmp_path, node_with(*fatal), event_of(reason)) == [("object_condition", "n1", *fatal), warning]


@pytest.mark.parametrize("severity", ["Error", "Warning"])
def test_an_xid_is_a_fault_of_a_gpu_too(tmp_path: Path, severity: str) -> None:
    reason, path = f"NvidiaXID79{severity}", tmp_path / "objects.jsonl"
    things = (node_with("AcceleratedHardwareReady", "False", reason), event_of(reason), node_with("KernelReady", "False", reason))
    path.write_text("".join(json.dumps(thing) + "\n" for thing in things))
    rows = rows_of(formats()["kubernetes_json"].parse(source(path)), "gpu_faults")
    assert [(row["line"], row["node"], row["xid"]) for row in rows] == [(1, "n1", 79), (2, "n1", 79)]
