"""How one export of `sacct` is laid out: its columns, its delimiter, and what its cells may look like."""

import re
from dataclasses import dataclass
from functools import cached_property

from bathtub.ingest._slurm_values import EPOCH, LOCAL_TIME, OFFSET, SHORT_STATES, STATES
from bathtub.source import Quarantine, Settings

# Every field that sacct has printed from 20.02 to 26.05 (`sacct -e`), in the case of its headers.
_FIELDS = """
Account AdminComment AllocCPUS AllocGRES AllocNodes AllocTRES AssocID AveCPU AveCPUFreq AveDiskRead AveDiskWrite AvePages AveRSS
AveVMSize BlockID Cluster Comment Constraints ConsumedEnergy ConsumedEnergyRaw Container CPUTime CPUTimeRAW DBIndex
DerivedExitCode Elapsed ElapsedRaw Eligible End Exclusive ExitCode Extra FailedNode Flags GID Group JobID JobIDRaw JobName
Layout Licenses MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages
MaxPagesNode MaxPagesTask MaxRSS MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU MinCPUNode
MinCPUTask NCPUS NNodes NodeList NTasks OriginalSLUID OverSubscribe Partition Planned PlannedCPU PlannedCPURAW Priority QOS
QOSRAW QOSREQ Reason ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin ReqCPUS ReqGRES ReqMem ReqNodes ReqReservation
ReqTRES Reservation ReservationId Reserved Restarts ResvCPU ResvCPURAW SegmentSize SLUID Start State StdErr StdIn StdOut
Submit SubmitLine Suspended SystemComment SystemCPU Timelimit TimelimitRaw TotalCPU TRESUsageInAve TRESUsageInMax
TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode TRESUsageInMinTask TRESUsageInTot TRESUsageOutAve
TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask
TRESUsageOutTot UID User UserCPU WCKey WCKeyID WorkDir
"""
FIELDS = {name.lower(): name for name in _FIELDS.split()}
FREE_TEXT = frozenset({
    "JobName", "SubmitLine", "Comment", "AdminComment", "SystemComment", "WorkDir", "Reason", "StdErr", "StdIn", "StdOut",
    "Extra", "Constraints",
})  # fmt: skip

# 123   100_4   100_[1-3,7]   100+1   123.batch   100_4.0+1
JOB_ID = (
    r"(?P<base_job_id>[0-9]{1,10})(?:_(?P<array_task>[0-9]{1,10}|\[[^\]\n]*\]))?(?:\+(?P<het_offset>[0-9]{1,6}))?"
    r"(?:\.(?P<step>[0-9A-Za-z_]+)(?:\+(?P<het_component>[0-9]{1,6}))?)?"
)
JOB_OR_STEP = r"[0-9]{1,10}(?:\.[0-9A-Za-z_]+)?"
JOB_ID_RAW = r"[0-9]{1,10}(?:\.[0-9A-Za-z_]+(?:\+[0-9]{1,6})?)?"
TIME = f"(?:{LOCAL_TIME}{OFFSET}?|{EPOCH}|Unknown|None)?"
KNOWN_STATE = rf"(?:{'|'.join(sorted(STATES | set(SHORT_STATES)))}|\?)(?: by [0-9]+)?"
_DURATION = r"(?:(?:[0-9]+-)?(?:[0-9]+:)?[0-9]+:[0-9]+(?:\.[0-9]+)?|INVALID)?"
_NUMBER = "[0-9]*"
_SIGNED = "-?[0-9]*"

