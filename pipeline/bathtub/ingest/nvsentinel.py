"""Health events of NVSentinel as JSON lines: as sent, or as its store holds them (`healthevent`, all keys lower case).

    {"agent": "syslog-health-monitor", "checkName": "SysLogsXIDError", "isFatal": true, "isHealthy": false,
     "errorCode": ["79"], "message": "…", "recommendedAction": "RESTART_BM",
     "entitiesImpacted": [{"entityType": "PCI", "entityValue": "0000:3b:00.0"}],
     "generatedTimestamp": "2026-01-02T03:04:05Z", "nodeName": "gpu-a01"}

Every event is a state `health_check`; `isHealthy` closes it. An unhealthy Xid or SXid check with a number for a code is
a fault besides, at or before its time; `isFatal` is the monitor's own view and no severity of the line. Entities name
the GPU (UUID or number), its address, and NVSwitch and link. The monitor reads the journal of the current boot from
when it starts: Xids that led to a reboot are missing.

A record is a line.
Rejects: bad_json, bad_event.
Quarantine: line_too_long, zone_required.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from bathtub.ingest import Batch, Format
from bathtub.ingest._agents import Event, code_of, keep_fault, mapping, seen_event, string
from bathtub.ingest._json_lines import first_object, json_lines
from bathtub.ingest._quantities import device
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS, Moment, observation
from bathtub.ingest._times import UNKNOWN, Stamp, checked, iso
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("gpu_faults"), table("observations"))
FIRST_S, LAST_S = 0, 4_102_444_800
ACTIONS = {0: "NONE", 2: "COMPONENT_RESET", 5: "CONTACT_SUPPORT", 6: "RUN_FIELDDIAG", 15: "RESTART_VM", 24: "RESTART_BM"}
ACTIONS |= {25: "REPLACE_VM", 26: "RUN_DCGMEUD", 39: "RESTART_APP", 99: "UNKNOWN"}
NEEDED = frozenset({"checkname", "nodename"})


def _lower(value: object) -> dict[str, object]:
    """An object with its keys in lower case, out of the store's envelope where there is one."""
    found = {str(key).lower(): each for key, each in mapping(value).items()}
    return _lower(found["healthevent"]) if "healthevent" in found and "checkname" not in found else found


def _claims(head: bytes, _name: str) -> bool:
    if b"checkname" not in head[:65536].lower():
        return False
    return _lower(first_object(head)).keys() >= NEEDED | {"agent"}


def _moment(value: object, source: Source) -> Moment:
    """When the monitor made the event: at or after the fault."""
    if isinstance(value, str):
        stamp = iso(value, source)
        quality = "observation" if stamp.quality == "exact" else stamp.quality
        return Moment(Stamp(stamp.at, quality, stamp.zone_assumed), "poll", value)
    seconds, nanos = mapping(value).get("seconds"), mapping(value).get("nanos", 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int) or not (FIRST_S < seconds < LAST_S and 0 <= nanos < 10**9):
        return Moment(UNKNOWN, "poll")
    at = datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanos // 1000)
    return Moment(checked(Stamp(at, "observation"), source), "poll", f"{seconds}.{nanos:09}")


def _entities(found: Mapping[str, object]) -> dict[str, str]:
    """What the event is about, by kind of entity in upper case; the first of each."""
    pairs: dict[str, str] = {}
    listed = found.get("entitiesimpacted")
    for each in listed if isinstance(listed, list) else []:
        kind, value = (string(_lower(each).get(key)) for key in ("entitytype", "entityvalue"))
        if kind is not None and value is not None:
            pairs.setdefault(kind.upper(), value)
    return pairs


def _codes(found: Mapping[str, object]) -> list[str]:
    listed = found.get("errorcode")
    return [code for each in (listed if isinstance(listed, list) else [listed]) if (code := string(each))]


def _code_kind(check: str) -> str | None:
    """Whether a check looks for SXids or Xids. Its case decides: `SysLogsXIDError` has an `s` in front of Xid too."""
    return "sxid" if re.search("SXI[Dd]", check) else "xid" if "xid" in check.lower() else None


def _keep(collector: Collector, line: int, found: Mapping[str, object], raw: str) -> None:
    check, component, message, node = (string(found.get(key)) for key in ("checkname", "componentclass", "message", "nodename"))
    entities, codes, kind = _entities(found), _codes(found), _code_kind(check or "")
    named = device(entities.get("PCI"), entities.get("GPU_UUID") or entities.get("GPU"), None, entities.get("GPU"))
    named["device_uuid"] = named["device_uuid"] if str(named["device_uuid"]).startswith("GPU-") else None
    moment = _moment(found.get("generatedtimestamp"), collector.source)
    event = Event(
        line, moment, node or collector.source.settings.node, component, check, None, message or "", {}, raw, "nvsentinel"
    )
    is_healthy = found.get("ishealthy") is True
    action = found.get("recommendedaction", 0)
    others = [f"{kind.lower()} {value}" for kind, value in entities.items() if kind not in ("PCI", "GPU", "GPU_UUID")]
    words = {
        "check_name": check,
        "entity": ", ".join(others) or None,
        "severity_word": "fatal" if found.get("isfatal") is True else None,
        "component_word": component,
        "action_word": ACTIONS.get(action, str(action)) if isinstance(action, int) else string(action),
        "is_healthy": is_healthy,
        "message": message,
    }
    for nth, code in enumerate(codes or [None]):
        number = code_of(code)
        coded = {"value": code, "code": number, "code_kind": kind if number is not None else None}
        collector.keep("observations", observation(seen_event(event, named), nth, "health_check", **words, **coded))
    number = code_of(codes[0]) if codes else None
    if kind is not None and number is not None and not is_healthy:
        link = code_of(entities.get("NVLINK"))
        told = {"pci_bdf": named["pci_bdf"], "device_uuid": named["device_uuid"], "text": message, "is_xid_inferred": False}
        keep_fault(collector, event, {kind: number, **told, "link": link, "flags": [] if named["pci_bdf"] else ["bad_device"]})
    collector.kept += 1


def _parse(source: Source) -> Iterator[Batch]:
    collector, read = Collector(FORMAT.name, source), 0
    for line, found, text in json_lines(source):
        read += 1
        event = _lower(found)
        if found is None:
            collector.reject(line, "bad_json", text)
        elif not event.keys() >= NEEDED:
            collector.reject(line, "bad_event", text)
        else:
            _keep(collector, line, event, text)
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("nvsentinel", "1", "a line", TABLES, _claims, _parse)
