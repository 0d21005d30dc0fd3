"""Values as Slurm prints them, as expressions over text columns: states, exit codes, durations, limits, memory, times.

Blank cells are null before they come here. Slurm's "no value" and "infinite" are null wherever they surface.
"""

from datetime import datetime

import polars as pl

from bathtub.ingest._times import source_zone, zone
from bathtub.source import Source

SHORT_STATES = {
    "PD": "PENDING", "R": "RUNNING", "S": "SUSPENDED", "CD": "COMPLETED", "CA": "CANCELLED", "F": "FAILED",
    "TO": "TIMEOUT", "NF": "NODE_FAIL", "PR": "PREEMPTED", "BF": "BOOT_FAIL", "DL": "DEADLINE", "OOM": "OUT_OF_MEMORY",
    "CG": "COMPLETING", "CF": "CONFIGURING", "RS": "RESIZING", "RQ": "REQUEUED", "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD", "RV": "REVOKED", "RD": "RESV_DEL_HOLD", "SE": "SPECIAL_EXIT", "SI": "SIGNALING",
    "SO": "STAGE_OUT", "ST": "STOPPED",
}  # fmt: skip
STATES = frozenset({*SHORT_STATES.values(), "EXPEDITING", "LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE"})

NO_TIME = ("Unknown", "None", "0", "4294967294", "4294967295")
_NO_EPOCH = (0, 4294967294, 4294967295)
LOCAL_TIME = r"(?:19[7-9][0-9]|2[01][0-9]{2})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
OFFSET = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
EPOCH = r"[0-9]{1,10}"

_NO_COUNT = (65534, 65535, 4294967294, 4294967295)
_NO_NUMBER = ("65534", "65535", "4294967294", "4294967295", "18446744073709551614", "18446744073709551615", "-1", "-2")
_NO_DURATION = ("INVALID", "Unknown", "UNLIMITED", "Partition_Limit", *_NO_NUMBER)
# 1-02:03:04   02:03:04   03:04.567
_DURATION = r"^(?:(?P<d>[0-9]{1,6})-)?(?:(?P<h>[0-9]{1,4}):)?(?P<m>[0-9]{1,4}):(?P<s>[0-9]{1,2})(?:\.[0-9]+)?$"
# 2500Mc   400Gn   16G   0n   1280.50G
_MEMORY = r"^(?P<value>[0-9]{1,12}(?:\.[0-9]{1,6})?)(?P<unit>[KMGTP]?)(?P<basis>[nc]?)$"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


def state(text: pl.Expr) -> pl.Expr:
    """The long name of a state without ` by <uid>`; raw text where it is not known."""
    return text.str.replace(r" by [0-9]+$", "").replace(SHORT_STATES)


def cancelled_by(text: pl.Expr) -> pl.Expr:
    """The numeric user id behind `CANCELLED by`, as text."""
    return text.str.extract(r" by ([0-9]+)$")


def exit_part(text: pl.Expr, group: int) -> pl.Expr:
    """The code (group 1) or the signal (group 2) of `code:signal`."""
    return text.str.extract(r"^([0-9]{1,9}):([0-9]{1,9})$", group).cast(pl.Int64)


def whole_number(text: pl.Expr) -> pl.Expr:
    """Digits as a number; null for Slurm's sentinels and for anything else."""
    number = pl.when(text.str.contains(r"^[0-9]{1,15}$")).then(text).cast(pl.Int64)
    return pl.when(~number.is_in(_NO_COUNT)).then(number)


def is_bad_number(text: pl.Expr) -> pl.Expr:
    """Neither a number nor one of the sentinels."""
    return ~text.is_in(_NO_NUMBER) & ~text.str.contains(r"^[0-9]{1,15}$")


def duration_s(text: pl.Expr) -> pl.Expr:
    """Seconds of `[D-]HH:MM:SS` and `MM:SS.mmm`, fractions dropped; null for anything else."""
    parts = text.str.extract_groups(_DURATION)
    factors = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    terms = [parts.struct.field(name).cast(pl.Int64).fill_null(0) * factor for name, factor in factors.items()]
    return pl.when(parts.struct.field("s").is_not_null()).then(pl.sum_horizontal(terms))


def is_bad_duration(text: pl.Expr) -> pl.Expr:
    """Neither a duration nor a word that stands for none."""
    return ~text.is_in(_NO_DURATION) & ~text.str.contains(_DURATION)


def limit_s(limit: pl.Expr, raw_minutes: pl.Expr) -> pl.Expr:
    """Seconds of Timelimit, else of TimelimitRaw, which is in minutes."""
    return pl.coalesce(duration_s(limit), whole_number(raw_minutes) * 60)


def limit_kind(limit: pl.Expr, raw_minutes: pl.Expr) -> pl.Expr:
    """limited, unlimited, partition or invalid; null where both are blank or not exported."""
    text = pl.coalesce(limit, raw_minutes)
    return (
        pl.when(text.is_null())
        .then(None)
        .when(text.is_in(["UNLIMITED", "4294967295"]))
        .then(pl.lit("unlimited"))
        .when(text.is_in(["Partition_Limit", "4294967294"]))
        .then(pl.lit("partition"))
        .when(limit_s(limit, raw_minutes).is_null())
        .then(pl.lit("invalid"))
        .otherwise(pl.lit("limited"))
    )


