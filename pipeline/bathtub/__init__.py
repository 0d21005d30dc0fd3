"""Why each GPU job died, which part is to blame, how often it fails, and what the vendor gets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Marts", "__version__", "open"]
__version__ = "0.1.0"


class Marts(Mapping[str, "pl.DataFrame"]):
    """The marts of one snapshot as polars frames: `marts["incidents"]` or `marts.incidents`; `marts.names` lists them.

    All are read when the lake is opened, so that a nightly run that comes later changes nothing here.
    """

    def __init__(self, frames: "Mapping[str, pl.DataFrame]") -> None:
        self._frames = dict(frames)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the marts, in order."""
        return tuple(self._frames)

    def __getitem__(self, name: str) -> "pl.DataFrame":
        return self._frames[name]

    def __getattr__(self, name: str) -> "pl.DataFrame":
        try:
            return vars(self)["_frames"][name]  # type: ignore[no-any-return]
        except KeyError:
            message = f"no mart {name!r}; there are {', '.join(vars(self).get('_frames', ()))}"
            raise AttributeError(message) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


def open(lake: str | Path) -> Marts:  # noqa: A001 - read as bathtub.open; nothing here opens files by the built-in
    """The marts of a lake's newest snapshot. Raises LakeError where there is no lake, NotFound where it has no marts."""
    import polars as pl

    from bathtub.explain import newest_marts

    return Marts({name: pl.read_parquet(path) for name, path in newest_marts(Path(lake)).items()})
