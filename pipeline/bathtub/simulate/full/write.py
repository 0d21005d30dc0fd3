"""A whole cluster below one folder: `inbox`, `bathtub.toml`, `truth`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bathtub.simulate.full import dumps, exposure, hazards, node_logs, output, slurm_tables, slurmctld, telemetry, truth
from bathtub.simulate.full.devices import Parts, write_inventory
from bathtub.simulate.full.events import History
from bathtub.simulate.full.files import put, stamp
from bathtub.simulate.full.plan import history
from bathtub.simulate.full.settings import CLUSTER, HOUR_S, PRESETS, ZONE_NAME, Settings, local, midnight
from bathtub.simulate.full.slurm_tables import hostlist
from bathtub.simulate.full.topology import Fleet

# Kernel logs are named, since the driver's hint to run nvidia-bug-report.sh makes others claim them too.
RULES = (
    ("dumps/{job_id}/*", ""),
    ("output/slurm-{job_id}.out", "job_output"),
    *((f"nodes/{{node}}/{folder}messages*", "syslog_rfc3164") for folder in ("", "copy/")),
    *((f"nodes/{{node}}/{folder}journal.log*", "syslog_iso") for folder in ("", "copy/")),
    *((f"nodes/{{node}}/{folder}journal.json*", "journal_json") for folder in ("", "copy/")),
    ("loghost/**", "syslog_rfc3164"),
    ("dmesg/{node}/*", "dmesg_iso"),
    ("smi/{node}/*", ""),
    ("xml/{node}/*", ""),
)
"""Paths below the inbox, and formats where they are named."""

CONFIGURATION = f"""\
# The simulated cluster. Times without a zone are local.
[cluster]
name = "{CLUSTER}"
zone = "{ZONE_NAME}"
""" + "".join(f'\n[[source]]\npath = "{path}"\n' + (f'format = "{name}"\n' if name else "") for path, name in RULES)

Tell = Callable[[str, int, int], None]
"""Hears of a stage, how many are done, and how many there are."""

FAMILIES = ("plan", "scheduler", "nodes", "telemetry", "output", "dumps", "truth")


def write_cluster(folder: Path, settings: Settings, tell: Tell = lambda *_: None) -> History:
    """Write a cluster's raw files and its truth below `folder`, and give back what happened. `tell` hears of each stage.

    Equal settings give equal bytes and file times, whatever the machine. Files that are there already are overwritten;
    none is removed. Memory is bounded by the number of attempts and incidents; logs are written a node at a time.
    """
    fleet = Fleet(settings)
    found = history(settings, fleet)
    parts = Parts(settings, fleet, found.moves)
    inbox = folder / "inbox"
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    put(folder / "bathtub.toml", CONFIGURATION, 0.0)
    for number, (name, make) in enumerate(_families(folder, inbox, settings, parts, found).items()):
        tell(name, number, len(FAMILIES))
        make()
    return found


def simulated(folder: Path, preset: str | None, options: Mapping[str, Any], tell: Tell) -> dict[str, object]:
    """`write_cluster` by the name of a preset and what differs from it; gives back what was written, as one row.

    Raises ValueError for what cannot be simulated.
    """
    chosen: dict[str, Any] = {**PRESETS.get(preset or "", {}), **options}
    settings = Settings(**chosen)
    found = write_cluster(folder, settings, tell)
    return {
        "out": str(folder),
        "n_nodes": settings.n_nodes,
        "n_days": settings.n_days,
        "n_planted": len(found.events),
        "n_failures": sum(event.kind.is_failure for event in found.events),
        "n_attempts": len(found.attempts),
        "n_files": sum(path.is_file() for path in (folder / "inbox").rglob("*")),
    }


def _families(folder: Path, inbox: Path, settings: Settings, parts: Parts, found: History) -> dict[str, Callable[[], None]]:
    """What writes each family of files."""
    return {
        "plan": lambda: _by_hand(inbox / "plant", settings, parts, found),
        "scheduler": lambda: _scheduler(inbox / "scheduler", settings, parts.fleet, found),
        "nodes": lambda: node_logs.write(inbox, node_logs.NodeLogs(settings, found, parts)),
        "telemetry": lambda: telemetry.write(inbox, settings, parts, found),
        "output": lambda: output.write(inbox / "output", settings, parts.fleet, found),
        "dumps": lambda: _dumps(inbox / "dumps", settings, found),
        "truth": lambda: _truth(folder / "truth", settings, parts, found),
    }


def _scheduler(folder: Path, settings: Settings, fleet: Fleet, found: History) -> None:
    if "scheduler" not in settings.missing:
        slurm_tables.write(folder, settings, fleet, found)
        slurmctld.write(folder, settings, fleet, found)


def _dumps(folder: Path, settings: Settings, found: History) -> None:
    for event in found.events:
        if event.kind.dumps and event.attempts and "recorder" not in settings.missing and event.at_s + HOUR_S < settings.end_s:
            dumps.write(folder, settings, event)


def _truth(folder: Path, settings: Settings, parts: Parts, found: History) -> None:
    truth.write(folder, settings, parts, found)
    hazards.write(folder / "hazards.csv", settings)
    exposure.write(folder / "exposure.csv", settings, parts.fleet, found)
    for path in folder.iterdir():
        stamp(path, settings.end_s)


def _by_hand(folder: Path, settings: Settings, parts: Parts, found: History) -> None:
    """inventory.csv and maintenance.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    write_inventory(folder / "inventory.csv", parts)
    stamp(folder / "inventory.csv", settings.end_s + 600)
    rows = ["nodes,started_at,ended_at,reason,ticket"]
    planned = [event for event in found.events if event.kind.is_planned]
    windows = [(event.at_s - 360, event.at_s + (event.kind.repair_h + 1) * HOUR_S, event.nodes) for event in planned]
    windows.append((midnight(1), midnight(1) + 1800, (0,)))
    for number, (since_s, until_s, nodes) in enumerate(windows):
        times = ",".join(f"{local(moment):%Y-%m-%dT%H:%M:%S}" for moment in (since_s, until_s))
        rows.append(f'"{hostlist(parts.fleet, nodes)}",{times},"firmware update, or cables",OPS-{number + 100}')
    put(folder / "maintenance.csv", "\n".join(rows) + "\n", settings.end_s + 600)
