"""What a node's object tells, found: its conditions by type, taints of the cluster, labels of HyperPod, GPUs."""

import re
from collections.abc import Iterator, Mapping

from bathtub.ingest._kubernetes import Thing, items, mapping, text

HYPERPOD = "sagemaker.amazonaws.com/"
HEALTH_LABELS = {
    "node-health-status": "node-health-status",
    "deep-health-check-status": "deep-health-check-status",
    "fault-type": "fault-types",
    "fault-reason": "fault-reasons",
    "fault-types": "fault-types",
    "fault-reasons": "fault-reasons",
}
"""The last parts of HyperPod's keys, and how they are called here: a fault's are in the plural of late, which holds."""
TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
# nvidia.com/gpu   amd.com/gpu   nvidia.com/gpu.shared   nvidia.com/mig-3g.40gb
_GPU = re.compile(r"[a-z0-9.-]{1,100}/(?:(gpu)|gpu\.shared|mig-[a-z0-9.]{1,50})")
_COUNT = re.compile(r"[0-9]{1,9}")

Condition = Mapping[str, object]


def conditions(thing: Thing) -> tuple[dict[str, Condition], list[str]]:
    """The conditions by type, the first of each, and what is wrong with the list."""
    told = mapping(thing.fields.get("status")).get("conditions")
    n_told = len(told) if isinstance(told, list) else int(told is not None)
    named = [(name, each) for each in items(told) if (name := text(each.get("type")))]
    found: dict[str, Condition] = {}
    for name, each in named:
        found.setdefault(name, each)
    return found, ["bad_condition"] * (len(named) < n_told) + ["repeated_condition"] * (len(found) < len(named))


def taints(thing: Thing) -> Iterator[tuple[str, Mapping[str, object]]]:
    """(last part of the key, taint) of the taints that the cluster itself sets."""
    for each in items(mapping(thing.fields.get("spec")).get("taints")):
        domain, slash, name = (text(each.get("key")) or "").partition("/")
        if name and domain + slash in TAINTS:
            yield name, each


def hyperpod(thing: Thing) -> dict[str, str]:
    """The labels about health, by the last part of their keys."""
    labels = mapping(thing.metadata.get("labels"))
    said = [(name, text(labels.get(HYPERPOD + key))) for key, name in HEALTH_LABELS.items()]
    return {name: value for name, value in said if value is not None}


def gpu_resources(thing: Thing) -> dict[str, str]:
    """The GPUs that the node offers, slices and shares of them too: quantities as printed, by name of the resource."""
    capacity = mapping(mapping(thing.fields.get("status")).get("capacity"))
    printed = {key: str(value) for key, value in capacity.items() if isinstance(value, str | int)}
    return {key: value for key, value in printed.items() if isinstance(key, str) and _GPU.fullmatch(key)}


def n_gpus(thing: Thing) -> int | None:
    """GPUs of the node; where it offers slices or shares, what the label of their number says; null where neither tells."""
    resources, labels = gpu_resources(thing), mapping(thing.metadata.get("labels"))
    is_sliced = "-MIG-" in (text(labels.get("nvidia.com/gpu.product")) or "")
    is_shared = (text(labels.get("nvidia.com/gpu.replicas")) or "1") not in ("0", "1")
    if is_sliced:
        return None
    if is_shared or any(found[1] is None for key in resources if (found := _GPU.fullmatch(key))):
        counted = [text(labels.get("nvidia.com/gpu.count")) or ""]
    else:
        counted = list(resources.values())
    return sum(map(int, counted)) if counted and all(map(_COUNT.fullmatch, counted)) else None
