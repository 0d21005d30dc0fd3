"""Events of SageMaker HyperPod: what is in their wrapping, when they happened, what they say."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bathtub.ingest._kubernetes import mapping, text
from bathtub.ingest._kubernetes._times import instant
from bathtub.ingest._rows import Row
from bathtub.ingest._times import UNKNOWN, Stamp, checked
from bathtub.source import Source

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_S, LAST_S = 946_684_800, 4_102_444_800
NAMES = {"Instance": "InstanceId", "InstanceGroup": "InstanceGroupName", "Cluster": "ClusterName"}
_NUMBER = re.compile(r"[0-9]{9,13}")
# … has detected fault type NvidiaErrorTerminate on this node …   GPU_HEALTH_CHECK_FAILED
_FAULT = re.compile(r"\bfault type ([0-9A-Za-z_-]{1,100})\b|^([0-9A-Za-z_-]{1,100})$")


def _number(value: object, unit: int, source: Source) -> tuple[Stamp, list[str]]:
    """The instant of a number, in the unit that its magnitude tells (parts of a second: 1, 1000), and whether that is another."""
    number = Decimal(value) if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool) else Decimal(0)
    told = next((each for each in (1, 1000) if FIRST_S * each <= number < LAST_S * each), None)
    if told is None:
        return UNKNOWN, ["bad_time"]
    at = EPOCH + timedelta(microseconds=round(number * 1_000_000 / told))
    return checked(Stamp(at, "exact"), source), ["other_time_unit"] * (told != unit)


def times(value: object, delivered: Mapping[str, object], source: Source) -> Row:
    """The columns of an event's time, flags among them; where it has none, the time of its delivery."""
    written = text(value) if isinstance(value, str) else value
    if written is None:
        written = text(delivered.get("time"))
    if isinstance(written, str) and _NUMBER.fullmatch(written) is None:
        stamp = instant(written, source)
        flags = ["bad_time"] * (stamp.at is None)
    else:
        stamp, flags = _number(written, 1000 if delivered else 1, source) if written is not None else (UNKNOWN, [])
    told = {"seen_at": stamp.at, "time_source": "scheduler", "time_quality": stamp.quality, "flags": flags}
    return {**told, "seen_at_raw": None if written is None else str(written)[:100]}


def unwrapped(found: Mapping[str, object]) -> Mapping[str, object]:
    """The event itself, out of what it is wrapped in."""
    detail = mapping(found.get("detail")) if "detail-type" in found else found
    inner = mapping(detail.get("EventDetails"))
    return inner if "EventId" in inner else detail


def said(event: Mapping[str, object]) -> Row:
    """What an event says: its own columns."""
    cluster, instance = text(event.get("ClusterName")), text(event.get("InstanceId"))
    if "HealthSummary" in event:
        summary = mapping(event["HealthSummary"])
        why = text(summary.get("HealthStatusReason")) or ""
        found = _FAULT.search(why)
        status = {"condition": "HealthStatus", "condition_status": text(summary.get("HealthStatus"))}
        about = {"object_kind": "Instance", "object_name": instance}
        return {**about, **status, "reason": (found[1] or found[2]) if found else None, "text": why}
    if "ClusterStatus" in event:
        status = {"condition": "ClusterStatus", "condition_status": text(event["ClusterStatus"])}
        about = {"object_kind": "Cluster", "object_name": cluster}
        return {**about, **status, "reason": None, "text": text(event.get("FailureMessage")) or ""}
    kind = text(event.get("ResourceType"))
    metadata = mapping(mapping(event.get("EventDetails")).get("EventMetadata"))
    failures = (text(mapping(each).get("FailureMessage")) for each in metadata.values())
    about = {"object_kind": kind, "object_name": text(event.get(NAMES.get(kind or "", "")))}
    return {
        **about,
        "reason": next(filter(None, failures), None),
        "text": text(event.get("Description")) or "",
        "event_type": text(event.get("EventLevel")),
    }
