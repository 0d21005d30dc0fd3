"""Do counts spread wider than Poisson about the rate of their group; q values of a family of tests."""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def dispersion(counts: Floats, hours: Floats, groups: Ints) -> tuple[float, float, int]:
    """Phi about the rate of each group, p of phi = 1, degrees of freedom; NaN, NaN, 0 where no group has two cells that tell.

    phi is Pearson's chi2 over its degrees, over the mean ratio of count to expectation, which holds where cells are sparse
    (Fletcher 2012, Biometrika 99: 230). p: Gamma of the mean and variance that the statistic has given the totals (Haldane 1937,
    Biometrika 29: 133), which is chi2 over even exposure; chi2 alone is far too small where short exposures are among long ones.
    `groups`: 0, 1, … of each cell; hours above 0.
    """
    from scipy.stats import gamma

    failures, exposure = np.bincount(groups, counts), np.bincount(groups, hours)
    told = failures[groups] > 0
    counts, hours, groups = counts[told], hours[told], groups[told]
    n_groups = len(np.unique(groups))
    n_free = len(counts) - n_groups
    if n_free <= 0:
        return math.nan, math.nan, 0
    mean = hours * failures[groups] / exposure[groups]
    statistic = float(((counts - mean) ** 2 / mean).sum())
    sizes = np.bincount(groups, minlength=len(failures))[groups]
    uneven = float((1 / mean).sum() - (sizes / failures[groups]).sum())  # sum of 1/p over k cells less k^2, over the failures
    p = gamma.sf(statistic, n_free**2 / (2 * n_free + uneven), scale=(2 * n_free + uneven) / n_free)
    return statistic / n_free / float((counts / mean).mean()), float(p), n_free


def q_values(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p of one family; NaN stays NaN and does not count. Shapes: n to n."""
    from scipy.stats import false_discovery_control

    found, told = np.full(len(p), math.nan), ~np.isnan(p)
    if told.any():
        found[told] = false_discovery_control(p[told])
    return found
