"""Column and Table: plain literals, and what each library makes of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Type = Literal["string", "int64", "float64", "bool", "timestamp", "date", "list<string>", "list<int64>"]
"""The types that polars, Arrow, Delta and DuckDB read alike. `timestamp` is UTC in microseconds."""

DUCKDB: dict[Type, str] = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "date": "DATE",
    "list<string>": "VARCHAR[]",
    "list<int64>": "BIGINT[]",
}


def polars_type(kind: Type) -> "pl.DataType":
    """The polars type of a declared type."""
    import polars as pl

    known: dict[Type, pl.DataType] = {
        "string": pl.String(),
        "int64": pl.Int64(),
        "float64": pl.Float64(),
        "bool": pl.Boolean(),
        "timestamp": pl.Datetime("us", "UTC"),
        "date": pl.Date(),
        "list<string>": pl.List(pl.String()),
        "list<int64>": pl.List(pl.Int64()),
    }
    return known[kind]


def arrow_type(kind: Type) -> "pa.DataType":
    """The Arrow type of a declared type."""
    import pyarrow as pa

    known: dict[Type, pa.DataType] = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "date": pa.date32(),
        "list<string>": pa.list_(pa.string()),
        "list<int64>": pa.list_(pa.int64()),
    }
    return known[kind]


@dataclass(frozen=True)
class Column:
    """One column: its name, type, meaning, whether it may be null, and its unit if it has one."""

    name: str
    dtype: Type
    doc: str
    null: bool = True
    unit: str | None = None


@dataclass(frozen=True)
class Table:
    """One table of the lake. `key` is what makes a row unique; `day_of` is the column that gives event_day.

    `domain` columns hold values of a closed set only, checked by the quality gate.
    """

    name: str
    doc: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    day_of: str | None = "seen_at"
    domain: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names in declared order, event_day last."""
        return (*(column.name for column in self.columns), "event_day")

    @cached_property
    def polars(self) -> "dict[str, pl.DataType]":
        """Column name to polars type, in declared order, without event_day."""
        return {column.name: polars_type(column.dtype) for column in self.columns}

    @cached_property
    def arrow(self) -> "pa.Schema":
        """The Arrow schema with descriptions and units as field metadata, event_day last."""
        import pyarrow as pa

        event_day = Column("event_day", "date", "UTC date of the row's own time; null where it has none")
        return pa.schema(
            [
                pa.field(
                    column.name,
                    arrow_type(column.dtype),
                    nullable=column.null,
                    metadata={"doc": column.doc} | ({"unit": column.unit} if column.unit else {}),
                )
                for column in (*self.columns, event_day)
            ]
        )

    @cached_property
    def parquet(self) -> "pa.Schema":
        """The Arrow schema of a file of the lake: without event_day, which its folder tells, in the types of polars."""
        import pyarrow as pa

        def wide(kind: "pa.DataType") -> "pa.DataType":
            if pa.types.is_list(kind):
                return pa.large_list(wide(kind.value_type))
            return pa.string_view() if pa.types.is_string(kind) else kind

        written = [each for each in self.arrow if each.name != "event_day"]
        return pa.schema([pa.field(each.name, wide(each.type), metadata=each.metadata) for each in written])

    @cached_property
    def duckdb(self) -> str:
        """The column list of an empty DuckDB table of this shape."""
        columns = ", ".join(f'"{column.name}" {DUCKDB[column.dtype]}' for column in self.columns)
        return f"{columns}, event_day DATE"


PROVENANCE: tuple[Column, ...] = (
    Column("source_id", "string", "identity of the source: BLAKE3 over cluster and content", null=False),
    Column("line", "int64", "line or record number in the decompressed source, from 1", null=False),
    Column("cluster", "string", "cluster of the source", null=False),
    Column("seen_at", "timestamp", "when it happened or was seen, UTC"),
    Column("time_source", "string", "which clock: syslog, journal_realtime, kmsg_wall, scheduler, recorder, file"),
    Column("time_quality", "string", "exact, derived, ambiguous, observation, future, unknown", null=False),
)
"""The columns that every kept row carries, and in this order in front of the table's own."""

TIME_QUALITY = ("exact", "derived", "ambiguous", "observation", "future", "unknown")
