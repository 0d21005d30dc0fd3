"""Errors of host memory and processors: EDAC, machine checks, the firmware's reports (GHES), pages taken out of use.

    EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1 offset:0x0 grain:32)
    mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 4: be00000000800400
    {1}[Hardware Error]: event severity: corrected
    {1}[Hardware Error]:   section_type: memory error
    Memory failure: 0x12345: recovery action for dirty LRU page: Recovered
    Memory failure: 0x12345: Sending SIGBUS to python3:4242 due to hardware memory corruption

Lines of one firmware report carry its number in braces and come in any order: `report`. The severity stands in one
line, the kind of part in another; the SQL joins them. The banner `EDAC MC: Ver:` and the drivers' own lines are no
errors. Which DIMM is in `code`.

`Memory failure` is the kernel's handling of a page that the hardware found broken: `Recovered` and `Delayed` took it out of use,
`Ignored` and `Failed` did not; the device is the number of the page, and what it held is the code. Programs that used it are
ended. It says of a machine check before it that memory was its cause.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import PCI, first_of
from bathtub.schema import table

_REPORT = r"(?:\{(?P<report>\d+)\})?\[Hardware Error\]:\s*"
_PAGE = r"Memory failure: (?P<device>0x[0-9a-f]{1,16}): "


def _error(says: str) -> re.Pattern[str]:
    return re.compile(_REPORT + says)


GRAMMAR = Grammar(
    name="hardware",
    version="2",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"EDAC ", b"[Hardware Error]", b"Memory failure: "),
    parse=first_of(
        (
            *(
                (
                    "edac",
                    kind,
                    re.compile(
                        rf"EDAC (?P<device>MC\d+): (?P<n_errors>\d+) (?P<severity_word>{word})\b(?:.*? on (?P<code>[^(]*[^( ]))?"
                    ),
                )
                for kind, word in (("edac_corrected", "CE"), ("edac_uncorrected", "UE"))
            ),
            ("edac", "edac_detail", re.compile(r"EDAC \w+ (?P<device>MC\d+): HANDLING MCE MEMORY ERROR")),
            ("mce", "page_offlined", re.compile(_PAGE + "recovery action for (?P<code>[^:]{1,80}): (?:Recovered|Delayed)")),
            ("mce", "page_in_use", re.compile(_PAGE + "recovery action for (?P<code>[^:]{1,80}): (?:Ignored|Failed)")),
            (
                "mce",
                "page_program_ended",
                re.compile(
                    _PAGE + r"(?:Sending SIGBUS to |Killing |forcibly killing )(?P<process>.{1,15}?):(?P<pid>\d+) (?:due|because)"
                ),
            ),
            ("mce", "page_detail", re.compile(_PAGE)),
            ("ghes", "ghes_corrected", _error("event severity: (?P<severity_word>corrected)")),
            ("ghes", "ghes_recoverable", _error("event severity: (?P<severity_word>recoverable)")),
            ("ghes", "ghes_fatal", _error("event severity: (?P<severity_word>fatal)")),
            ("ghes", "ghes_info", _error("event severity: (?P<severity_word>info)")),
            ("ghes", "ghes_memory", _error("section_type: (?P<code>memory error)")),
            ("ghes", "ghes_pcie", _error("section_type: (?P<code>PCIe error)")),
            ("ghes", "ghes_processor", _error("section_type: (?P<code>.*processor error)")),
            ("ghes", "ghes_device", _error(rf"device_id: (?P<device>{PCI})")),
            ("ghes", "ghes_part", _error(r"fru_text: (?P<code>\S.*)")),
            ("mce", "mce_exception", _error(r"(?P<device>CPU ?:?\d+)?[^M]*Machine Check Exception(?:: (?P<code>.*))?")),
            ("mce", "mce_uncorrected", _error("(?P<severity_word>Uncorrected|Deferred) error")),
            ("mce", "mce_corrected", _error("(?P<severity_word>Corrected) error")),
            ("mce", "mce_logged", _error("Machine check events logged")),
            ("ghes", "ghes_detail", re.compile(r"\{(?P<report>\d+)\}\[Hardware Error\]:")),
            ("mce", "mce_detail", re.compile(r"\[Hardware Error\]:")),
        )
    ),
)