_IDS = {"JobID": JOB_ID, "JobIDRaw": JOB_ID_RAW}
_TIMES = dict.fromkeys(("Submit", "Start", "End", "Eligible"), TIME)
STRICT = {
    **_IDS,
    "State": KNOWN_STATE,
    **_TIMES,
    **dict.fromkeys(("ExitCode", "DerivedExitCode"), "(?:[0-9]+:[0-9]+)?"),
    **dict.fromkeys(("Elapsed", "Suspended"), _DURATION),
    "ElapsedRaw": _SIGNED,
    "NNodes": _NUMBER,
}
LOOSE = {**_IDS, "State": r"[A-Z_?]+(?: by [0-9]+)?", **_TIMES}
FINE = {
    **STRICT,
    **dict.fromkeys(("TotalCPU", "UserCPU", "SystemCPU", "CPUTime"), _DURATION),
    **dict.fromkeys(("NCPUS", "AllocCPUS", "AllocNodes", "UID", "GID", "DBIndex", "NTasks"), _NUMBER),
    **dict.fromkeys(("AllocTRES", "ReqTRES"), "(?:[^=,]+=[^=,]*(?:,[^=,]+=[^=,]*)*)?"),
}
"""What cells look like: STRICT makes a line a record by itself, LOOSE lets a new state pass, FINE chooses among readings."""

# cpu=96,gres/gpu:a100=8,mem=62500G   n[001-003,007],gpu5
_TRES_ITEM = "[A-Za-z][A-Za-z0-9_.:/-]*=[^=,]*"
_TRES = f"(?:{_TRES_ITEM}(?:,{_TRES_ITEM})*)?"
_NODE = r"(?:[A-Za-z0-9_.-]|\[[0-9,-]+\])+"
_NODES = rf"(?:{_NODE}(?:,{_NODE})*|None assigned|\(null\)|N/A)?"
LISTS = {
    **dict.fromkeys(("NodeList", "FailedNode"), _NODES),
    **{name: _TRES for name in FIELDS.values() if name in {"AllocTRES", "ReqTRES"} or name.startswith("TRESUsage")},
}
_OTHER_LISTS = frozenset({
    "AllocGRES", "Flags", "Licenses", "Partition", "QOSREQ", "ReqGRES", "Reservation", "ReqReservation",
})  # fmt: skip
SHARED = {
    **{name: "[^,]*" for name in FIELDS.values() if name not in FREE_TEXT},
    **dict.fromkeys(_OTHER_LISTS, "[^=]*"),
    **FINE,
    **LISTS,
}
"""What cells look like where the delimiter may stand in lists: LISTS those of resources and nodes, SHARED all."""
MIN_DOUBTED = 2
_LISTED = re.compile(r"[A-Za-z0-9 ,:=+\-._/\[\]()%@]+")

COMMAND = (
    "sacct -a -D -P -S <from> -E <to> -o JobID,JobIDRaw,Submit,Start,End,ElapsedRaw,State,ExitCode,NodeList,AllocTRES,JobName"
)
_NAME_AND_DELIMITER = re.compile(r"[A-Za-z]*([^A-Za-z ,\r\n]+)[A-Za-z]")  # the first column may be blank
_FIXED_HEADER = re.compile(r"\s*[A-Za-z]+(?:\s+[A-Za-z]+)+\s*")
_RULER = re.compile(r"\s*-+(?:\s+-+)+\s*")


