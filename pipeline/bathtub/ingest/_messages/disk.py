"""Disks and local file systems: NVMe, block layer, XFS, EXT4.

    nvme nvme0: I/O 5 QID 3 timeout, reset controller
    nvme nvme0: Disabling device after reset failure: -19
    blk_update_request: I/O error, dev nvme2n1, sector 264192 op 0x1:(WRITE) flags 0x1000 phys_seg 4 prio class 0
    XFS (md127): log I/O error -5
    EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm sshd: reading directory lblock 0
    EXT4-fs (sda1): Remounting filesystem read-only

Lines of mounting, recovery and probing are out of scope, and so is the buffer cache's echo of its device's error. The device
is the name in the line: an array of disks (md127) and its members are different devices here, joined by time.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import Pattern, first_of
from bathtub.schema import table

_NVME = r"nvme (?P<device>nvme\d+): "
_XFS = r"XFS \((?P<device>[^)]*)\):? "


def _patterns(*shapes: tuple[str, str]) -> tuple[Pattern, ...]:
    return tuple(("disk", kind, re.compile(shape)) for kind, shape in shapes)


GRAMMAR = Grammar(
    name="disk",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"nvme nvme", b"error, dev ", b"XFS (", b"EXT4-fs"),
    parse=first_of(
        _patterns(
            ("nvme_polled", _NVME + r".*QID \d+ timeout, completion polled"),
            ("nvme_timeout", _NVME + r".*QID \d+ timeout(?:, (?P<code>.*\S))?"),
            (
                "nvme_disabled",
                _NVME + r"(?:Disabling device after reset|Removing after probe) failure(?: status)?: (?P<code>-?\d+)",
            ),
            ("nvme_down", _NVME + r"(?:controller is down|Device not ready)(?:.*CSTS=(?P<code>0x[0-9A-Fa-f]+))?"),
            ("medium_error", r"critical (?P<code>medium error), dev (?P<device>[^\s,]+)"),
            ("xfs_io_error", _XFS + r"(?:log|metadata) I/O error(?:.*?(?P<code>-\d+|error \d+))?"),
            ("xfs_shutdown", _XFS + r".*[Ss]hut(?:ting)? ?down"),
            ("xfs_corruption", _XFS + r".*(?:Corruption|corruption detected)"),
            ("block_io_error", r"(?:^|\s)I/O error, dev (?P<device>[^\s,]+), sector (?P<code>\d+)"),
            ("ext4_error", r"EXT4-fs error \(device (?P<device>[^)]*)\)(?:: (?P<code>\w+))?"),
            ("ext4_warning", r"EXT4-fs warning \(device (?P<device>[^)]*)\)(?:: (?P<code>\w+))?"),
            ("read_only", r"EXT4-fs \((?P<device>[^)]*)\): Remounting filesystem read-only"),
        )
    ),
)
