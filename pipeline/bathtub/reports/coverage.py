"""coverage.csv: which node-days of the window have no logs: what happened then is not known."""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import RUN, stamped

_COLUMNS = (
    ("population", "cluster"),
    ("node", "node in service, or in a job where no inventory names it"),
    ("first_day", "first day of the gap, UTC"),
    ("last_day", "last day of the gap"),
    ("n_days", "days of the gap"),
    ("gap", "no_logs: no log at all; gpu_agent_only: an agent that watches GPUs ran, of the rest of the node nothing is known"),
    ("n_days_in_service", "days of the node in the window"),
    ("n_days_with_logs", "of these with some log"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    return stamped(marts["coverage_gaps"], context)


REPORT = ReportModel("coverage", ("coverage_gaps",), _COLUMNS, _rows)