@dataclass(frozen=True)
class Layout:
    """Columns in order, the delimiter, whether every row ends with one (`-p`), and whether lines end in CR LF."""

    names: tuple[str, ...]
    delimiter: str
    is_trailing: bool = False
    is_crlf: bool = False

    @property
    def n_delimiters(self) -> int:
        """Delimiters of a row that holds none in its text."""
        return len(self.names) - 1 + self.is_trailing

    @property
    def shape(self) -> tuple[tuple[str, ...], str, bool]:
        """What makes two headers the same."""
        return self.names, self.delimiter, self.is_trailing

    @cached_property
    def free_text(self) -> tuple[int, ...]:
        """Positions of the columns that may hold anything."""
        return tuple(at for at, name in enumerate(self.names) if name in FREE_TEXT)

    @cached_property
    def is_shared(self) -> bool:
        """Whether the delimiter may stand in cells that Slurm writes, as a comma in lists: only shapes tell where those end."""
        return _LISTED.fullmatch(self.delimiter) is not None

    @cached_property
    def holders(self) -> frozenset[int]:
        """Positions of the columns whose cells may hold the delimiter."""
        if not self.is_shared:
            return frozenset(self.free_text)
        if self.delimiter != ",":
            return frozenset(range(len(self.names)))
        closed = SHARED.keys() - LISTS.keys() - _OTHER_LISTS - {"JobID"}
        return frozenset(at for at, name in enumerate(self.names) if name not in closed)

    @cached_property
    def ends_in_text(self) -> bool:
        """Whether only the last column's text can go on behind a full line: nothing closes it, and no record opens in text."""
        return self.last_is_open and self.free_text[0] > 0

    @cached_property
    def is_loose(self) -> bool:
        """Whether nothing behind the last free text shows where it ends: no state, no id, but cells that may be anything.

        Or a line break may hide which of several texts a delimiter stands in.
        """
        if self.last_is_open:
            return self.is_open_at_both_ends and len(self.free_text) > MIN_DOUBTED
        if self.is_shared and self.free_text:
            return True
        anchors = [shape for at, shape in self.checks["strict"] if self.free_text and at > self.free_text[-1]]
        return bool(self.free_text) and all(shape.fullmatch("") for shape in anchors)

    @cached_property
    def opens_in_text(self) -> bool:
        """Whether a line with a job id in its place may yet begin within a text, whose rest would stand in other columns."""
        place = self.names.index("JobID")
        return place > 1 and self.free_text[:1] < (place,) and bool(self.free_text)

    @cached_property
    def is_open_at_both_ends(self) -> bool:
        """Whether a line between two records may be the end of the one's text or the beginning of the other's."""
        return self.last_is_open and self.free_text[0] == 0

    @property
    def last_is_open(self) -> bool:
        """Whether nothing closes the last column, and it is free text."""
        return not self.is_trailing and self.free_text[-1:] == (len(self.names) - 1,)

    @cached_property
    def checks(self) -> dict[str, tuple[tuple[int, re.Pattern[str]], ...]]:
        """Position and shape of the columns that have one, for each degree of strictness."""
        degrees = {"strict": STRICT, "loose": LOOSE, "fine": FINE}
        if self.is_shared:
            degrees = {"strict": {**STRICT, **LISTS}, "loose": {**LOOSE, **LISTS}, "fine": SHARED}
        return {
            degree: tuple((at, re.compile(shapes[name])) for at, name in enumerate(self.names) if name in shapes)
            for degree, shapes in degrees.items()
        }

    def fits(self, cells: list[str], degree: str) -> bool:
        """Whether the cells look like a record, and line breaks stand in free text only."""
        broken = all("\n" not in cell or at in self.free_text for at, cell in enumerate(cells))
        return broken and all(shape.fullmatch(cells[at]) for at, shape in self.checks[degree])

    def can_hold(self, at: int, cell: str) -> bool:
        """Whether a cell may stand in a column, as the finest shapes say."""
        shape = self._finest.get(at)
        return ("\n" not in cell or at in self.free_text) and (shape is None or shape.fullmatch(cell) is not None)

    @cached_property
    def _finest(self) -> dict[int, re.Pattern[str]]:
        return dict(self.checks["fine"])

    @cached_property
    def n_opening(self) -> int:
        """How many columns stand before the first whose cells may hold the delimiter, an array's tasks in a job id aside."""
        open_ended = [at for at in self.holders if self.names[at] != "JobID"]
        return min(open_ended, default=len(self.names))

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        """The first columns of a line, whose delimiter may stand in its job id."""
        shapes = [{**SHARED, **LOOSE}[name] for name in self.names[: self.n_opening]]
        cells = [re.sub(r"\?P<[a-z_]+>", "?:", f"(?:{shape})") for shape in shapes]
        return re.compile("".join(cell + re.escape(self.delimiter) for cell in cells))

    def can_open(self, line: str) -> bool:
        """Whether a record over several lines, or with surplus delimiters, can begin with a line.

        The columns before the first free text stand in it whole, since a line break is in free text only.
        """
        if self.is_shared:
            return self._opening.match(line) is not None
        head = self.n_opening
        parts = line.split(self.delimiter, head)
        return len(parts) > head and all(shape.fullmatch(parts[at]) for at, shape in self.checks["loose"] if at < head)

    def opens_with_id(self, line: str) -> bool:
        """Whether a record opens with a line and its job id stands in it: no text is read on over such a line."""
        return bool(self.free_text) and self.names.index("JobID") < self.n_opening and self.can_open(line)

    def looks_torn(self, line: str) -> bool | None:
        """Whether a line may be what is left of a record: what stands in it whole has the shape of its column.

        None where no column in it has a shape.
        """
        parts = line.split(self.delimiter)
        head = min([self.n_opening, max(1, len(parts) - 1)]) if self.free_text else max(1, len(parts) - 1)
        shapes = [(at, shape) for at, shape in self.checks["loose"] if at < head]
        return all(shape.fullmatch(parts[at]) for at, shape in shapes) if shapes else None

    def can_close(self, line: str) -> bool:
        """Whether it can end with a line: the columns behind the last free text stand in it whole."""
        if not self.free_text or self.is_shared:
            return self.is_shared
        tail = len(self.names) - 1 - self.free_text[-1]
        parts = line.rsplit(self.delimiter, tail + self.is_trailing)
        first = self.free_text[-1]
        whole = len(parts) > tail + self.is_trailing
        return whole and all(shape.fullmatch(parts[at - first]) for at, shape in self.checks["strict"] if at > first)


