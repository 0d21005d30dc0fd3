"""Trackable resources as Slurm prints them: `billing=96,cpu=96,gres/gpu=8,gres/gpu:a100=8,mem=62500G,node=1`."""

import polars as pl

# gres/gpu=8          the count of all types; some old exports leave `gres/` out
_ALL = r"(?:^|,)(?:gres/)?gpu=([0-9]{1,9})(?:,|$)"
# gres/gpu:a100=8     the same devices by type; a type may hold a colon
_TYPED = r"(?:^|,)(?:gres/)?gpu:[^,=]+=[0-9]{1,9}"
_NAMED = r"(?:^|,)(?:gres/)?gpu(?::[^,=]*)?(?:=|,|$)"


def count_gpus(tres: pl.Expr) -> pl.Expr:
    """GPUs: `gres/gpu` where present, else the sum over the types; null where the text names none.

    gres/gpumem, gres/gpuutil, gres/shard and gres/mps are no GPU counts.
    """
    typed = tres.str.extract_all(_TYPED)
    total = typed.list.eval(pl.element().str.extract(r"=([0-9]+)$").cast(pl.Int64)).list.sum()
    return pl.coalesce(tres.str.extract(_ALL).cast(pl.Int64), pl.when(typed.list.len() > 0).then(total))


def names_gpus(tres: pl.Expr) -> pl.Expr:
    """Whether the text speaks of GPUs at all, countable or not."""
    return tres.str.contains(_NAMED)
