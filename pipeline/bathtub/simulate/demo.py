"""The folder of the simulated cluster: its inbox, its configuration and the truth beside them."""

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bathtub.simulate import logs, plant, recorder, scheduler
from bathtub.simulate.cluster import CLUSTER, COLLECTED_AT, STARTED_AT, ZONE_NAME
from bathtub.simulate.jobs import schedule

CONFIGURATION = f"""\
# The simulated cluster. Times without a zone are local.
[cluster]
name = "{CLUSTER}"
zone = "{ZONE_NAME}"

[[source]]
path = "dumps/{{job_id}}/*"

[[source]]
path = "nodes/{{node}}/*"
"""


@dataclass(frozen=True)
class File:
    """One file below the folder, its content and its time."""

    name: str
    content: bytes
    written_at: datetime


def write_demo(folder: Path, seed: int = 7) -> None:
    """Write the cluster's raw files into `folder`: `inbox`, `bathtub.toml`, `truth.csv`.

    Equal seeds give equal bytes and equal file times. Files that are there already are overwritten; none is removed.
    """
    for file in files(seed):
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        os.utime(path, (file.written_at.timestamp(), file.written_at.timestamp()))


def files(seed: int) -> Iterator[File]:
    """Every file of the demo."""
    incidents, attempts = schedule(seed)
    fleet = plant.fleet(seed, incidents)
    yield File("bathtub.toml", CONFIGURATION.encode(), STARTED_AT)
    yield File("truth.csv", plant.truth(incidents, fleet), COLLECTED_AT)
    yield File("inbox/plant/inventory.csv", plant.inventory(fleet, seed), COLLECTED_AT)
    yield File("inbox/plant/maintenance.csv", plant.maintenance(incidents), COLLECTED_AT)
    for export in scheduler.exports():
        yield File(f"inbox/scheduler/{export.name}", scheduler.text(export, attempts), export.made_at)
    for incident in incidents:
        for dump in recorder.dumps(seed, incident):
            yield File(f"inbox/dumps/{dump.name}", dump.content, dump.written_at)
    for name, content in logs.files(seed, incidents, logs.node_lines(seed, incidents, attempts, fleet)):
        yield _log(name, content)


def _log(name: str, content: bytes) -> File:
    """A log as it was collected at the end, or rotated and compressed on the day in its name."""
    if "messages-" in name:
        return File(f"inbox/nodes/{name}.gz", gzip.compress(content, mtime=0), logs.ROTATED_AT)
    return File(f"inbox/nodes/{name}", content, COLLECTED_AT)