def memory_bytes(text: pl.Expr) -> pl.Expr:
    """Bytes of a memory size in 1024-based units; without a unit it is in M."""
    parts = text.str.extract_groups(_MEMORY)
    factor = parts.struct.field("unit").replace_strict(_UNITS, default=None, return_dtype=pl.Float64)
    return (parts.struct.field("value").cast(pl.Float64) * factor).round(0).cast(pl.Int64, strict=False)


def memory_basis(text: pl.Expr) -> pl.Expr:
    """What a requested memory is counted per: per_node, per_cpu or total (no suffix, from 21.08 on always)."""
    basis = text.str.extract_groups(_MEMORY).struct.field("basis")
    return basis.replace_strict({"n": "per_node", "c": "per_cpu", "": "total"}, default=None, return_dtype=pl.String)


def instants(text: pl.Series, source: Source) -> pl.DataFrame:
    """One row per text: `first` and `last` reading in UTC (they differ in the repeated hour only) and `is_bad`.

    Zone-less text is read in the source's zone; raises Quarantine where there is none. A time that the zone skips
    is bad.
    """
    cell = pl.col("text")
    epochs = _epochs(text)
    if epochs is not None:
        return epochs
    read = pl.DataFrame({"text": text}).select(
        cell,
        is_none=cell.is_null() | cell.is_in(NO_TIME),
        naive=_naive(pl.when(cell.str.contains(f"^{LOCAL_TIME}$")).then(cell)),
        own=_with_offset(pl.when(cell.str.contains(f"^{LOCAL_TIME}{OFFSET}$")).then(cell)),
        epoch=pl.when(cell.str.contains(f"^{EPOCH}$") & ~cell.is_in(NO_TIME)).then(cell).cast(pl.Int64) * 1_000_000,
    )
    exact = pl.coalesce("own", pl.col("epoch").cast(pl.Datetime("us", "UTC")))
    first, last = _localized(read["naive"], source)
    readings = read.with_columns(first=pl.coalesce(first, exact), last=pl.coalesce(last, exact))
    return readings.select("first", "last", is_bad=~pl.col("is_none") & pl.col("first").is_null())


def _epochs(text: pl.Series) -> pl.DataFrame | None:
    """What `instants` gives where every text is epoch seconds or none; None where another form is among them."""
    is_epoch = text.str.contains(f"^{EPOCH}$")
    if not text.filter(~is_epoch).is_in(NO_TIME).all():
        return None
    seconds = pl.when(is_epoch).then(pl.lit(text)).cast(pl.Int64)
    instant = (pl.when(~seconds.is_in(_NO_EPOCH)).then(seconds) * 1_000_000).cast(pl.Datetime("us", "UTC"))
    return pl.select(first=instant).select("first", last="first", is_bad=pl.lit(value=False))


def _naive(text: pl.Expr) -> pl.Expr:
    return text.str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="us", strict=False)


def _with_offset(text: pl.Expr) -> pl.Expr:
    """The instant of a time with its own offset."""
    offset = text.str.extract(r"([+-][0-9]{2}:?[0-9]{2})$").str.replace(":", "")
    minutes = offset.str.slice(1, 2).cast(pl.Int64) * 60 + offset.str.slice(3, 2).cast(pl.Int64)
    signed = pl.when(offset.str.starts_with("-")).then(-minutes).otherwise(minutes).fill_null(0)
    return (_naive(text.str.slice(0, 19)) - pl.duration(minutes=signed)).dt.replace_time_zone("UTC")


def _localized(naive: pl.Series, source: Source) -> tuple[pl.Series, pl.Series]:
    """First and last reading of zone-less times; only the few that have none or two are read a second time."""
    if naive.null_count() == len(naive):
        nothing = naive.dt.replace_time_zone("UTC")
        return nothing, nothing
    name = source_zone(source)
    zone(name)
    plain = naive.dt.replace_time_zone(name, ambiguous="null", non_existent="null").dt.convert_time_zone("UTC")
    if plain.null_count() == naive.null_count():
        return plain, plain
    earliest = naive.dt.replace_time_zone(name, ambiguous="earliest", non_existent="null").dt.convert_time_zone("UTC")
    latest = naive.dt.replace_time_zone(name, ambiguous="latest", non_existent="null").dt.convert_time_zone("UTC")
    return earliest, latest


def settle(
    readings: tuple[set[datetime | None], set[datetime | None], set[datetime | None]], run_s: int | None
) -> list[set[datetime | None]]:
    """The readings of submit, start and end that fit each other: in this order, and start to end lasting `run_s`.

    Where nothing fits, all of them stay.
    """
    submits, starts, ends = readings
    fitting = [
        (submit, start, end)
        for submit in submits
        for start in starts
        for end in ends
        if (submit is None or start is None or submit <= start)
        and (start is None or end is None or (start <= end if run_s is None else (end - start).total_seconds() == run_s))
    ]
    return [set(column) for column in zip(*fitting, strict=True)] if fitting else list(readings)
