"""What `bathtub fit MODEL FILE` computes: a table in, rows that are ready for JSON out."""

import inspect
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from bathtub.survival import Model, models, read_table


def fit(model_name: str, path: Path, level: float = 0.95, **options: object) -> list[dict[str, object]]:
    """The rows of a model over a .csv or .parquet file, in the model's order; NaN and infinity are null, times are text.

    Raises ValueError for an unknown model or option and for what the model refuses to read, FileNotFoundError.
    """
    model = _model(model_name)
    known = list(inspect.signature(model.fit).parameters)[2:]
    for name in options:
        if name not in known:
            message = f"{model_name} has no option {name!r}; it has {', '.join(known) or 'none'}"
            raise ValueError(message)
    rows = model.fit(read_table(path, model.reads), level=level, **options)
    return [{name: _ready(value) for name, value in row.items()} for row in rows.iter_rows(named=True)]


def read_options(model_name: str, texts: Sequence[str]) -> dict[str, object]:
    """Options written as `name=value` in the types that the model takes: a number, true or false, a word; `a,b` for a list.

    Raises ValueError for a text without `=` and for an unknown model.
    """
    defaults = {name: each.default for name, each in inspect.signature(_model(model_name).fit).parameters.items()}
    found: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            message = f"option {text!r}: write name=value"
            raise ValueError(message)
        found[name] = tuple(_value(part) for part in value.split(",")) if defaults.get(name) == () else _value(value)
    return found


def _value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text


def _model(name: str) -> Model:
    if name not in models():
        message = f"no model {name!r}; there are {', '.join(models())}"
        raise ValueError(message)
    return models()[name]


def _ready(value: Any) -> object:
    """A value that JSON can hold: UTC times end in Z, numbers that are not finite are null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)
