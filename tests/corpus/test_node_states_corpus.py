"""Real snapshots and daemon lines give the values that were counted by hand (SOURCES.md of the corpus)."""

import csv
import random
from collections import Counter
from pathlib import Path

import pytest

from bathtub.ingest import Batch, Quarantine, Source, claimants, formats
from bathtub.ingest._hostlist import expand_nodes
from bathtub.ingest._messages import interpret
from bathtub.ingest._node_values import node_state
from bathtub.ingest._scontrol_text import node_parts, pairs
from bathtub.ingest.slurm_daemon_log import _HEADER as DAEMON
from bathtub.ingest.syslog_rfc3164 import _HEADER as SYSLOG
from bathtub.source import head
from tests.cases import rows_of, source

GCM, RACKS = "scheduler/facebookresearch-gcm", "scheduler/rackslab-Slurm-web"
GCM_SQUEUE = """
TRES_PER_NODE MIN_CPUS JOBID JOBID NAME TIME_LIMIT MIN_MEMORY COMMAND PRIORITY STATE USER CPUS NODES TIME_LEFT TIME NODELIST
DEPENDENCY EXC_NODES START_TIME SUBMIT_TIME ELIGIBLE_TIME ACCRUE_TIME PENDING_TIME COMMENT PARTITION ACCOUNT QOS REASON
TRES_ALLOC RESERVATION REQUEUE FEATURES RESTART_CNT SCHEDNODES END
"""
OSC_SINFO = ("NODELIST", "GRES", "GRES_USED", "STATE")
READ = {
    f"{GCM}/sample-sinfo-output.txt": ("slurm_sinfo", {"zone": "UTC"}),
    f"{GCM}/sample-squeue-output.txt": (
        "slurm_squeue",
        {"zone": "UTC", "format": "slurm_squeue", "columns": tuple(GCM_SQUEUE.split()), "delimiter": "|#"},
    ),
    f"{GCM}/sample-scontrol-output.txt": ("slurm_scontrol", {}),
    f"{GCM}/scontrol_out_all_gpus.txt": ("slurm_scontrol", {"zone": "UTC"}),
    f"{GCM}/scontrol_out_multi_node.txt": ("slurm_scontrol", {"zone": "UTC"}),
    f"{GCM}/scontrol_out_repeated_entry.txt": ("slurm_scontrol", {"zone": "UTC"}),
    "scheduler/hb-jobinfo/scontrol.rows-1-91.txt": ("slurm_scontrol", {}),
    "scheduler/hb-jobinfo/squeue.rows-1-5.txt": (
        "slurm_squeue",
        {"format": "slurm_squeue", "columns": ("JOBID", "DEPENDENCY"), "delimiter": "|"},
    ),
    "scheduler/OSC-ood_core/slurm/sinfo_gres_long_hostnames.txt": (
        "slurm_sinfo",
        {"format": "slurm_sinfo", "columns": OSC_SINFO},
    ),
    "scheduler/OSC-ood_core/slurm/non_utf8_job_name.txt": ("slurm_squeue", {"zone": "America/New_York"}),
    f"{RACKS}/24.05_v0.0.41/slurm-node-drain.json": ("slurm_nodes_json", {}),
}
NODES = """
24.05_v0.0.41 down cn026 DOWN
24.05_v0.0.41 drain cn146 IDLE+DRAIN
24.05_v0.0.41 draining cn1 MIXED+DRAIN
24.05_v0.0.41 mixed cn001 MIXED
24.11_v0.0.41 down cn2 DOWN
24.11_v0.0.41 drain cn1 DRAIN
24.11_v0.0.41 mixed cn1 MIXED+PLANNED
24.11_v0.0.41 planned cn4 IDLE+PLANNED
24.11_v0.0.42 down cn1 DOWN
24.11_v0.0.42 drain cn4 DRAIN
24.11_v0.0.42 mixed cn2 MIXED
24.11_v0.0.42 planned ia1 PLANNED 6
25.05_v0.0.42 down cn1 DOWN
25.05_v0.0.42 drain cn3 DRAIN
25.05_v0.0.42 mixed cn2 MIXED
25.05_v0.0.42 planned gpu1 PLANNED 4
25.05_v0.0.43 down cn1 DOWN
25.05_v0.0.43 drain cn2 DRAIN
25.05_v0.0.43 mixed cn3 MIXED
25.05_v0.0.43 planned gpu1 IDLE+COMPLETING+PLANNED
"""
EVENTS = {
    "allocate": ("job_started", "c014"),
    "end-by-signal": ("job_ended", None),
    "step-cancelled": ("step_cancelled", "cn106"),
    "stepd-terminated": ("step_stuck", "cn106"),
    "gres-changed": ("gpu_count_changed", "g001"),
    "gpu-count-low": ("node_invalid", "g001"),
    "drained-by-slurm": ("node_drained", "g001"),
    "registration-refused": ("node_registration_refused", "g001"),
    "reason-set": ("node_reason_set", "od-a-dy-16-gb-8"),
    "gres-device-missing": ("gpu_device_missing", None),
    "slurmd-fatal": ("gpu_device_missing", None),
    "epilog-plugin": ("epilog_failed", None),
    "killed-on-node": ("job_killed_by_node", "n03"),
    "set-down": ("node_set_down", "n03"),
    "requeue-array-task": ("job_requeued_by_node", "n03"),
}
"""Lines in none of these are no events: submissions, `done`, the progress of steps."""

