"""Many samples of one `--query-gpu` output at once, as columns; what is not plain is left to be read cell by cell.

A cell is plain where it is a number with the column's own unit or none, a word of its kind, or `N/A`. A row is plain where
all its cells that are read are, and its time is one instant of the zone. Both ways give equal rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from bathtub.ingest._quantities import Field, bits, device, known, ranges, types
from bathtub.ingest._readings import ANSWERS, FACTORS, RECOVERY
from bathtub.ingest._smi_header import KEYS, Header
from bathtub.ingest._times import TOLERANCE, source_zone, zone
from bathtub.source import Source

NULLS = ("[N/A]", "N/A")
STAMP_BYTES = 23
FIRST_PLAIN_YEAR = 1970
EXACT = 1 << 53
Names = Mapping[str, Field]


def cells(header: Header, lines: Sequence[int], texts: Sequence[str]) -> pl.DataFrame:
    """A column of text per name, `line` and `text`; `is_whole` where the row has as many cells as the header."""
    last = len(header.names) - 1
    split = pl.col("text").str.split_exact(header.delimiter, last)
    count = pl.col("text").str.count_matches(header.delimiter, literal=True)
    frame = pl.DataFrame({"line": lines, "text": texts}, schema={"line": pl.Int64, "text": pl.String})
    wanted = {name: at for at, name in enumerate(header.names)}
    parts = [split.struct.field(f"field_{at}").str.strip_chars().alias(f"cell {name}") for name, at in wanted.items()]
    return frame.with_columns(*parts, is_whole=count == last)


def _plain(name: str, known_as: Field, unit: str) -> pl.Expr:
    """The value of a plain cell; null for any other, and for N/A.

    polars divides by a literal through its reciprocal, which is another number: it is made a column.
    """
    cell = pl.col(f"cell {name}")
    stated = unit or known_as.unit
    if known_as.kind in ("number", "count", "part"):
        dtype, target = types()[known_as.quantity]
        number_type = pl.Int64() if dtype == "int64" else pl.Float64()
        number = (cell.str.strip_suffix(f" {stated}") if stated else cell).cast(number_type, strict=False)
        times, over = FACTORS.get((stated.lower(), target), (1, 1)) if stated.lower() != target else (1, 1)
        scaled = (
            number if (times, over) == (1, 1) else number * times / (over + 0 * pl.col("line")) if over != 1 else number * times
        )
        low, high = ranges().get(known_as.quantity, (-EXACT, EXACT))
        is_exact = number.is_between(-EXACT // times, EXACT // times)
        return pl.when(is_exact & scaled.is_between(low, high)).then(scaled)
    if known_as.kind == "bitmask":
        return pl.when(cell.str.contains(r"^0x0[0-9A-Fa-f]{1,15}$")).then(cell.str.slice(2).str.to_integer(base=16, strict=False))
    words: Mapping[str, object] = RECOVERY if known_as.kind == "action" else ANSWERS
    if known_as.kind == "bit":
        words = {word: bits()[known_as.unit] if answer else 0 for word, answer in ANSWERS.items()}
    answer: pl.DataType = pl.Boolean() if known_as.kind == "flag" else pl.Int64()
    return cell.str.to_lowercase().replace_strict(list(words), list(words.values()), default=None, return_dtype=answer)


def _is_plain(name: str) -> pl.Expr:
    return pl.col(f"plain {name}").is_not_null() | pl.col(f"cell {name}").is_in(list(NULLS))


def _quantity(found: Iterable[tuple[str, Field, str]]) -> pl.Expr:
    """The best of the names of one quantity: directly, as parts of a sum, as bits of a mask."""
    ordered = sorted(found, key=lambda each: each[1].preference)
    direct = [pl.col(f"plain {each[0]}") for each in ordered if each[1].kind not in ("part", "bit")]
    parts = [pl.col(f"plain {each[0]}") for each in ordered if each[1].kind == "part"]
    names_of: dict[str, list[pl.Expr]] = {}
    for each in ordered:
        if each[1].kind == "bit":
            names_of.setdefault(each[1].unit, []).append(pl.col(f"plain {each[0]}"))
    marked = [pl.max_horizontal(same) for same in names_of.values()]
    if parts:
        direct.append(sum(parts[1:], parts[0]))
    if marked:
        masks = [pl.when(pl.any_horizontal(each.is_not_null() for each in marked)).then(pl.sum_horizontal(marked))]
        direct += masks
    return pl.coalesce(direct)


def _mapped(name: str, to: Callable[[str], object], frame: pl.DataFrame, dtype: pl.DataType) -> pl.Series:
    """A column of few distinct texts through a function of one text."""
    column = frame[f"cell {name}"]
    distinct = column.unique().drop_nulls().to_list()
    if not distinct:
        return pl.Series(name, [None] * frame.height, dtype=dtype)
    return column.replace_strict(distinct, [to(text) for text in distinct], default=None, return_dtype=dtype)


def identity(header: Header, frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """The columns that name the GPU and its node, of every row."""
    found = {key: next((name for name in names if name in header.names), None) for key, names in KEYS.items()}
    columns = {"pci": "pci_bdf", "uuid": "device_uuid", "serial": "device_serial", "number": "gpu_index"}
    made = []
    for key, column in columns.items():
        dtype = pl.Int64() if key == "number" else pl.String()
        name = found[key]
        read = _one(key, column)
        made.append((_mapped(name, read, frame, dtype) if name else pl.Series([None] * frame.height, dtype=dtype)).alias(column))
    node = pl.Series("node", [source.settings.node] * frame.height, dtype=pl.String())
    if source.settings.node is None and "hostname" in header.names:
        node = _mapped("hostname", known, frame, pl.String()).alias("node")
    return frame.with_columns(*made, node)


def _one(key: str, column: str) -> Callable[[str], object]:
    return lambda text: device(**{key: text})[column]


def _times(header: Header, source: Source) -> tuple[list[pl.Expr], pl.Expr]:
    """The columns of the time, and where they are plain."""
    written = pl.col("cell timestamp") if "timestamp" in header.names else pl.lit(None, pl.String())
    if "timestamp" not in header.names:
        at = pl.lit(source.collected_at).cast(pl.Datetime("us", "UTC"))
        found = [at.alias("seen_at"), pl.lit("file").alias("time_source"), pl.lit("observation").alias("time_quality")]
        return [*found, written.alias("seen_at_raw"), written.alias("zone_assumed")], pl.lit(value=True)
    name = source_zone(source)
    zone(name)
    naive = written.str.to_datetime("%Y/%m/%d %H:%M:%S%.3f", time_unit="us", strict=False, ambiguous="null")
    at = naive.dt.replace_time_zone(name, ambiguous="null", non_existent="null").dt.convert_time_zone("UTC")
    is_plain = at.is_not_null() & (written.str.len_bytes() == STAMP_BYTES) & (naive.dt.year() >= FIRST_PLAIN_YEAR)
    quality = pl.when(at > source.collected_at + TOLERANCE).then(pl.lit("future")).otherwise(pl.lit("exact"))
    stated = [at.alias("seen_at"), pl.lit("poll").alias("time_source"), quality.alias("time_quality")]
    return [*stated, written.alias("seen_at_raw"), pl.lit(name).alias("zone_assumed")], is_plain


def plain_samples(header: Header, frame: pl.DataFrame, source: Source) -> tuple[pl.DataFrame, pl.Series]:
    """Rows of `telemetry` out of the plain rows, and which of the frame's rows they are."""
    read = header.fields
    frame = frame.with_columns(_plain(*each).alias(f"plain {each[0]}") for each in read)
    times, is_timed = _times(header, source)
    named = pl.any_horizontal(pl.col(name).is_not_null() for name in ("pci_bdf", "device_uuid", "device_serial", "gpu_index"))
    mask = frame.select(
        pl.all_horizontal(pl.col("is_whole"), named, is_timed, *(_is_plain(name) for name, _, _ in read)).fill_null(value=False)
    ).to_series()
    quantities: dict[str, list[tuple[str, Field, str]]] = {}
    for each in read:
        quantities.setdefault(each[1].quantity, []).append(each)
    kept = frame.filter(mask)
    values = [_quantity(found).alias(quantity) for quantity, found in quantities.items()]
    flags = pl.lit([], pl.List(pl.String())).alias("flags")
    return kept.select("line", "node", "pci_bdf", "device_uuid", "device_serial", "gpu_index", *times, *values, flags), mask
