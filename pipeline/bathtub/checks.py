"""The quality gate: what the schema promises about the lake's tables, judged over counts.

DuckDB counts (`facts`: a row per table and day), great-expectations judges the counts (`gate`): over a frame of facts
it takes a twentieth of a second, over the tables themselves minutes. It is imported on first use, which costs
seconds, connects to nowhere (its import binds a loopback socket: urllib3 asks for IPv6) and writes no file.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, cast

import duckdb
import polars as pl

from bathtub.ingest import formats
from bathtub.schema import Table, tables

COUNTS = ("n_rows", "n_duplicate_keys", "n_nulls", "n_out_of_domain", "n_unaccounted", "n_read", "n_rejected")
FACTS = pl.Schema(
    {
        "table_name": pl.String(),
        "event_day": pl.Date(),
        **dict.fromkeys(("null_columns", "foreign_columns"), pl.String()),
        **dict.fromkeys(COUNTS, pl.Int64()),
    }
)
PROMISES = {
    "n_duplicate_keys": ("keys_unique", "critical", "{n_duplicate_keys} keys that another row of the table has too"),
    "n_nulls": ("required_not_null", "critical", "{n_nulls} nulls in required columns ({null_columns})"),
    "n_out_of_domain": ("closed_sets", "critical", "{n_out_of_domain} values outside their closed set ({foreign_columns})"),
    "n_unaccounted": ("rows_accounted", "critical", "{n_unaccounted} rows without a live source, or sources that do not add up"),
    "reject_ratio": ("reject_share", "warning", "{n_rejected} of {n_read} records rejected"),
}
"""Column of the facts to its promise, how grave a breach is, and what the finding says. `tables_present` comes on top."""

MAX_REJECT_RATIO = 0.05
"""The share of rejected records above which the gate warns, where the configuration says nothing."""


@dataclass(frozen=True, order=True)
class Finding:
    """One broken promise: of which table, on which day (null: of no day, or of the table as a whole)."""

    severity: Literal["warning", "critical"]
    table: str
    event_day: date | None
    promise: str
    detail: str


def facts(con: duckdb.DuckDBPyConnection, declared: Iterable[Table] | None = None) -> pl.DataFrame:
    """One row per table and event_day, at least one per table, in their order: FACTS.

    n_duplicate_keys: keys of that day that more than one row of the whole table has. n_nulls: in required columns, named
    in null_columns. n_out_of_domain: values outside `Table.domain`, null aside, in foreign_columns. n_unaccounted: rows
    whose source is not an ingested one; for `sources` itself, ingested sources where n_read is not n_kept + n_rejected +
    n_out_of_scope, `rejects` does not hold n_rejected rows, or the tables hold fewer than n_kept records (source_id,
    line). n_read, n_rejected: totals over all sources of the formats that have rows in the table.
    `con` knows every declared table by its name.
    """
    known, query = list(tables().values() if declared is None else declared), cast("Any", con.sql)
    frame: pl.DataFrame = pl.concat(query(_counts(table)).pl().cast(FACTS) for table in known)
    n_unbalanced = query(_unbalanced(known)).pl().item()
    of_sources = pl.when(pl.col("table_name") == "sources").then(n_unbalanced).otherwise("n_unaccounted")
    return frame.with_columns(n_unaccounted=of_sources).sort("table_name", "event_day")


# The two functions below are the only ones that write SQL: it follows from the declarations, and every name and value
# in it is one of our own literals. Nothing that was read from a file gets here.


def _counts(table: Table) -> str:
    """The select that gives a table's rows of FACTS."""
    name, key = _name(table.name), [_name(column) for column in table.key]
    null = {column.name: f"{_name(column.name)} is null" for column in table.columns if not column.null}
    foreign = {column: f"{_name(column)} not in ({', '.join(map(_text, values))})" for column, values in table.domain}
    same_key = " and ".join(f"t.{column} is not distinct from repeated.{column}" for column in key)
    return f"""
    with live as (select distinct source_id as live_id from sources where status = 'ingested'),
    repeated as (select {", ".join(key)} from {name} group by all having count(*) > 1),
    duplicates as (
        select event_day, count(distinct row({", ".join(key)})) as n from {name} as t
        semi join repeated on {same_key} group by event_day
    ),
    feeding as (select distinct format from sources as s semi join {name} as t on s.source_id = t.source_id),
    totals as (select sum(n_read) as n_read, sum(n_rejected) as n_rejected from sources where format in (from feeding)),
    counted as (
        select event_day, count(*) as n_rows, {_sum(null)} as n_nulls, {_sum(foreign)} as n_out_of_domain,
            count(*) filter (live_id is null) as n_unaccounted,
            {_names(null)} as null_columns, {_names(foreign)} as foreign_columns
        from {name} as t left join live on t.source_id = live_id group by event_day
    )
    select {_text(table.name)} as table_name, counted.event_day, null_columns, foreign_columns,
        coalesce(n_rows, 0) as n_rows, coalesce(duplicates.n, 0) as n_duplicate_keys, coalesce(n_nulls, 0) as n_nulls,
        coalesce(n_out_of_domain, 0) as n_out_of_domain, coalesce(n_unaccounted, 0) as n_unaccounted,
        coalesce(n_read, 0) as n_read, coalesce(n_rejected, 0) as n_rejected
    from totals left join counted on true
    left join duplicates on counted.event_day is not distinct from duplicates.event_day
    """  # noqa: S608 - own literals only