Rows = list[dict[str, object]]


def read(corpus: Path, name: str) -> tuple[Rows, Rows, Rows, Counter[str]]:
    """Node states, jobs, rejects and the sums of one file."""
    known, settings = READ.get(name, ("slurm_nodes_json", {}))
    batches: list[Batch] = list(formats()[known].parse(source(corpus / name, **settings)))
    sums = Counter[str]()
    for batch in batches:
        sums.update(read=batch.read, kept=batch.kept, rejected=batch.rejected, out_of_scope=batch.out_of_scope)
    nodes, jobs, rejects = (list(rows_of(batches, table)) for table in ("node_states", "jobs", "rejects"))
    assert sums["read"] == sums["kept"] + sums["rejected"] + sums["out_of_scope"]
    return nodes, jobs, rejects, sums


@pytest.mark.parametrize("name", sorted(READ))
def test_a_file_is_claimed_by_its_format_where_its_head_tells(corpus: Path, name: str) -> None:
    known, settings = READ[name]
    claimed = [each.name for each in claimants(head(corpus / name), name)]
    assert claimed == ([] if "format" in settings else [known])


def test_sinfo(corpus: Path) -> None:
    nodes, _, rejects, _ = read(corpus, f"{GCM}/sample-sinfo-output.txt")
    assert rejects == []
    assert [row["node"] for row in nodes] == ["node0201", "node0201", "node1537", "node4180"]
    assert [row["state_raw"] for row in nodes] == ["drain*", "drain*", "alloc", "alloc"]
    assert [row["n_gpus"] for row in nodes] == [8, 8, 8, 2]
    assert [row["state_flags"] for row in nodes] == [["NOT_RESPONDING"], ["NOT_RESPONDING"], [], []]
    assert {(row["reason"], row["reason_by"]) for row in nodes} == {("replace", "root"), (None, None)}


def test_sinfo_without_a_header(corpus: Path) -> None:
    nodes, _, rejects, _ = read(corpus, "scheduler/OSC-ood_core/slurm/sinfo_gres_long_hostnames.txt")
    assert rejects == []
    assert [(row["n_gpus"], row["n_gpus_used"], row["state"]) for row in nodes] == [
        (8, 8, "MIXED"),
        (8, 4, "MIXED"),
        (8, 0, "DRAINED"),
    ]


