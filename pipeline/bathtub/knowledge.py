"""Knowledge tables: rules and catalogues as rows, their version, and a user's own rows over the shipped ones."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars as pl
from blake3 import blake3

from bathtub.assets import knowledge_dir
from bathtub.config import ConfigError, Knowledge

KEYS = {"rules": ("rule_id",), "rule_conditions": ("rule_id", "condition")}
"""What makes a row of a table that a user may add to."""


@cache
def _shipped() -> dict[str, pl.DataFrame]:
    return {path.stem: _read(path) for path in sorted(knowledge_dir().glob("*.csv"))}


def _read(path: Path) -> pl.DataFrame:
    """A CSV with every column as text, an empty field as null."""
    try:
        return pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        message = f"knowledge table {path}: {error}"
        raise ConfigError(message) from error


def tables(own: Knowledge | None = None, folder: Path = Path()) -> dict[str, pl.DataFrame]:
    """Every knowledge table by name, all columns text. A user's rows replace shipped ones of the same key."""
    found = dict(_shipped())
    for name, keys in KEYS.items():
        file = getattr(own, name, None)
        if file is not None:
            found[name] = _over(found[name], _read(folder / file), keys, name)
    return found


def _over(shipped: pl.DataFrame, own: pl.DataFrame, keys: tuple[str, ...], name: str) -> pl.DataFrame:
    unknown = set(own.columns) - set(shipped.columns)
    if unknown or not set(keys) <= set(own.columns):
        message = f"{name}: columns must be of {', '.join(shipped.columns)}, with {', '.join(keys)}"
        raise ConfigError(message)
    replaced = keys[:1]
    kept = shipped.join(own.select(replaced).unique(), on=replaced, how="anti", maintain_order="left")
    return pl.concat([kept, own], how="diagonal")


def version(found: Mapping[str, pl.DataFrame]) -> str:
    """The first 12 hex digits of BLAKE3 over the content of all tables: what is stamped on every verdict."""
    hasher = blake3()
    for name, frame in sorted(found.items()):
        hasher.update(name.encode() + b"\x00" + frame.write_csv().encode() + b"\x00")
    return hasher.hexdigest()[:12]
