"""Network cards: links of Ethernet and InfiniBand ports, their modules and cables, errors of the card itself.

    mlx5_core 0000:5e:00.0 ens1f0np0: Link down
    mlx5_core 0000:5e:00.0 mlx5_0: Port: 1 Link DOWN
    mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)
    mlx5_core 0000:5e:00.0: Detected insufficient power on the PCIe slot (27W)
    ib0: lost carrier
    i40e 0000:18:00.0 eno1: NIC Link is Down

Both messages of one drop are one flap, and so are several drops close together: the SQL joins them. The device is the PCI
function, so that the ports of one card stay apart. `ACCESS_REG(0x805) ... failed` is noise of a driver and firmware that do
not fit, and is out of scope.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import PCI, Pattern, first_of
from bathtub.schema import table

_MLX5 = rf"mlx5_core (?P<device>{PCI})"
_MODULE = _MLX5 + r".*Port module event(?:\[error\])?: module (?P<port>\d+), "
_CARD = (
    r"health compromised|handling bad device|[Hh]ealth issue|[Ff]irmware (?:internal|fatal) error|PCI slot is unavailable"
    r"|pci_err_detected|[Ff]atal (?:error|state)|device state|entered? error|wait_func.*[Tt]imeout|synd 0x[1-9a-f]"
)
# eno1: NIC Link is Down        tg3 0000:02:00.0 eth0: Link is down        0000:01:00.0: NIC Link is Down
_ETHERNET = rf"(?:^|\s)(?:(?P<device>{PCI})(?:: | (?=[A-Za-z])))?(?:(?P<interface>[A-Za-z][\w.@-]*): )?(?:NIC )?Link is "


def _patterns(*shapes: tuple[str, str]) -> tuple[Pattern, ...]:
    return tuple(("nic", kind, re.compile(shape)) for kind, shape in shapes)


GRAMMAR = Grammar(
    name="nic",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel", "systemd-networkd"}),
    literals=(b"mlx5_core", b"ost carrier", b" Link is "),
    parse=first_of(
        _patterns(
            ("link_down", _MLX5 + r" (?P<interface>[^\s:]+): Link down"),
            ("link_up", _MLX5 + r" (?P<interface>[^\s:]+): Link up"),
            ("link_down", _MLX5 + r" (?P<code>[^\s:]+): Port: (?P<port>\d+) Link DOWN"),
            ("link_up", _MLX5 + r" (?P<code>[^\s:]+): Port: (?P<port>\d+) Link (?:ACTIVE|INIT)"),
            ("cable_error", _MODULE + r"Cable error(?:, (?P<code>.*\S))?"),
            ("cable_unplugged", _MODULE + r"Cable unplugged"),
            ("cable_plugged", _MODULE + r"Cable (?:plugged|enabled|disabled)"),
            ("module_error", _MLX5 + r".*Port module event\[error\]: module (?P<port>\d+), (?P<code>.*\S)"),
            ("slot_power", _MLX5 + r".*Detected insufficient power on the PCIe slot(?: \((?P<code>\d+W)\))?"),
            ("card_error", _MLX5 + rf"(?!.*ACCESS_REG)[^\n]*?(?P<code>{_CARD})"),
            ("carrier_lost", r"(?:^|\s)(?P<interface>[A-Za-z][\w.@-]*): [Ll]ost carrier"),
            ("link_down", _ETHERNET + r"[Dd]own"),
            ("link_up", _ETHERNET + r"[Uu]p"),
        )
    ),
)
