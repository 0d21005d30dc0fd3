"""How large an effect of two components may be: limits of its noncentrality from a chi2 with two degrees of freedom.

x ~ noncentral chi2(2, s). A value s is kept where x lies in the region of highest density that holds `level` of it. The lower
limit is then 0 exactly when the test of no effect at 1 - level does not reject, and every s is covered as often as stated; an
estimate -+ z errors would go below 0. Density: exp(-(x + s)/2) I0(sqrt(s x))/2.
"""

import math
from functools import cache
from statistics import NormalDist

FAR = 1e4  # beyond this the root is as good as normal


def limits(x: float, level: float) -> tuple[float, float]:
    """Lower and upper limit of the noncentrality s, given x."""
    from scipy.optimize import brentq

    if x > FAR:
        z = NormalDist().inv_cdf((1 + level) / 2)
        return (math.sqrt(x) - z) ** 2, (math.sqrt(x) + z) ** 2

    def spare(s: float) -> float:
        return _p(x, s) - (1 - level)

    top = (math.sqrt(x) + 1) ** 2
    while spare(top) > 0:
        top = (math.sqrt(top) + 1) ** 2
    return (brentq(spare, 0, x) if spare(0) < 0 else 0.0), brentq(spare, x, top)


@cache
def detectable(size: float = 0.05, power: float = 0.8) -> float:
    """The noncentrality that a test of this size finds with this power: 9.635."""
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    bound = chi2.isf(size, 2)
    return float(brentq(lambda s: ncx2.sf(bound, 2, s) - power, 0.01, 1000))


def _p(x: float, s: float) -> float:
    """Share of the values that are at most as likely as x."""
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    if s == 0:
        return math.exp(-x / 2)
    mode, here = _mode(s), _log_density(x, s)
    below, above = float(ncx2.cdf(x, 2, s)), float(ncx2.sf(x, 2, s))
    if x > mode:
        if _log_density(0.0, s) >= here:
            return above
        return above + float(ncx2.cdf(brentq(lambda y: _log_density(y, s) - here, 0, mode), 2, s))
    far = (2 * math.sqrt(max(mode, s)) - math.sqrt(x) + 4) ** 2
    while _log_density(far, s) > here:
        far *= 2
    return below + float(ncx2.sf(brentq(lambda y: _log_density(y, s) - here, mode, far), 2, s))


def _mode(s: float) -> float:
    """The likeliest x: 0 up to s = 2, then where sqrt(s/x) I1/I0 = 1."""
    from scipy.optimize import brentq
    from scipy.special import i0e, i1e

    if s <= 2:  # noqa: PLR2004 - the density falls from 0 on
        return 0.0
    return float(brentq(lambda x: math.sqrt(s / x) * i1e(math.sqrt(s * x)) / i0e(math.sqrt(s * x)) - 1, 1e-9, s))


def _log_density(x: float, s: float) -> float:
    from scipy.special import i0e

    return -((math.sqrt(x) - math.sqrt(s)) ** 2) / 2 + math.log(i0e(math.sqrt(s * x)))
