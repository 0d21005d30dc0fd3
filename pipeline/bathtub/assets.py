"""The only place that knows where the files beside the code are: SQL, knowledge tables.

In a wheel they stand inside the package; in a checkout two levels above it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def _find(name: str) -> Path:
    for root in (_PACKAGE, _CHECKOUT):
        if (root / name).is_dir():
            return root / name
    message = f"bathtub is installed without its {name}/ folder: install it again"
    raise FileNotFoundError(message)


def sql_dir() -> Path:
    """The folder with staging/, intermediate/, marts/ and checks/."""
    return _find("sql")


def knowledge_dir() -> Path:
    """The folder with the shipped knowledge tables (CSV)."""
    return _find("data/knowledge")
