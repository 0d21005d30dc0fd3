"""A fleet of 16,384 GPUs over 54 days, an hour a row, from Parquet to rates, rhythm, heat and vendors; Cox as the check.

    python bench/bench_fleet.py [days] [days of lifelines]      default 54 and 6

Printed: wall and CPU seconds and the peak of anonymous memory of one whole process that adds 21.2 million rows up to cells and
fits mtbf, diurnal, thermal and rate-ratio; the partial likelihood of Cox over all rows that cover a failure beside that over
cells of 0.05 C (the same to three digits); and lifelines' CoxTimeVaryingFitter over the rows of the first days and of twice as
many (the same coefficient to three digits). Its CPU time is extrapolated to all days as rows x (a + b x failures), since it goes
through all rows at each failure: a and b are what the two sizes show. Of neither are imports counted, of lifelines no reading.
"""

import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
from bench_scale import run

from bathtub.survival._risk_sets import maximise, risk_sets
from bathtub.survival.thermal import thermal

N_GPUS, SLOPE, FAILURES_PER_DAY = 16_384, 0.043, 6.0
OURS = """
import sys, time
import duckdb
import polars as pl
from bathtub.survival.diurnal import diurnal
from bathtub.survival.mtbf import mtbf
from bathtub.survival.rate_ratio import rate_ratio
from bathtub.survival.thermal import thermal
import scipy.stats

imported = time.process_time()
con = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
rows = con.read_parquet(sys.argv[1])
table = con.sql('''
    select
        vendor, node, hour_h % 24 as hour, (hour_h // 24) % 7 >= 5 as is_weekend, floor(temperature_c) as bin,
        sum(failed) as failures, count(*) as exposure_h, avg(temperature_c) as temperature_c,
    from rows
    group by grouping sets ((vendor, hour, is_weekend, bin), (vendor, node))
''').pl().cast({"exposure_h": float, "failures": int})
cells, nodes = table.filter(table["node"].is_null()), table.filter(table["node"].is_not_null())
days = cells.group_by("vendor", "hour", "is_weekend").agg(pl.col("failures", "exposure_h").sum())
fleet = nodes.select("vendor", "node", "failures", "exposure_h")
print(mtbf(fleet.drop("node").group_by("vendor").sum())["events"].sum(), int(fleet["exposure_h"].sum()), cells.height)
print(*thermal(cells.select("vendor", "hour", "temperature_c", "failures", "exposure_h")).row(0)[2:5])
print(*diurnal(days).row(0)[1:4])
print(*rate_ratio(fleet, compare="vendor").sort("vendor").row(1)[2:5])
print(imported, time.process_time() - imported)
"""


