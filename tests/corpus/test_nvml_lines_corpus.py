"""Real kernel lines and logs give the labelled values: each line as a grammar reads it, each file as its format does."""

import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from bathtub import knowledge
from bathtub.config import Config
from bathtub.ingest import claimants, formats
from bathtub.ingest._messages import Reject, interpret
from bathtub.ingest._messages._addresses import device_key
from bathtub.nightly import parameters
from bathtub.source import head
from bathtub.warehouse import build, connect
from tests.cases import rows_of, source

# what stands in front of a message in the labelled lines: times since boot, of dmesg -T, of /dev/kmsg, or cut out
WRAPPERS = re.compile(r"\[[^\]]*\] |\d+,\d+,\d+,c;")
KINDS = {"unit", "line_severity", "link", "subcode", "pid", "process"}


def labelled(corpus: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (corpus / "nvml" / "labelled" / name).read_text(encoding="utf-8").splitlines()]


def message(line: str) -> str:
    found = WRAPPERS.match(line)
    return line[found.end() :] if found else line


def said(text: str) -> dict[str, object] | str | None:
    """The columns of the fault row of a message, a reject's reason, or None."""
    told = interpret("kernel", text, {})
    if told is None or told[0].table.name != "gpu_faults":
        return None
    return told[1].reason if isinstance(told[1], Reject) else dict(told[1])  # type: ignore[arg-type]


def test_every_labelled_xid_line(corpus: Path) -> None:
    for label in labelled(corpus, "xid_lines.jsonl"):
        found = said(message(str(label["line"])))
        if label["xid"] is None:
            assert found is None or (isinstance(found, str) and label.get("reject_allowed")), label["id"]
            continue
        assert isinstance(found, dict), label["id"]
        assert (found["xid"], found["pci_bdf"]) == (label["xid"], label["pci"]), label["id"]
        assert {key: found.get(key) for key in KINDS & set(label)} == {key: label[key] for key in KINDS & set(label)}, label["id"]
        assert found["is_xid_inferred"] == label.get("xid_inferred", False)
        assert found.get("recovery_action") == label.get("recovery_to"), label["id"]
        assert found.get("gpu_instance") == label.get("gpu_instance")
        words = label.get("registers") or [label[key] for key in ("intr_info", "error_status") if key in label]
        registers = list(found.get("registers") or [])  # type: ignore[call-overload]
        assert registers[: len(words)] == [int(str(word), 16) for word in words], label["id"]  # type: ignore[arg-type]


def test_every_labelled_nvlink_line_is_decoded_under_the_layout_that_fits(corpus: Path) -> None:
    labels = [label for label in labelled(corpus, "xid_lines.jsonl") if "layout" in label]
    bursts = []
    for label in labels:
        found = said(message(str(label["line"])))
        assert isinstance(found, dict)
        columns = ("xid", "unit", "subcode", "registers", "line_severity")
        bursts.append({"burst_id": label["id"], **{column: found.get(column) for column in columns}})
    relations = {**knowledge.tables(), "parameters": parameters(Config()), "int_bursts": pl.DataFrame(bursts)}
    with connect() as con:
        build(con, relations, ["int_nvlink5_bursts"])
        decoded = {row["burst_id"]: row for row in con.table("int_nvlink5_bursts").pl().iter_rows(named=True)}
    assert len(decoded) == len(labels) > 0
    for label in labels:
        row = decoded[label["id"]]
        assert row["layout"] == label["layout"], label["id"]
        assert "decode_rule" not in label or row["decode_rule"] == label["decode_rule"], label["id"]
        assert (row["severity"] == "fatal_gpu") == (label["line_severity"] == "fatal"), label["id"]


def test_every_labelled_sxid_line(corpus: Path) -> None:
    for label in labelled(corpus, "sxid_lines.jsonl"):
        found = said(message(str(label["line"])))
        if label["sxid"] is None:
            assert found is None, label["id"]
            continue
        assert isinstance(found, dict), label["id"]
        assert (found["sxid"], found["pci_bdf"], found["line_kind"]) == (label["sxid"], label["pci"], label["line_kind"])
        severity, link = label["fatal"], label["link"]
        if label["line_kind"] == "severity":
            severity, link = label["severity_number"] == 1, label["engine_instance"]
        assert found["line_severity"] == {None: None, True: "fatal", False: "nonfatal"}[severity], label["id"]  # type: ignore[index]
        assert found["link"] == link, label["id"]


def test_every_spelling_of_an_address(corpus: Path) -> None:
    for label in labelled(corpus, "pci_ids.jsonl"):
        assert device_key(str(label["input"])) == label["pci"]


