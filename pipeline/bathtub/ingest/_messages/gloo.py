r"""Errors of gloo, PyTorch's CPU backend.

    [rank 3] RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 9000ms for
    recv operation to complete
    … gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.20.0.4]:51870. …
    … gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 132 vs 128. …

A timeout is a waiter's; a closed or reset connection is a cascade. A wrong length is printed by the receiver: the ranks
disagree on a size, and the writer of the line need not be the one that is wrong.
"""

import re

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, number, writer
from bathtub.schema import table

_WAIT = re.compile(r"Timed out waiting (?P<timeout_ms>\d+)ms for (?P<op>\w+) operation", re.ASCII)
_LENGTH = re.compile(r"op\.preamble\.length <= op\.nbytes\. (?P<sizes>\d+ vs \d+)", re.ASCII)
_CLOSED = re.compile(r"Connection (?:closed|reset) by peer|Broken pipe|Connection refused")
_PEER = re.compile(r"\[(?P<peer>[0-9a-fA-F.:]+)\]:\d+", re.ASCII)


def parse(text: str) -> Said | None:
    """One error of gloo's transport."""
    if "gloo/transport/" not in text:
        return None
    common = {**writer(text), "text": text.rpartition("gloo/transport/")[2].strip()}
    if found := _WAIT.search(text):
        return {**common, "kind": "gloo_timeout", "role": "waiter", "op": found["op"], "timeout_ms": number(found["timeout_ms"])}
    if _LENGTH.search(text):
        return {**common, "kind": "gloo_mismatch", "role": "root"}
    if _CLOSED.search(text):
        peer = _PEER.search(text)
        return {**common, "kind": "socket_closed", "role": "cascade", "peer": peer["peer"] if peer else None}
    return None


GRAMMAR = Grammar(
    name="gloo",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"gloo/transport/",),
    parse=parse,
)
