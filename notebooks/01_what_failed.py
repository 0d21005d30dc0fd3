# %% [markdown]
# # What failed, and how often?
#
# Incidents of one window by component, and device-hours between failures with exact limits. Set `lake` and run all cells.

# %% tags=["parameters"]
lake = "demo-out/lake"
exposure_kind = "in_service"
level = 0.95

# %%
import matplotlib.pyplot as plt
import polars as pl

import bathtub
from bathtub.survival.mtbf import mtbf

marts = bathtub.open(lake)
cells = marts.reliability_cells.filter(pl.col("exposure_kind") == exposure_kind)
print(f"{cells['window_start_at'].min()} to {cells['window_end_at'].max()}, {marts.incidents.height} incidents")

# %% [markdown]
# ## Incidents by component
# Failures, planned work, incidents that are no failure (a warning, for example) and those of unknown severity are counted apart.

# %%
failure = pl.col("is_failure").replace_strict({True: "failure", False: "no failure"}, default="not known", return_dtype=pl.String)
counted = marts.incidents.with_columns(kind=pl.when("is_planned").then(pl.lit("planned")).otherwise(failure))
kinds = counted.pivot("kind", index="component", values="incident_id", aggregate_function="len")
kinds = kinds.fill_null(0).sort("component")
kinds

# %%
ax = kinds.to_pandas().set_index("component").plot.barh(stacked=True, figsize=(8, 4), xlabel="incidents", ylabel="")
ax.set_title("Incidents by component")
plt.show()

# %% [markdown]
# ## Device-hours between failures
# Where nothing failed there is no estimate: the arrow begins at the one-sided lower bound.

# %%
key = ["population", "component"]
rates = mtbf(cells.select(*key, "failures", "exposure_h"), level=level).filter(pl.col("lower_bound").is_not_null()).sort(key)
rates.select(*key, "events", "exposure_h", "estimate", "low", "high", "lower_bound", "min_detectable_ratio", "assumptions")

# %%
failed, quiet = rates.filter(pl.col("events") > 0), rates.filter(pl.col("events") == 0)
fig, ax = plt.subplots(figsize=(8, 5))
spread = [failed["estimate"] - failed["low"], failed["high"] - failed["estimate"]]
ax.errorbar(failed["estimate"], failed["component"], xerr=spread, fmt="o", capsize=3, label=f"estimate, {level:.0%} limits")
ax.plot(quiet["lower_bound"], quiet["component"], ">", label=f"no failure: {level:.0%} lower bound")
ax.set(xscale="log", xlabel=f"device-hours between failures ({exposure_kind} exposure)")
ax.legend()
plt.show()

# %% [markdown]
# What the data cannot tell: the limits assume a constant rate and independent failures, so they say nothing about age, about one
# bad lot, or about nodes that were never logged; components named `unknown` may belong to any other bar.
