"""The scan of text logs loses no line, for any bytes and any cut of them into chunks."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bathtub.ingest import formats
from bathtub.ingest._envelopes.scan import LINE_LIMIT, SAMPLE_EVERY, scan
from tests.cases import rows_of, source

LITERALS = (b"NVRM:", b"mlx5")
PIECES = st.sampled_from(
    [b"\n", b"NVRM:", b"NV", b"RM:", b"mlx5", b"x", b"\r\n", b"\xff", b"\x00", b" kernel: ", b"NVRM: Xid (PCI:0000:3b:00): 62"]
)


def cut(content: bytes, sizes: list[int]) -> list[bytes]:
    chunks, start = [], 0
    for size in sizes:
        chunks.append(content[start : start + size])
        start += size
    return [chunk for chunk in (*chunks, content[start:]) if chunk]


@given(st.lists(PIECES, max_size=60).map(b"".join), st.lists(st.integers(1, 9), max_size=40))
def test_it_finds_the_lines_that_a_loop_finds(content: bytes, sizes: list[int]) -> None:
    expected = {
        number: line for number, line in enumerate(content.split(b"\n"), start=1) if any(literal in line for literal in LITERALS)
    }
    stretches = list(scan(cut(content, sizes), LITERALS))
    hits = [line for lines, _ in stretches for line in lines if line.is_hit]
    assert {line.number: line.raw for line in hits} == expected
    assert len(hits) == len(expected)
    whole = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
    assert (stretches[-1][1] if stretches else 0) == whole


@given(st.integers(0, 3), st.integers(0, 3))
def test_a_line_of_any_length_costs_bounded_memory(before: int, behind: int) -> None:
    endless = [b"NVRM:" + b"y" * (LINE_LIMIT - 1)] * 3 + [b"tail\n"]
    chunks = [b"a\n" * before, *endless, b"NVRM: next\n" * behind]
    hits = [line for lines, _ in scan([chunk for chunk in chunks if chunk], LITERALS) for line in lines if line.is_hit]
    assert [line.number for line in hits] == list(range(before + 1, before + 2 + behind))
    assert hits[0].is_cut
    assert all(len(line.raw) <= LINE_LIMIT for line in hits)


def test_headers_are_sampled_through_the_file() -> None:
    step = SAMPLE_EVERY
    content = b"line of text\n" * (4 * step)
    numbers = [
        line.number
        for lines, _ in scan([content[i : i + step] for i in range(0, len(content), step)], LITERALS)
        for line in lines
    ]
    assert numbers[0] == 1
    assert numbers[-1] == 4 * step
    assert len(numbers) >= len(content) // step


@given(st.lists(PIECES, max_size=40).map(b"".join))
def test_every_text_log_accounts_for_any_bytes(content: bytes) -> None:
    path = Path(__file__).parent / ".pytest_any_bytes"
    path.write_bytes(content)
    try:
        for name in ("syslog_rfc3164", "syslog_iso", "dmesg_iso"):
            batches = list(formats()[name].parse(source(path, zone="UTC")))
            lines = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
            assert sum(batch.read for batch in batches) == lines
            assert len(list(rows_of(batches, "gpu_faults"))) == sum(batch.kept for batch in batches)
    finally:
        path.unlink()