FILES = [
    ("gpud/dmesg-T-with-xid-119.log", "dmesg_local", 43),
    ("gpud/dmesg-decode-iso-xid13-oom.log", "dmesg_iso", 24),
    ("gpud/dmesg-decode-iso-vfs.log", "dmesg_iso", 2),
    ("gpud/kmsg.1.log", "kmsg", 47),
    ("gpud/pstore-panic-dmesg-erst.txt", "dmesg", None),
    ("gpud/fabricmanager.log", "fabric_manager", None),
]


def parsed(corpus: Path, name: str, table: str) -> list[dict[str, object]]:
    path = corpus / "nvml" / name
    (claimed,) = claimants(head(path), path.name)
    return list(rows_of(claimed.parse(source(path, zone="UTC", node="n1")), table))


@pytest.mark.parametrize("name,expected,n_lines", FILES, ids=[name for name, _, _ in FILES])
def test_each_file_is_claimed_by_one_format_and_read_whole(corpus: Path, name: str, expected: str, n_lines: int | None) -> None:
    path = corpus / "nvml" / name
    assert [known.name for known in claimants(head(path), path.name)] == [expected]
    batches = list(formats()[expected].parse(source(path, zone="UTC", node="n1")))
    assert n_lines is None or sum(batch.read for batch in batches) == n_lines
    assert sum(batch.rejected for batch in batches) == 0


def test_a_firmware_timeout_with_its_history(corpus: Path) -> None:
    faults = parsed(corpus, "gpud/dmesg-T-with-xid-119.log", "gpu_faults")
    assert [(row["xid"], row["pci_bdf"]) for row in faults] == [(119, "0000:9b:00")] * 5
    assert [str(row["seen_at"])[:19] for row in (faults[0], faults[-1])] == ["2025-02-23 16:24:18", "2025-02-23 16:30:13"]
    seen = parsed(corpus, "gpud/dmesg-T-with-xid-119.log", "inventory")
    assert {row["pci_bdf"] for row in seen} == {"0000:9b:00"}
    assert [bool(row["device_serial"]) for row in seen] == [False, True]


def test_exceptions_and_killed_programs(corpus: Path) -> None:
    name = "gpud/dmesg-decode-iso-xid13-oom.log"
    assert Counter(row["xid"] for row in parsed(corpus, name, "gpu_faults")) == {13: 16, 43: 1}
    killed = parsed(corpus, name, "host_faults")
    assert [row["family"] for row in killed] == ["memory"] * 7
    assert Counter(row["kind"] for row in killed) == {"oom_global": 3, "oom_cgroup": 2, "oom_kill": 1, "oom_reaped": 1}


def test_limits_a_crash_and_a_quiet_buffer(corpus: Path) -> None:
    assert [row["kind"] for row in parsed(corpus, "gpud/dmesg-decode-iso-vfs.log", "host_faults")] == ["file_max"] * 2
    assert {row["family"] for row in parsed(corpus, "gpud/pstore-panic-dmesg-erst.txt", "host_faults")} == {"crash"}
    assert parsed(corpus, "gpud/pstore-panic-dmesg-erst.txt", "gpu_faults") == []
    assert parsed(corpus, "gpud/kmsg.1.log", "gpu_faults") == parsed(corpus, "gpud/kmsg.1.log", "host_faults") == []


def test_the_one_error_that_the_fabric_manager_detected(corpus: Path) -> None:
    (row,) = parsed(corpus, "gpud/fabricmanager.log", "gpu_faults")
    assert (row["sxid"], row["line_severity"], row["pci_bdf"], row["link"]) == (12028, "nonfatal", "0000:86:00", 61)
    assert str(row["seen_at"])[:19] == "2025-02-27 15:10:02"


def test_one_failure_of_a_disk_and_lines_without_any_wrapper(corpus: Path) -> None:
    lines = (corpus / "nvml/gcm/dmesg_samples.txt").read_text(encoding="utf-8").splitlines()
    told = [interpret("kernel", message(line), {}) for line in lines]
    rows = [dict(each[1]) for each in told if each]  # type: ignore[arg-type]
    assert [row.get("xid") for row in rows[:3]] == [31, 48, 31]
    assert [row["kind"] for row in rows[3:]] == ["block_io_error"] * 3 + ["xfs_io_error"] * 2
    lines = (corpus / "nvml/npd/log_lines_from_tests.txt").read_text(encoding="utf-8").splitlines()
    told = [interpret("kernel", line, {}) for line in lines]
    assert [each and dict(each[1])["kind"] for each in told] == [  # type: ignore[arg-type]
        "blocked_task",
        "ext4_error",
        "ghes_fatal",
        "oom_kill",
    ]
