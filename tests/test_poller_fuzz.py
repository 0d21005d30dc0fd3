"""Damaged exports of pollers and agents: no exception but Quarantine, sums hold, every row fits its table."""

import random
from pathlib import Path

import pytest

from bathtub.ingest import Batch, Format, Quarantine, formats
from bathtub.schema import table
from tests.cases import case_source, folders, source

NAMES = (
    "dcgm_exporter",
    "dcgmi_diag",
    "fleet_intelligence_csv",
    "fleet_intelligence_json",
    "gcm_health",
    "gpud_events",
    "gpud_sqlite",
    "hyperpod_events",
    "ib_sysfs",
    "kubernetes_json",
    "kubernetes_yaml",
    "nvidia_smi_csv",
    "nvidia_smi_q",
    "nvidia_smi_xml",
    "nvsentinel",
    "redfish_log",
)
PER_FORMAT = 190  # 3,040 inputs over the formats
PIECES = (
    b"9223372036854775792",
    b"-1",
    b"1e999",
    b"99999999999999999999999",
    b"null",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"<gpu id=",
    b"</gpu>",
    b"\xff\xfe",
    b"\x00",
    b"\r\n",
    b'"',
    b", ",
    b"{",
    b"}",
    b"]",
    b"&a;",
    b"Unknown Error",
    b"XID 79",
    b"0x" + b"f" * 30,
    b"\xef\xbb\xbf",
    b"DCGM_FI_DEV_XID_ERRORS",
    b"2026/02/30 25:61:00.000",
    b"0000-00-00T00:00:00Z",
    b"nan",
    b"true",
    b"[]",
    b"{}",
    b"\n---\n",
    b"\n- ",
    b": &a !!x ",
    b"*a",
    b'"kind": "Event", ',
    b'"\\ud800"',
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with a few cuts, copies, flipped bytes and hostile pieces."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.choice((0, 1, 2, 8, 64)))
        piece = chance.choice((b"", chance.choice(PIECES), content[end : end + 40], bytes([chance.randrange(256)])))
        content = content[:start] + piece + content[end:]
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.1 else content


def hold(known: Format, batches: list[Batch]) -> None:
    """What is promised of every batch."""
    for batch in batches:
        assert batch.read == batch.kept + batch.rejected + batch.out_of_scope
        assert min(batch.kept, batch.rejected, batch.out_of_scope) >= 0
        assert batch.rejects.height == batch.rejected
        assert set(batch.frames) <= {each.name for each in known.tables}
        for name, frame in batch.frames.items():
            declared = table(name)
            assert dict(frame.schema) == declared.polars
            needed = [column.name for column in declared.columns if not column.null]
            assert frame.select(needed).null_count().sum_horizontal().sum() == 0
            assert not frame.select(declared.key).is_duplicated().any()
            for column, values in declared.domain:
                assert set(frame[column].drop_nulls()) <= set(values)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_exports_are_read_or_refused(name: str, tmp_path: Path) -> None:
    chance, known = random.Random(f"pollers {name}"), formats()[name]
    cases = [case_source(case) for case in folders("ingest") if case.parent.name == name]
    outcomes = {"read": 0, "refused": 0}
    for number in range(PER_FORMAT):
        base = cases[number % len(cases)]
        path = tmp_path / f"input-{number}"
        path.write_bytes(mutated(base.path.read_bytes(), chance))
        try:
            damaged = source(path, columns=base.settings.columns, zone="Europe/Berlin", node=base.settings.node)
            hold(known, list(known.parse(damaged)))
            outcomes["read"] += 1
        except Quarantine:
            outcomes["refused"] += 1
    assert outcomes["read"] > 0
