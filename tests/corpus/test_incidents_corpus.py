"""Incidents of public logs: how many, which component, which action, a failure or not."""

import json
from pathlib import Path

import pytest

from bathtub.adhoc import judge_files
from bathtub.config import Flags, load

HEADERS = {"driver": "[  {number}.000001] ", "syslog-tag-only": "Jan  4 22:15:17 n1 "}
"""What stands in front of lines that the publisher shows without it."""

IDS = (
    "offbus-nvswitch", "offbus-at-probe", "gsp-storm", "nvl5-link-peer", "nvl5-packetloss",
    "derivative-45", "app-13-43", "remap-exhausted", "nvme-io",
)  # fmt: skip


def published(corpus: Path) -> dict[str, dict[str, object]]:
    found = json.loads((corpus / "nvml" / "incidents" / "incidents.json").read_text())
    return {each["id"]: each for each in (found if isinstance(found, list) else found["incidents"])}


def log_of(case: dict[str, object], corpus: Path, folder: Path) -> Path:
    if "file" in case:
        return corpus / "nvml" / str(case["file"])
    header = HEADERS.get(str(case["format"]), "")
    lines = [header.format(number=100 + number) + line for number, line in enumerate(case["lines"])]  # type: ignore[arg-type]
    path = folder / "kernel.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_published_incident_is_a_case(corpus: Path) -> None:
    assert set(published(corpus)) == set(IDS)


@pytest.mark.parametrize("incident", IDS)
def test_an_incident_is_judged_as_published(corpus: Path, tmp_path: Path, incident: str) -> None:
    case = published(corpus)[incident]
    expect = case["expect"]
    lines = judge_files([log_of(case, corpus, tmp_path)], load(None, Flags(tz="UTC", node="n1")))
    found = [line.row for line in lines if line.table == "incidents"]
    if "n_incidents_with_xid" in expect:
        found = [each for each in found if any(step.startswith("xid") for step in each["symptom_chain"])]
    assert len(found) == expect.get("n_incidents", expect.get("n_incidents_with_xid"))
    judged = found[0]
    assert judged["component"] in [expect["component"], *expect.get("component_also_accepted", [])]
    assert judged["action"] in [expect["action"], *expect.get("action_also_accepted", [])]
    assert judged["is_failure"] == expect["counts_as_failure"]
    if "confidence" in expect:
        assert judged["confidence"] == expect["confidence"]
