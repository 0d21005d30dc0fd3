"""PCI addresses and numbers as the GPU driver's lines write them."""

import re

MAX_DIGITS = 10
_BDF = re.compile(r"(?:pci:)?(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?")
_WORD = re.compile(r"0x([0-9A-Fa-f]{1,15})\b")


def device_key(address: str | None) -> str | None:
    """`domain:bus:device`, lower case, four-digit domain, no function; None where it is not an address."""
    found = _BDF.fullmatch((address or "").strip().lower())
    if found is None:
        return None
    domain = (found[1] or "0000").lstrip("0").rjust(4, "0")
    return f"{domain}:{found[2]}:{found[3]}"


def hex_words(text: str) -> list[int]:
    """The words in hexadecimal of a list, in order; one that is cut in the middle cannot be told from a whole one."""
    return [int(word, 16) for word in _WORD.findall(text)]