def write(path: Path, days: int) -> None:
    """One row per GPU and hour, a file per day: a fleet that differs in heat, of two vendors, with one slope."""
    chance = np.random.default_rng(54)
    gpu = np.arange(N_GPUS, dtype=np.int32)
    vendor = gpu // 8 % 2
    own = chance.normal(58, 3, N_GPUS) + vendor
    path.mkdir()
    for day in range(days):
        hour = np.repeat(np.arange(24 * day, 24 * day + 24, dtype=np.int32), N_GPUS)
        heat = np.tile(own, 24) + 2 * np.cos(2 * np.pi * (hour % 24 - 15) / 24) + chance.normal(0, 2, len(hour))
        rate = np.exp(SLOPE * (heat - 58.5)) * np.where(np.tile(vendor, 24), 1.5, 1.0)
        failed = chance.uniform(size=len(hour)) < FAILURES_PER_DAY * rate / rate.sum()
        frame = pl.DataFrame(
            {"gpu": np.tile(gpu, 24), "node": np.tile(gpu // 8, 24), "vendor": np.tile(vendor, 24), "hour_h": hour}
        )
        frame = frame.with_columns(temperature_c=pl.Series(heat, dtype=pl.Float32), failed=pl.Series(failed, dtype=pl.Int8))
        frame.cast({"vendor": pl.Int8}).write_parquet(path / f"day{day:02}.parquet")


def fleet(path: Path, days: int) -> tuple[int, int, float]:
    """The product's way, as a whole process: rows, failures, CPU seconds but for imports."""
    wall, peak, told = run([sys.executable, "-c", OURS, str(path / "*.parquet")])
    counted, heat, rhythm, ratio, spent = told.splitlines()
    imports, cpu = map(float, spent.split())
    failures, hours, n_cells = map(int, counted.split())
    true = pl.scan_parquet(path / "*.parquet").select(pl.col("failed").cast(pl.Int64).sum(), pl.len()).collect().row(0)
    assert (failures, hours) == true == (failures, N_GPUS * days * 24), (counted, true)
    slope, low, high = map(float, heat.split())
    assert low < SLOPE < high or days < 20, heat
    size = f"{hours:,} device-hours, {failures} failures, {n_cells:,} cells"
    print(f"{size}: wall {wall:.2f} s, CPU {cpu:.2f} s and {imports:.2f} s of imports, anonymous {peak:.0f} MiB")
    print(f"  slope {slope:.4f} ({low:.4f} to {high:.4f}; true {SLOPE}), amplitude and limits {rhythm}, second vendor {ratio}")
    return hours, failures, cpu


def risk_rows(path: Path, days: int) -> pl.DataFrame:
    """All rows of the first days in hours in which a GPU failed: the others cancel from the partial likelihood."""
    rows = duckdb.read_parquet([str(path / f"day{day:02}.parquet") for day in range(days)])
    failed = rows.filter("failed = 1").select("hour_h").distinct().set_alias("failures")
    return rows.set_alias("hours").join(failed, "hour_h", how="semi").pl()


def cox_of_rows(rows: pl.DataFrame, *, is_efron: bool) -> float:
    """The coefficient of the temperature beside the vendor, over rows (hour, hour + 1]."""
    x = rows.select("temperature_c", "vendor").cast(pl.Float64).to_numpy()
    at = rows["hour_h"].to_numpy().astype(np.float64)
    failed = rows["failed"].to_numpy() == 1
    sets = risk_sets(x - x.mean(axis=0), (at, at + 1), failed, np.zeros(len(rows), np.int64), is_efron=is_efron)
    found = maximise(sets)
    assert not isinstance(found, str), found
    return float(found.coefficients[0])


def check(path: Path, days: int) -> None:
    """Cox over cells of 0.05 C beside Cox over rows."""
    rows = risk_rows(path, days)
    begun, by_rows = time.process_time(), cox_of_rows(rows, is_efron=False)
    spent = time.process_time() - begun
    fine = (pl.col("temperature_c") * 20).floor().alias("bin")
    cells = rows.group_by("vendor", pl.col("hour_h").alias("risk_set"), fine).agg(
        pl.col("temperature_c").cast(pl.Float64).mean(),
        failures=pl.col("failed").cast(pl.Int64).sum(),
        exposure_h=pl.len().cast(pl.Float64),
    )
    by_cells = thermal(cells.drop("bin"))["estimate"][0]
    print(f"Cox over {len(rows):,} rows that cover a failure: {by_rows:.5f}, CPU {spent:.1f} s")
    print(f"  over {len(cells):,} cells of them: {by_cells:.5f}")
    assert abs(by_cells - by_rows) < 5e-4, (by_cells, by_rows)


def lifelines(path: Path, days: int) -> tuple[int, int, float]:
    """Rows, failures and CPU seconds of CoxTimeVaryingFitter over the first days, beside the product's Cox over the same."""
    from lifelines import CoxTimeVaryingFitter

    rows = pl.read_parquet([path / f"day{day:02}.parquet" for day in range(days)])
    table = rows.select("gpu", "vendor", "temperature_c", "failed", start="hour_h", stop=pl.col("hour_h") + 1).to_pandas()
    begun = time.process_time()
    theirs = CoxTimeVaryingFitter().fit(table, id_col="gpu", event_col="failed", start_col="start", stop_col="stop")
    spent = time.process_time() - begun
    begun = time.process_time()
    ours = cox_of_rows(risk_rows(path, days), is_efron=True)
    own, coefficient = time.process_time() - begun, theirs.params_["temperature_c"]
    found = len(rows), int(rows["failed"].sum())
    print(f"{found[0]:,} rows, {found[1]} failures: lifelines {coefficient:.5f}, CPU {spent:.2f} s")
    print(f"  Cox here over the same {ours:.5f}, CPU {own:.2f} s")
    assert abs(ours / coefficient - 1) < 1e-3
    return *found, spent


def extrapolated(sizes: list[tuple[int, int, float]], n_rows: int, n_failures: int) -> float:
    """Seconds by rows x (a + b x failures)."""
    (_, few, one), (_, many, other) = [(rows, failures, spent / rows) for rows, failures, spent in sizes]
    b = (other - one) / (many - few)
    return n_rows * (one + b * (n_failures - few))


def main(days: int = 54, days_of_lifelines: int = 6) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet"
        write(path, days)
        n_rows, n_failures, cpu = fleet(path, days)
        check(path, days)
        whole = extrapolated([lifelines(path, min(days, days_of_lifelines * times)) for times in (1, 2)], n_rows, n_failures)
        print(f"lifelines over all {n_rows:,} rows, extrapolated: CPU {whole:.0f} s,")
        print(f"  {whole / cpu:.0f} times what the cells and all four models took (at least 50 are asked for)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
