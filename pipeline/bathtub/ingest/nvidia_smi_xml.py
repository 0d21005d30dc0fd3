"""`nvidia-smi -q -x`: the state of every GPU of a node, as XML of the schemas v11 to v13.

    <!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
    <nvidia_smi_log><timestamp>Fri Aug  4 11:44:30 2023</timestamp>…<gpu id="00000000:01:00.0">…<gpu_temp>27 C</gpu_temp>

Tags were renamed between the schemas (power_readings, clocks_throttle_reasons, limits of temperature): all are read,
and degrees and the margin to the limit are two columns. In MIG mode utilisation and remapped rows are `N/A`: null.
A snapshot is also inventory: which UUID, serial, part number, VBIOS, InfoROM and driver was seen at which address.
Several documents may stand one behind the other (`--loop`). The document type, entities and the network are never used.
Times are local: the source's zone. `Unknown Error` and `requires reset` are null and a state of the GPU besides.

A record is a GPU; the one in which a cut document ends is rejected.
Rejects: truncated_xml, bad_device.
Quarantine: zone_required, bad_xml, xml_entities, document_too_large.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._messages._addresses import device_key
from bathtub.ingest._rows import Collector
from bathtub.ingest._smi_look import keep_gpu
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("telemetry"), table("observations"), table("inventory"))
MAX_DOCUMENT = 64 << 20
START = b"<?xml"
DEPTH = 8
LOG = ("timestamp", "driver_version")


def _claims(head: bytes, _name: str) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith((START, b"<nvidia_smi_log", b"<!DOCTYPE nvidia_smi_log")) and b"<nvidia_smi_log" in text[:2048]


def _documents(source: Source) -> Iterator[bytes]:
    """The documents of a file, one by one."""
    rest = b""
    for chunk in source.chunks():
        rest += chunk
        while (cut := rest.find(START, 1)) >= 0:
            yield rest[:cut]
            rest = rest[cut:]
        if len(rest) > MAX_DOCUMENT:
            raise Quarantine(
                "document_too_large", f"a document is longer than {MAX_DOCUMENT} bytes: this is no nvidia-smi output"
            )
    if rest.strip():
        yield rest


def _texts(element: Any, above: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """(path, text) of everything in a GPU that has no parts, with at most DEPTH tags on the way."""
    for part in element:
        if not isinstance(part.tag, str) or depth > DEPTH:
            continue
        path = f"{above}{part.tag}"
        if len(part):
            yield from _texts(part, f"{path}/", depth + 1)
        else:
            yield path, part.text or ""


def _elements(document: bytes) -> Iterator[Any]:
    """The parts of the log as they are complete; None at last where the document is cut or damaged."""
    from lxml import etree

    elements = etree.iterparse(
        BytesIO(document),
        events=("end",),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
    )
    try:
        for _, element in elements:
            above = element.getparent()
            if above is not None and above.getparent() is None:
                yield element
                element.clear()
    except etree.XMLSyntaxError:
        yield None


def _parse(source: Source) -> Iterator[Batch]:
    done = 0
    for document in _documents(source):
        if b"<!ENTITY" in document:
            raise Quarantine("xml_entities", "the document declares entities, which nvidia-smi never does: it is not read")
        collector, log, before = Collector(FORMAT.name, source), dict[str, str](), done
        for element in _elements(document.strip()):
            if element is not None and element.tag != "gpu":
                log |= {element.tag: element.text or ""} if element.tag in LOG else {}
                continue
            done += 1
            address = "" if element is None else element.get("id", "")
            if element is None:
                collector.reject(done, "truncated_xml", document[-200:].decode("utf-8", "replace"))
            elif device_key(address) is None:
                collector.reject(done, "bad_device", address)
            else:
                keep_gpu(collector, "xml", done, address, dict(_texts(element)), log)
        if not log and not collector.kept:
            raise Quarantine("bad_xml", "the document cannot be read as XML of nvidia-smi: export or copy it again")
        yield collector.batch(done - before)


FORMAT = Format("nvidia_smi_xml", "1", "a GPU", TABLES, _claims, _parse)
