"""What dcgm-exporter and nvidia_gpu_exporter show to Prometheus, scraped into a file.

    # HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
    DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-5f0c…",pci_bus_id="00000000:3B:00.0",Hostname="gpu-a01"} 41

The samples of a GPU in one scrape are one row; a series that comes again begins the next scrape. There is no time
unless the line ends in one (milliseconds): then it is the file's collection, at or before. Blank sentinels are null,
tested in the field's own type; a field that DCGM left blank (it stops asking after Xid 119 and 120) is also a state
`missing_data`. DCGM_FI_DEV_XID_ERRORS keeps its last code for ever: its first value and each change are states
`xid_gauge` (0: none so far), as those of NVSwitches are `sxid_gauge`; DCGM_EXP_XID_ERRORS_COUNT gives `xid_count`.
Counters of time have the unit of their help text; without one it is ns, and `flags` say `unit_assumed`.

A record is a sample line; fields that are no column are out of scope.
Rejects: bad_metric.
Quarantine: line_too_long.
"""

import re
from collections.abc import Iterator

from bathtub.ingest import Batch, Format
from bathtub.ingest._metrics import metrics
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS
from bathtub.ingest._scrapes import Scrape, add, column_of, flush
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("telemetry"), table("observations"))
_CLAIM = re.compile(
    rb"^(?:# (?:HELP|TYPE) (?:DCGM_(?:FI|EXP)_|nvidia_smi_)|DCGM_(?:FI|EXP)_[A-Z0-9_]+(?:\{| -?\d)|nvidia_smi_[a-z0-9_]+\{uuid=)",
    re.MULTILINE,
)


def _claims(head: bytes, _name: str) -> bool:
    first = head.lstrip()[:1]
    return first not in (b"{", b"[", b"<") and _CLAIM.search(head) is not None and head[:64].lstrip()[:1] in b"#DdNn"


def _parse(source: Source) -> Iterator[Batch]:
    collector, scrape, units, read = Collector(FORMAT.name, source), Scrape(), dict[str, str](), 0
    for metric in metrics(source, units):
        known_as = column_of(metric)
        if metric.series in scrape.series:
            flush(collector, scrape)
            if read >= BATCH_ROWS:
                yield collector.batch(read)
                collector, read = Collector(FORMAT.name, source), 0
        read += 1
        if known_as is not None and metric.labels is None:
            collector.reject(metric.line, "bad_metric", metric.raw)
        elif known_as is not None:
            collector.kept += 1
            add(scrape, metric, known_as, units)
    flush(collector, scrape)
    yield collector.batch(read)


FORMAT = Format("dcgm_exporter", "1", "a sample line", TABLES, _claims, _parse, rows_span_records=True)
