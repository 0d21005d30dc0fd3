"""`dcgmi diag -j` under its old and its new root, and `dcgmi … --json` of the NVLink error counters.

    {"DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [
      {"name": "Persistence Mode", "results": [{"status": "Fail"}]}]}]}}
    {"DCGM Diagnostic": {…[{"name": "memory", "results": [{"entity_group": "GPU", "entity_id": 0, "status": "Fail",
      "warnings": [{"error_category": 1, "error_id": 52, "error_severity": 2, "warning": "…"}]}]}]}}
    {"header": ["NVLINK Error Counts", "GPU 0"], "body": {"Link 0": {"children": {"CRC Data Error": {"value": "12"}}}}}

A result is a state `diagnostic`, one row per warning; `error_id` is joined with dcgm_errors, which tells hardware from
configuration (persistence mode off is a Fail of severity config). A counter is a state `nvlink_counter`. Nothing has
a time: it is the file's collection, at or before. Old results name no GPU. Answers may stand one behind the other.

A record is a result of a test, or a counter.
Rejects: bad_record.
Quarantine: truncated_json, bad_json, file_too_large.
"""

import re
from collections.abc import Iterator, Mapping

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import code_of, mapping, string
from bathtub.ingest._json import objects, opening
from bathtub.ingest._quantities import device
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import Seen, moment, observation
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("observations"),)
LIMIT = 64 << 20
ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
HEALTHY = {"pass": True, "fail": False}
MAX_WARNINGS = 256


def _claims(head: bytes, _name: str) -> bool:
    if b'"test_categories"' not in head and b'"children"' not in head:
        return False
    keys = opening(head)
    is_health = {("", "body"), ("", "header")} <= keys and any(
        path.startswith("body.") and key == "children" for path, key in keys
    )
    return is_health or any(("", root) in keys and (root, "test_categories") in keys for root in ROOTS)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _seen(collector: Collector, line: int, raw: str, **named: str | None) -> Seen:
    return Seen(line, moment(None, collector.source), collector.source.settings.node, device(**named), {}, "dcgmi", raw)


def _results(answer: Mapping[str, object]) -> Iterator[tuple[str | None, str | None, object]]:
    """(category, test, result) of a diagnosis."""
    root = next((mapping(answer[name]) for name in ROOTS if name in answer), {})
    for category in _items(root.get("test_categories")):
        for test in _items(mapping(category).get("tests")):
            for result in _items(mapping(test).get("results")):
                yield string(mapping(category).get("category")), string(mapping(test).get("name")), result


def _serials(answer: Mapping[str, object]) -> Mapping[str | None, str | None]:
    """Serials of GPUs by number, where the answer lists its entities."""
    groups = [mapping(group) for group in _items(answer.get("entity_groups"))]
    listed = [entity for group in groups if group.get("entity_group") == "GPU" for entity in _items(group.get("entities"))]
    return {string(mapping(each).get("entity_id")): string(mapping(each).get("serial_num")) for each in listed}


def _keep_result(
    collector: Collector, line: int, found: tuple[str | None, str | None, object], serials: Mapping[str | None, str | None]
) -> None:
    category, test, result = found
    status = string(mapping(result).get("status"))
    raw = f"{category}: {test}: {status}"
    if status is None:
        collector.reject(line, "bad_record", raw)
        return
    group, number = string(mapping(result).get("entity_group")), string(mapping(result).get("entity_id"))
    is_gpu = group in (None, "GPU")
    number = number or string(mapping(result).get("gpu_id"))
    seen = _seen(collector, line, raw, number=number if is_gpu else None, serial=serials.get(number) if is_gpu else None)
    warnings = [mapping(each) for each in _items(mapping(result).get("warnings"))][:MAX_WARNINGS]
    for nth, warning in enumerate(warnings or [{}]):
        code = code_of(warning.get("error_id"))
        told = {
            "check_name": test,
            "value": status,
            "entity": None if is_gpu else f"{group} {number}",
            "code": code,
            "code_kind": "dcgm_error" if code is not None else None,
            "severity_word": string(warning.get("error_severity")),
            "component_word": category,
            "is_healthy": HEALTHY.get(status.lower()),
            "message": string(warning.get("warning")) or string(mapping(result).get("info")),
        }
        collector.keep("observations", observation(seen, nth, "diagnostic", **told))
    collector.kept += 1


def _counters(answer: Mapping[str, object]) -> Iterator[tuple[str, str, str | None]]:
    """(link, counter, value) of a list of error counters."""
    for link, found in mapping(answer.get("body")).items():
        for counter, each in mapping(mapping(found).get("children")).items():
            yield link, counter, string(mapping(each).get("value"))


def _keep_counter(collector: Collector, line: int, header: str, found: tuple[str, str, str | None]) -> None:
    link, counter, value = found
    number = re.search(r"\bGPU (\d{1,6})\b", header)
    seen = _seen(collector, line, f"{header}: {link}: {counter}: {value}", number=number[1] if number else None)
    collector.kept += 1
    collector.keep("observations", observation(seen, 0, "nvlink_counter", check_name=counter, value=value, entity=link))


def _parse(source: Source) -> Iterator[Batch]:
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    collector, read = Collector(FORMAT.name, source), 0
    for found in objects(source, ""):
        answer = mapping(found)
        serials = _serials(answer)
        header = ", ".join(each for each in _items(answer.get("header")) if isinstance(each, str))
        for result in _results(answer):
            read += 1
            _keep_result(collector, read, result, serials)
        for counter in _counters(answer):
            read += 1
            _keep_counter(collector, read, header, counter)
    yield collector.batch(read)


FORMAT = Format("dcgmi_diag", "1", "a result of a test, or a counter", TABLES, _claims, _parse)
