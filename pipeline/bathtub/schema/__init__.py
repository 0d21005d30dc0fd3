"""Every table between the files and the SQL, declared once.

From these plain literals come the polars schema, the Arrow schema (descriptions and units travel in the
Parquet), the empty tables of the warehouse, the data dictionary, the generated frames of the property tests
and the expectations of the quality gate. Nothing else restates a column's type.
"""

import importlib
import pkgutil
from functools import cache

from bathtub.schema._types import Column, Table, Type

__all__ = ["Column", "Table", "Type", "table", "tables"]


@cache
def tables() -> dict[str, Table]:
    """Every declared table by name, found by walking this package's modules."""
    found: dict[str, Table] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if module.name.startswith("_"):
            continue
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, Table):
                found[value.name] = value
    return found


def table(name: str) -> Table:
    """The declaration of one table. Raises KeyError for a name that is not declared."""
    return tables()[name]
