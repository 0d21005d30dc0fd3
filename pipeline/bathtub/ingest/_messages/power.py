"""Power supplies: what the daemons that read the event log of the BMC write (ipmievd, ipmiseld), and GPUs without their cables.

    Power Supply sensor PS1 Status - Power Supply AC lost Asserted
    SEL System Event: PS1 Status, Critical, Power Supply Failure detected
    NVRM: GPU 0000:3b:00.0: GPU does not have the necessary power cables connected.

The first is ipmitool's ipmievd: type, name of the sensor, event, and whether it holds (`Asserted`) or holds no more. The second
is FreeIPMI's ipmiseld with its default format: name of the sensor, state, event. A supply that is present again, an event that
holds no more and the state `Nominal` are ends. The kernel itself says nothing of supplies: its `power_meter` names itself at
boot only. Supplies in standby are out of scope.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import PCI, host_row
from bathtub.schema import table

_IPMIEVD = re.compile(
    r"Power Supply sensor (?:(?P<device>[^\s-].{0,40}?) )?(?:- )?(?P<code>(?:Power Supply|AC |Pre|Failure|Config).*?)"
    r"(?: (?P<state>Asserted|Deasserted))?$"
)
_IPMISELD = re.compile(
    r"SEL System Event: (?:[^,]{1,20}\d, [\d:]{5,8}, )?(?P<device>[^,]{1,64}), (?P<state>Nominal|Warning|Critical|N/A), "
    r"(?P<code>.*)"
)
_CABLE = re.compile(rf"NVRM:\s*GPU (?P<device>{PCI}): GPU does not have the necessary power cables connected")
_ENDED = frozenset({"Deasserted", "Nominal"})
# the kind while the event holds, the kind when it holds no more, the words of both daemons
_EVENTS = (
    ("psu_failed", "psu_back", re.compile(r"(?:^|Power Supply )Failure detected")),
    ("psu_input_lost", "psu_back", re.compile(r"(?:AC|input) lost")),
    ("psu_warning", "psu_back", re.compile(r"[Pp]redictive [Ff]ailure|out-of-range, but present|Config(?:uration)? [Ee]rror")),
    ("psu_back", "psu_gone", re.compile(r"^Presence [Dd]etected")),
)


def parse(text: str) -> Mapping[str, object] | None:
    """The columns of one message; None where it is about no supply, or about one in standby."""
    cable = _CABLE.search(text)
    if cable is not None:
        return host_row("power", "gpu_power_cable", cable.groupdict(), text)
    found = _IPMIEVD.match(text) or _IPMISELD.match(text)
    if found is None:
        return None
    columns = found.groupdict()
    is_over = columns.pop("state") in _ENDED
    for kind, kind_when_over, words in _EVENTS:
        if words.search(found["code"]):
            return host_row("power", kind_when_over if is_over else kind, columns, text)
    return None


GRAMMAR = Grammar(
    name="power",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel", "ipmievd", "ipmiseld"}),
    literals=(b"Power Supply", b"NVRM:"),
    parse=parse,
)
