"""llama3.csv: the failures of the run beside the table of interruptions of the Llama 3 paper."""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel

_COLUMNS = (
    ("llama3_row", "row of Table 5 of arXiv:2407.21783"),
    ("category", "category of the paper"),
    ("published_count", "interruptions in 54 days on 16,384 GPUs"),
    ("published_pct", "share recomputed from the counts, percent"),
    ("published_printed_pct", "share as printed, percent; 30.1 for faulty GPUs is a misprint of 35.3"),
    ("found_count", "failures of this run whose component stands beside the row"),
    ("found_pct", "their share, percent"),
)


def _rows(marts: Mapping[str, pl.DataFrame], _context: Context) -> pl.DataFrame:
    return marts["llama3_view"]


REPORT = ReportModel("llama3", ("llama3_view",), _COLUMNS, _rows)