def test_squeue_of_a_large_cluster(corpus: Path) -> None:
    _, jobs, rejects, _ = read(corpus, f"{GCM}/sample-squeue-output.txt")
    assert rejects == []
    assert Counter(row["state"] for row in jobs) == {"RUNNING": 3, "PENDING": 2}
    assert [row["n_gpus"] for row in jobs] == [2, 1, 256, None, None]
    assert [row["n_gpus_requested"] for row in jobs] == [None, None, None, None, 160]
    assert (jobs[4]["job_id"], jobs[4]["job_id_raw"]) == ("42271120_[7-8%1]", "42271120")
    assert jobs[3]["req_mem_bytes"] == 10.5 * (1 << 30)
    assert "mem=1280.50G" in str(jobs[4]["req_tres"])
    assert {row["ended_at"] for row in jobs} == {None}


def test_squeue_of_waiting_jobs(corpus: Path) -> None:
    _, jobs, rejects, _ = read(corpus, "scheduler/hb-jobinfo/squeue.rows-1-5.txt")
    assert rejects == []
    assert [row["job_id"] for row in jobs] == ["7219441", "7635166", "8094007", "7859587", "8323312"]


def test_squeue_with_a_name_that_was_no_text(corpus: Path) -> None:
    _, jobs, _, _ = read(corpus, "scheduler/OSC-ood_core/slurm/non_utf8_job_name.txt")
    assert [(row["state"], row["nodes"], row["job_id"], row["job_id_raw"]) for row in jobs] == [
        ("COMPLETED", ["p0220"], "29471683_9", "123")
    ]
    assert "\ufffd" in str(jobs[0]["job_name"])


def test_partitions_are_counted_and_their_nodes_can_be_expanded(corpus: Path) -> None:
    name = f"{GCM}/sample-scontrol-output.txt"
    nodes, jobs, rejects, sums = read(corpus, name)
    assert (nodes, jobs, rejects) == ([], [], [])
    assert (sums["read"], sums["out_of_scope"]) == (3, 3)
    found = [pairs(line) for line in (corpus / name).read_text().splitlines() if line]
    assert [len(expand_nodes(each["Nodes"]) or ()) for each in found] == [int(each["TotalNodes"]) for each in found]
    assert int(found[1]["TotalNodes"]) == 1469


def test_scontrol_jobs(corpus: Path) -> None:
    _, (one,), _, _ = read(corpus, f"{GCM}/scontrol_out_all_gpus.txt")
    assert (one["gpu_indices"], one["n_gpus"], one["ended_at"]) == (["node1751:0-7"], 8, None)
    assert (one["job_id"], one["job_id_raw"]) == ("30185_28", "30214")
    _, (wide,), _, _ = read(corpus, f"{GCM}/scontrol_out_multi_node.txt")
    numbers = (1433, 1787, 1795, 1854, 1889, 1890, 1968, 1969)
    assert (wide["nodes"], wide["n_gpus"]) == ([f"node{number}" for number in numbers], 64)
    _, twice, _, _ = read(corpus, f"{GCM}/scontrol_out_repeated_entry.txt")
    assert len({(row["job_id_raw"], row["submitted_at"]) for row in twice}) == 1
    assert {(row["n_gpus"], row["gpu_indices"] is None) for row in twice} == {(8, True)}


def test_scontrol_nodes_that_tell_their_resources_only(corpus: Path) -> None:
    nodes, _, rejects, _ = read(corpus, "scheduler/hb-jobinfo/scontrol.rows-1-91.txt")
    assert (len(nodes), rejects) == (91, [])
    fast = [row["n_gpus"] for row in nodes if str(row["node"]).startswith("a100gpu")]
    assert (fast, sum(fast)) == ([4] * 6, 24)  # type: ignore[arg-type]
    assert {row["n_gpus"] for row in nodes if str(row["node"]).startswith("euclid")} == {None}
    assert {row["state"] for row in nodes} == {None}


