"""How the driver's text opens, by code: a text that opens as that of another code is doubtful, and the code stays."""

import re

_CODES: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = (
    (re.compile(r"Graphics (?:SM|Exception)"), frozenset({13})),
    (re.compile(r".*MMU Fault", re.DOTALL), frozenset({31})),
    (re.compile(r"An uncorrectable double bit error"), frozenset({48})),
    (re.compile(r"Row Remapper"), frozenset({63, 64})),
    (re.compile(r"NVLink: "), frozenset({74})),
    (re.compile(r"GPU has fallen off"), frozenset({79})),
    (re.compile(r"Contained: "), frozenset({94})),
    (re.compile(r"Uncontained: "), frozenset({95})),
    (re.compile(r"Timeout after \d+s of waiting for RPC"), frozenset({119, 120})),
    (re.compile(r"GPU recovery action"), frozenset({154})),
)


def is_of_another_code(xid: int, text: str) -> bool:
    """Whether the text is one that only other codes have."""
    return any(pattern.match(text) is not None and xid not in codes for pattern, codes in _CODES)
