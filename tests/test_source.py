"""Sources: identity of content, compression told from bytes, and every damage an outcome with a reason."""

import gzip
import lzma
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from bathtub.source import MAX_EXPANDED, Quarantine, digest, expand, identify, logical_name, named_date

PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.ZstdCompressor().compress, "plain": bytes}
CONTENT = bytes(range(256)) * 3000 + b"a" * 500_000


def whole(path: Path, limit: int = MAX_EXPANDED) -> bytes:
    return b"".join(expand(path, limit, 1 << 16))


@pytest.mark.parametrize("kind", PACKERS)
def test_content_is_the_same_however_packed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "misleading.log"
    path.write_bytes(PACKERS[kind](CONTENT))
    assert whole(path) == CONTENT
    assert digest(path, MAX_EXPANDED)[:2] == (blake3(CONTENT).hexdigest(), len(CONTENT))


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_concatenated_members_are_read_through(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(PACKERS[kind](CONTENT) + PACKERS[kind](b"second"))
    assert whole(path) == CONTENT + b"second"


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_archive_is_never_a_short_file(tmp_path: Path, kind: str, share: float) -> None:
    packed = PACKERS[kind](CONTENT * 2)
    path = tmp_path / "x"
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(Quarantine) as outcome:
        whole(path)
    assert outcome.value.reason in ("truncated_archive", "damaged_archive")


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_a_bomb_is_stopped_at_the_limit(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(PACKERS[kind](bytes(32 << 20)))
    sizes = []
    with pytest.raises(Quarantine, match="expanded_too_large"):
        sizes.extend(len(piece) for piece in expand(path, 4 << 20, 1 << 16))
    assert sum(sizes) <= 4 << 20
    assert max(sizes) <= 1 << 17


@given(st.binary(max_size=400), st.lists(st.integers(0, 500), max_size=6))
def test_prefixes_are_hashed_on_the_way(content: bytes, lengths: list[int]) -> None:
    path = Path(__file__).parent / ".pytest_prefixes"
    path.write_bytes(b"p" + content)
    try:
        _, n_bytes, prefixes = digest(path, MAX_EXPANDED, lengths)
    finally:
        path.unlink()
    assert prefixes == {n: blake3((b"p" + content)[:n]).hexdigest() for n in set(lengths) if 0 < n <= n_bytes}


@pytest.mark.parametrize(
    "name, logical",
    [
        ("n1/messages", "n1/messages"),
        ("n1/messages.2.gz", "n1/messages"),
        ("n1/messages-20260105.xz", "n1/messages"),
        ("kern.log.1", "kern.log"),
        ("dumps/nccl_trace_rank_12", "dumps/nccl_trace_rank_12"),
        ("a/.1", "a/.1"),
    ],
)
def test_the_logical_name_has_no_rotation_suffix(name: str, logical: str) -> None:
    assert logical_name(name) == logical


def test_a_date_in_a_name_is_the_end_of_that_day() -> None:
    assert named_date("messages-20260105.gz") == datetime(2026, 1, 5, 23, 59, 59, tzinfo=UTC)
    assert named_date("2026-02-31/sacct-2026-02-30.txt") is None
    assert named_date("job-1234567890123") is None


def test_identity_depends_on_cluster_content_and_where_it_matters_name() -> None:
    ids = {identify("a", "c"), identify("b", "c"), identify("a", "d"), identify("a", "c", "n"), identify("a", "c", "m")}
    assert len(ids) == 5