@pytest.mark.parametrize("line", NODES.strip().splitlines())
def test_nodes_of_every_release(corpus: Path, line: str) -> None:
    folder, kind, node, words, *n_gpus = line.split()
    name = f"{RACKS}/{folder}/slurm-node-{kind}.json"
    (row,), _, rejects, _ = read(corpus, name)
    assert rejects == []
    assert [each.name for each in claimants(head(corpus / name), name)] == ["slurm_nodes_json"]
    assert row["node"] == node
    assert set(words.split("+")) <= {row["state"], *row["state_flags"]}  # type: ignore[misc]
    assert n_gpus in ([], [str(row["n_gpus"])])
    reasons = {"24.05_v0.0.41/down": "CPU dead", "24.05_v0.0.41/drain": "ECC memory error"}
    reasons["24.05_v0.0.41/draining"] = "ECC memory error"
    wanted = reasons.get(f"{folder}/{kind}")
    assert wanted is None or row["reason"] == wanted


def lines(corpus: Path) -> dict[str, str]:
    """The lines of the shapes by their names."""
    with (corpus / "scheduler/issue-shapes/daemon_lines.tsv").open(encoding="utf-8") as file:
        return {row["shape"]: row["line"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def test_lines_of_the_daemons(corpus: Path) -> None:
    found: dict[str, tuple[object, object]] = {}
    for shape, line in lines(corpus).items():
        header = DAEMON.match(line) or SYSLOG.match(line)
        if header is None:
            continue
        said = interpret(header.groupdict().get("emitter") or "slurm", header["message"], {})
        if said is not None:
            row = said[1][0] if isinstance(said[1], list) else said[1]
            found[shape] = (row["event"], row.get("node"))  # type: ignore[index,union-attr]
    assert found == EVENTS


def test_pieces_of_sinfo_and_scontrol(corpus: Path, tmp_path: Path) -> None:
    shapes = lines(corpus)
    path = tmp_path / "sinfo.txt"
    path.write_text(f"REASON USER TIMESTAMP NODELIST\n{shapes['sinfo-reason']}\n")
    (batch,) = formats()["slurm_sinfo"].parse(source(path, zone="UTC"))
    (row,) = rows_of([batch], "node_states")
    assert (row["node"], row["reason"], row["reason_by"]) == ("w2", "Kill task failed", "root")
    _, reason = node_parts(f"NodeName=n1 {shapes['reason-gpu-zero']}")
    assert (reason["reason"], reason["by"]) == ("gres/gpu count reported lower than configured (0 < 1)", "slurm")
    found, reason = node_parts(f"NodeName=n1 {shapes['state-flags']}")
    state = node_state(found["State"])
    assert (state.state, state.state_flags, reason["reason"]) == ("DOWN", ("DYNAMIC_NORM", "NOT_RESPONDING"), "Not responding")


def _outcome(known: str, damaged: Source) -> str | Counter[str]:
    """The reason of a quarantine, or the sums; a batch whose sums do not add up is refused by itself."""
    sums = Counter[str]()
    try:
        for batch in formats()[known].parse(damaged):
            sums.update(rejected=batch.rejected, rejects=len(batch.rejects))
    except Quarantine as refused:
        return refused.reason
    return sums


@pytest.mark.parametrize("name", sorted(READ))
def test_damaged_copies_keep_the_sums_or_are_quarantined(corpus: Path, tmp_path: Path, name: str) -> None:
    known, settings = READ[name]
    content, chance = (corpus / name).read_bytes(), random.Random(7)
    for number in range(12):
        damaged = bytearray(content)
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(damaged))
            damaged[at : at + chance.randrange(3)] = chance.choice((b"", b"\n", b"\xff", b"|", b"=", b"[", b"\x00", b"9" * 9))
        damaged = damaged[: chance.randrange(len(damaged) // 2, len(damaged) + 1)]
        path = tmp_path / str(number)
        path.write_bytes(damaged)
        outcome = _outcome(known, source(path, **settings))
        assert isinstance(outcome, str) or outcome["rejects"] == outcome["rejected"]
