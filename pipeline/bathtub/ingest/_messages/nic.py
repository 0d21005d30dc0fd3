"""Network cards: links of Ethernet and InfiniBand ports, their modules and cables, errors of the card itself.

    mlx5_core 0000:5e:00.0 ens1f0np0: Link down
    mlx5_core 0000:5e:00.0 mlx5_0: Port: 1 Link DOWN
    mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)
    mlx5_core 0000:5e:00.0: Detected insufficient power on the PCIe slot (27W)
    ib0: lost carrier
    i40e 0000:18:00.0 eno1: NIC Link is Down
    bond0: (slave ens1f0np0): link status definitely down, disabling slave
    NETDEV WATCHDOG: ens1f0np0 (mlx5_core): transmit queue 3 timed out

Both messages of one drop are one flap, and so are several drops close together: the SQL joins them. The device is the PCI
function, so that the ports of one card stay apart. What a bond says is about its member, and the bond is the code. A queue that
is not emptied while the link is up is an error of the card. `ACCESS_REG(0x805) ... failed` is noise of a driver and firmware
that do not fit, and is out of scope; so is a bond's announcement of a link that may still come back.
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
_NAME = r"[A-Za-z][\w.@-]{0,30}"
# bond0: (slave eth0): link status definitely down, disabling slave
_BOND = rf"(?:^|\s)(?P<code>{_NAME}): \(slave (?P<interface>{_NAME})\): link status definitely "
# bond0: link status definitely down for interface eth0, disabling it (older kernels)
_OLD_BOND = rf"(?:^|\s)(?P<code>{_NAME}): link status definitely %s for interface (?P<interface>{_NAME})"
# mlx5_core 0000:5e:00.0 eth0: NETDEV WATCHDOG: CPU: 5: transmit queue 3 timed out 5120 ms
_WATCHDOG = (
    rf"(?:^|\s)(?:(?P<device>{PCI}) )?(?:(?P<interface>{_NAME}): )?NETDEV WATCHDOG: CPU: \d+: "
    r"transmit (?P<code>queue \d+) timed out"
)
# NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out
_OLD_WATCHDOG = rf"NETDEV WATCHDOG: (?P<interface>{_NAME})(?: \([^)]{{0,64}}\))?: transmit (?:(?P<code>queue \d+) )?timed out"


def _patterns(*shapes: tuple[str, str]) -> tuple[Pattern, ...]:
    return tuple(("nic", kind, re.compile(shape)) for kind, shape in shapes)


GRAMMAR = Grammar(
    name="nic",
    version="2",
    table=table("host_faults"),
    emitters=frozenset({"kernel", "systemd-networkd"}),
    literals=(b"mlx5_core", b"ost carrier", b" Link is ", b"link status def", b"NETDEV WATCHDOG"),
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
            (
                "transmit_timeout",
                _MLX5 + r"(?: (?P<interface>[^\s:]+))?: TX timeout (?:detected|on queue: (?P<code>\d+))",
            ),
            ("transmit_timeout", _WATCHDOG),
            ("transmit_timeout", _OLD_WATCHDOG),
            ("card_error", _MLX5 + rf"(?!.*ACCESS_REG)[^\n]*?(?P<code>{_CARD})"),
            ("carrier_lost", r"(?:^|\s)(?P<interface>[A-Za-z][\w.@-]*): [Ll]ost carrier"),
            ("link_down", _BOND + "down"),
            ("link_up", _BOND + "up"),
            ("link_down", _OLD_BOND % "down"),
            ("link_up", _OLD_BOND % "up"),
            ("link_down", _ETHERNET + r"[Dd]own"),
            ("link_up", _ETHERNET + r"[Uu]p"),
        )
    ),
)
