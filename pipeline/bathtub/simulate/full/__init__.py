"""The full simulated cluster: any size, planted hazards, all families of raw files, and the truth beside them.

`settings` and `topology` say what it is, `hazards`, `kinds`, `plan`, `jobs` what happens, `lines`, `node_logs`, `slurm_tables`,
`slurmctld`, `telemetry`, `output`, `dumps` turn it into files, `truth` and `exposure` keep what was planted. Nothing here
knows how the files are judged.
"""

from bathtub.simulate.full.settings import PRESETS, SOURCES, Settings
from bathtub.simulate.full.write import simulated, write_cluster

__all__ = ["PRESETS", "SOURCES", "Settings", "simulated", "write_cluster"]
