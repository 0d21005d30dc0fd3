"""`nvidia-smi -q`: the state of every GPU of a node, as text for people.

    ==============NVSMI LOG==============
    Timestamp                                 : Fri Aug  4 11:44:30 2023
    GPU 00000000:01:00.0
        Temperature
            GPU Current Temp                  : 27 C

What a line belongs to is told by its indentation; names are compared without regard to case, since they changed. With
`-d ROW_REMAPPER` and the like only some sections stand there. Several logs may stand one behind the other (`--loop`).
A snapshot is also inventory, as in nvidia_smi_xml. Times are local: the source's zone. `Unknown Error` and `requires
reset` are null and a state of the GPU besides.

A record is a GPU.
Rejects: bad_device.
Quarantine: zone_required, line_too_long, gpu_too_long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._messages._addresses import device_key
from bathtub.ingest._numbered import numbered
from bathtub.ingest._rows import Collector
from bathtub.ingest._smi_look import keep_gpu
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("telemetry"), table("observations"), table("inventory"))
RULER = b"==NVSMI LOG=="
MAX_TEXTS = 20_000
BATCH_GPUS = 4096
LOG = {"timestamp": "timestamp", "driver version": "driver_version"}
# GPU 00000000:01:00.0
_GPU = re.compile(r"GPU ([0-9A-Fa-f:.]{1,40})\s*")
#     GPU Current Temp                  : 27 C
_LINE = re.compile(r"( *)([^:\s][^:]{0,99}?)\s*(?:: (.*)|:)?")


@dataclass
class Gpu:
    """A GPU as its lines come: the line it begins in, its address, its texts by path, the headings above."""

    line: int
    address: str
    log: dict[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    above: list[tuple[int, str]] = field(default_factory=list)

    def add(self, indent: int, name: str, value: str | None) -> None:
        """One line below the GPU's own."""
        while self.above and self.above[-1][0] >= indent:
            self.above.pop()
        path = "/".join([*(heading for _, heading in self.above), name.lower()])
        self.above.append((indent, name.lower()))
        if value is not None and len(self.texts) < MAX_TEXTS:
            self.texts.setdefault(path, value)
        elif value is not None:
            raise Quarantine(
                "gpu_too_long", f"line {self.line}: more than {MAX_TEXTS} values of one GPU: this is no nvidia-smi output"
            )


def _claims(head: bytes, _name: str) -> bool:
    return RULER in head[:4096] and re.search(rb"^GPU [0-9A-Fa-f]{8}:", head, re.MULTILINE) is not None


def _keep(collector: Collector, gpu: Gpu) -> None:
    if device_key(gpu.address) is None:
        collector.reject(gpu.line, "bad_device", gpu.address)
    else:
        keep_gpu(collector, "text", gpu.line, gpu.address, gpu.texts, gpu.log)


def _gpus(source: Source) -> Iterator[Gpu]:
    """The GPUs of a file, each when it is complete."""
    gpu, log = None, dict[str, str]()
    for number, raw in numbered(source):
        text = raw.decode("utf-8", "replace").rstrip()
        start, found = _GPU.fullmatch(text), _LINE.fullmatch(text.expandtabs(4))
        if gpu is not None and (start or RULER.decode() in text):
            yield gpu
            gpu = None
        if start is not None:
            gpu = Gpu(number, start[1], dict(log))
        elif found is not None and found[1] and gpu is not None:
            gpu.add(len(found[1]), found[2], found[3])
        elif found is not None and found[3] is not None and found[2].lower() in LOG:
            log[LOG[found[2].lower()]] = found[3]
    if gpu is not None:
        yield gpu


def _parse(source: Source) -> Iterator[Batch]:
    collector, read = Collector(FORMAT.name, source), 0
    for gpu in _gpus(source):
        read += 1
        _keep(collector, gpu)
        if read >= BATCH_GPUS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("nvidia_smi_q", "1", "a GPU", TABLES, _claims, _parse)