def read_header(line: str, delimiter: str | None = None, *, is_strict: bool = True) -> Layout | None:
    """The layout that a header line gives; None where it is none.

    Strict: JobID and State in the case in which sacct prints them, and every name a field of sacct.
    """
    bare = line.lstrip("\ufeff").removesuffix("\r")
    found = _NAME_AND_DELIMITER.match(bare)
    chosen = delimiter or (found[1] if found else None)
    if not chosen or chosen not in bare:
        return None
    names = bare.split(chosen)
    is_trailing = names[-1] == ""
    named = tuple(FIELDS.get(name.lower(), name) for name in names[: len(names) - is_trailing])
    unknown = {name for name in named[not named[0] :] if name.lower() not in FIELDS}
    if "JobID" not in names or (is_strict and ("State" not in names or unknown)):
        return None
    return Layout(named, chosen, is_trailing, line.endswith("\r"))


def configured(settings: Settings, lines: list[str]) -> Layout:
    """The layout of text without a header: columns of the settings, the trailing delimiter by what most full lines have."""
    names = tuple(FIELDS.get(name.partition("%")[0].lower(), name) for name in settings.columns)
    delimiter = settings.delimiter or "|"
    if "JobID" not in names:
        raise Quarantine("columns_required", "the configured columns lack JobID: name them as in `sacct -o`")
    filled = [line for line in lines if not is_blank(line)]
    if filled and len(names) > 1 and not any(delimiter in line for line in filled):
        refuse_fixed_width(filled)
    n_crlf = sum(line.endswith("\r") for line in filled)
    bare = [line.removesuffix("\r") for line in filled]
    n_trailing = sum(line.endswith(delimiter) and line.count(delimiter) >= len(names) for line in bare)
    n_plain = sum(not line.endswith(delimiter) and line.count(delimiter) >= len(names) - 1 for line in bare)
    return Layout(names, delimiter, n_trailing > n_plain, 2 * n_crlf > len(filled))


def is_fixed_width(lines: list[str]) -> bool:
    """Whether the lines open with the header and ruler that sacct prints without -P."""
    if len(lines) <= 1 or not _FIXED_HEADER.fullmatch(lines[0]) or not _RULER.fullmatch(lines[1]):
        return False
    names = lines[0].split()
    return "JobID" in names and all(name.lower() in FIELDS for name in names)


def refuse_fixed_width(lines: list[str]) -> None:
    """Raises Quarantine: columns cut to width cannot be read back."""
    raise Quarantine("fixed_width", f"columns are cut to width, as in {lines[0][:60]!r}: run `{COMMAND}`")


def is_blank(line: str) -> bool:
    """Whether a line holds nothing; a delimiter that Unicode takes for a blank is something."""
    return not line.strip(" \t\r")


def is_message(line: str) -> bool:
    """Whether a line is the client's own (stderr mixed in), or the heading of a cluster."""
    return line.startswith(("sacct: ", "CLUSTER: "))
