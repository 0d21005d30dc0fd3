"""The frames of one dump out of its packed columns: what its entries have in common is built once a form."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import asdict

from bathtub.ingest._recorder_rows import Dump
from bathtub.schema import Table, table

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_QUALITIES = pl.Series(["exact", "future", "unknown"], dtype=pl.String())


def entry_frame(dump: Dump, common: Mapping[str, object], latest: datetime) -> pl.DataFrame:
    """The rows of `collectives`. `common`: columns that are the same in all; times after `latest` are in the future."""
    declared = table("collectives").polars
    forms = asdict(dump.forms)
    forms |= {name: [value] * len(dump.forms.pg_id) for name, value in common.items()}
    of_forms = pl.DataFrame(forms, schema={name: declared[name] for name in forms})
    columns = of_forms[np.frombuffer(dump.form, np.int32)].to_dict()
    columns |= {name: _series(_unpacked(values, dump.n_entries)) for name, values in dump.integers.items()}
    created = _unpacked(dump.integers["created_ns"], dump.n_entries) // 1000
    is_future = created > (latest - _EPOCH) // timedelta(microseconds=1)
    columns["seen_at"] = _series(created).cast(declared["seen_at"])
    columns["time_quality"] = _QUALITIES[np.where(created < 0, 2, is_future)]
    columns["line"] = pl.Series(np.arange(1, dump.n_entries + 1))
    columns["duration_ms"] = pl.Series(dump.duration_ms or [None] * dump.n_entries, dtype=pl.Float64())
    return pl.DataFrame({name: columns[name] for name in declared})


def quality(seen_at: datetime | None, latest: datetime) -> str:
    """How far a recorder's time can be trusted; those after `latest` are in the future."""
    if seen_at is None:
        return "unknown"
    return "future" if seen_at > latest else "exact"


def row_frame(declared: Table, rows: Sequence[Mapping[str, object]], common: Mapping[str, object]) -> pl.DataFrame:
    """The rows of `dumps` or `process_groups`, numbered; `common`: columns that are the same in all."""
    told = [{**common, **row, "line": line} for line, row in enumerate(rows, 1)]
    return pl.DataFrame({name: [row.get(name) for row in told] for name in declared.names[:-1]}, schema=declared.polars)


def _unpacked(values: bytes, n_values: int) -> npt.NDArray[np.int64]:
    return np.frombuffer(values, np.int64) if values else np.full(n_values, -1)


def _series(values: npt.NDArray[np.int64]) -> pl.Series:
    """The values, of which those below 0 stand for null."""
    found = pl.Series(values)
    return found if not len(values) or values.min() >= 0 else found.set(found < 0, None)