def _unbalanced(known: Iterable[Table]) -> str:
    """The select that counts the ingested sources whose records do not add up. Numbers stand for ids: they are short."""
    holding = [table for table in known if {"source_id", "line"} <= set(table.names) and table.name != "rejects"]
    spanning = ", ".join([_text(each.name) for each in formats().values() if each.rows_span_records] or ["''"])
    pairs = " union ".join(
        f"select number, line from {_name(table.name)} join numbered using (source_id)"  # noqa: S608 - own literals only
        for table in holding
    )
    return f"""
    with numbered as (select *, row_number() over () as number from sources where status = 'ingested'),
    held as (select number, count(*) as n from ({pairs or "select null as number, null as line where false"}) group by number),
    rejected as (select source_id, count(*) as n from rejects group by source_id)
    select count(*) from numbered left join held using (number) left join rejected using (source_id)
    where n_read <> n_kept + n_rejected + n_out_of_scope
        or coalesce(rejected.n, 0) <> n_rejected or (coalesce(format, '') not in ({spanning}) and coalesce(held.n, 0) < n_kept)
    """  # noqa: S608 - own literals only


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _text(literal: str) -> str:
    return "'" + literal.replace("'", "''") + "'"


def _sum(tests: dict[str, str]) -> str:
    return " + ".join(f"count(*) filter ({test})" for test in tests.values()) or "0"


def _names(tests: dict[str, str]) -> str:
    named = (f"case when count(*) filter ({test}) > 0 then {_text(column)} end" for column, test in tests.items())
    return f"concat_ws(', ', {', '.join(('null', *named))})"


def expectations(declared: Iterable[Table], max_reject_ratio: float = MAX_REJECT_RATIO) -> Any:
    """The great-expectations suite of the promises, over a frame of facts with their `reject_ratio`."""
    gx, names, meta = _great_expectations(), [table.name for table in declared], {"promise": "tables_present"}
    present = gx.expectations.ExpectColumnDistinctValuesToEqualSet(
        column="table_name", value_set=names, severity="critical", meta=meta
    )
    bounded = [
        gx.expectations.ExpectColumnValuesToBeBetween(
            column=column,
            max_value=max_reject_ratio if promise == "reject_share" else 0,
            severity=severity,
            meta={"promise": promise, "detail": detail},
        )
        for column, (promise, severity, detail) in PROMISES.items()
    ]
    return gx.ExpectationSuite(name="lake", expectations=[present, *bounded])


def gate(counted: pl.DataFrame, declared: Iterable[Table], max_reject_ratio: float = MAX_REJECT_RATIO) -> list[Finding]:
    """The broken promises in a frame of FACTS, critical ones first, by table and day; none is an empty list.

    Raises RuntimeError where an expectation could not be judged.
    """
    gx, declared = _great_expectations(), list(declared)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    suite = context.suites.add(expectations(declared, max_reject_ratio))
    batch = context.data_sources.add_pandas("facts").add_dataframe_asset("facts").add_batch_definition_whole_dataframe("all")
    checked = context.validation_definitions.add(gx.ValidationDefinition(name="lake", data=batch, suite=suite))
    shares = pl.when(pl.col("n_read") > 0).then(pl.col("n_rejected") / pl.col("n_read"))
    frame = (
        counted.with_columns(reject_ratio=shares)
        .with_row_index("row")
        .drop("event_day", "null_columns", "foreign_columns")
        .to_pandas()
    )
    complete = {"result_format": "COMPLETE", "unexpected_index_column_names": ["row"]}
    outcome = checked.run(batch_parameters={"dataframe": frame}, result_format=complete)
    broken = [result for result in outcome.results if not result.success]
    found = {finding for result in broken for finding in _findings(result, counted, [table.name for table in declared])}
    return sorted(found, key=lambda each: (each.severity, each.table, each.event_day or date.min, each.promise))


def _findings(result: Any, counted: pl.DataFrame, names: Sequence[str]) -> list[Finding]:
    """The findings of one expectation that does not hold: one per failing row of facts."""
    config = result.expectation_config
    severity, promise = config.severity.value, config.meta["promise"]
    if promise == "tables_present":
        odd = sorted(set(names) ^ set(counted["table_name"]))
        return [Finding("critical", name, None, promise, "declared but not counted, or the other way round") for name in odd]
    rows = [counted.row(each["row"], named=True) for each in result.result.get("unexpected_index_list") or ()]
    if not rows:
        message = f"{promise} could not be judged: {result.exception_info}"
        raise RuntimeError(message)
    days = [None if promise == "reject_share" else row["event_day"] for row in rows]  # a share is of the whole table
    said = [config.meta["detail"].format(**row) for row in rows]
    return [Finding(severity, row["table_name"], day, promise, text) for row, day, text in zip(rows, days, said, strict=True)]


def _great_expectations() -> Any:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at its import
    import great_expectations

    return great_expectations
