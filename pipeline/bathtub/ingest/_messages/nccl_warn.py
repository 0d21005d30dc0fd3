r"""Warnings of NCCL: `NCCL WARN`, network and socket errors above all.

    node01:4101:4188 [2] transport/net_ib.cc:2458 NCCL WARN NET/IB: Got completion from peer 10.20.88.182<48211> with
    status=12 opcode=1 len=0 vendor err 129 (Recv) localGid ::ffff:10.20.4.221 remoteGids::ffff:10.20.88.182 hca mlx5_2

Written by NCCL (src/transport/net_ib.cc, src/misc/socket.cc, src/proxy.cc) at NCCL_DEBUG=WARN and above; from 2.26 on a time
in brackets may stand first. A failed work completion reads in six ways between 2.10 and 2.30. Its status tells what it is:
12 retries exceeded (the network, or a dead peer), 5 flushed (follows an earlier error of the same queue pair). A closed
socket is a cascade: the peer left before. Hint lines are not read. A warning nobody knows is a row of kind `other`.

Rejects: net_ib_unreadable.
"""

import re

from bathtub.ingest._messages import Grammar, Reject, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, number, rank_of
from bathtub.schema import table

# node01:4101:4188 [0] transport/net_ib.cc:1295 NCCL WARN …        [2026-03-14 11:42:07] node01:4101:4188 [0] …
_WARN = re.compile(
    r"(?:(?P<host>[A-Za-z0-9][\w.-]{0,254}):(?P<pid>\d+):\d+ (?:\[(?P<local_gpu>\d+|-1)\] )?)?"
    r"(?:\S+:\d+ )?NCCL WARN (?P<text>.*)",
    re.DOTALL | re.ASCII,
)
# with error 12, opcode 0, len 0       with status=12 opcode=1 len=0       status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)
_COMPLETION = re.compile(
    r"Got completion from peer (?P<peer>\S+?)(?:<\d+>)? with (?:error |status=)(?:\w+\()?(?P<status>\d+)\)?,? "
    r"opcode[ =](?:\w+\()?(?P<opcode>\d+)",
    re.ASCII,
)
_VENDOR = re.compile(r"vendor[ _]err[ =](\d+)", re.ASCII)
_HCA = re.compile(r"\bhca (\S+)")
_OWN_GID = re.compile(r"localGid (?:::ffff:)?(\S+)")
# NET/IB : mlx5_4:1 Got async event : port error
_EVENT = re.compile(r"NET/IB ?: (?:(?P<hca>\S+?):\d+ )?Got async (?:fatal |error )?event ?: (?P<error>.*)")
_BAD_EVENTS = ("port error", "fatal", "link down", "device removed")
# Cuda failure 'out of memory'       Cuda failure 2 'out of memory'       Failed to CUDA calloc 4194304 bytes
_CUDA = re.compile(r"Cuda failure (?:\d+ )?'(?P<error>[^']*)'|Failed to CUDA \w+", re.IGNORECASE)
# collective mismatch error, local size 524288 remote size 65536
_MISMATCH = re.compile(r"peer (?P<peer>[^\s<]+)\S* collective mismatch error|Message truncated : received \d+ bytes instead of")
# socketProgress: Connection closed by remote peer node17-ib.cluster<45510>      Call to recv from 10.20.84.31<40118> failed : …
_SOCKET = re.compile(r"Connection (?:closed|reset by|refused)|Broken pipe|Call to \w+ from |Call to connect|Socket \w+ failed")
_SOCKET_PEER = re.compile(r"(?:remote peer|recv from|send to|connect to|peer) ([^\s<>]+)<\d+>", re.ASCII)
FLUSHED = 5


def parse(text: str) -> Said | None:
    """One warning; Reject(`net_ib_unreadable`) for a completion whose status cannot be read."""
    found = _WARN.search(text)
    if found is None:
        return None
    said = found["text"].strip()
    told = _completion(said) if "Got completion from peer" in said else _other(said)
    if isinstance(told, Reject):
        return told
    own = {"host": found["host"], "pid": number(found["pid"]), "local_gpu": number(found["local_gpu"])}
    return {"rank": rank_of(text), "ranks": [], "flags": [], "text": said, **own, **told}


def _completion(said: str) -> dict[str, object] | Reject:
    found = _COMPLETION.search(said)
    if found is None:
        return Reject("net_ib_unreadable")
    status = number(found["status"])
    return {
        "kind": "net_ib_error",
        "role": "cascade" if status == FLUSHED else "root",
        "status": status,
        "opcode": number(found["opcode"]),
        "vendor_err": number(_first(_VENDOR, said)),
        "hca": _first(_HCA, said),
        "address": _first(_OWN_GID, said),
        "peer": found["peer"],
    }


def _first(pattern: re.Pattern[str], said: str) -> str | None:
    found = pattern.search(said)
    return None if found is None else found[1]


def _other(said: str) -> dict[str, object]:
    if found := _EVENT.search(said):
        is_bad = any(word in found["error"] for word in _BAD_EVENTS)
        return {"kind": "net_ib_event", "role": "root" if is_bad else "context", "hca": found["hca"], "error": found["error"]}
    if found := _CUDA.search(said):
        return {"kind": "cuda_error", "role": "root", "error": found["error"]}
    if found := _MISMATCH.search(said):
        return {"kind": "mismatch", "role": "root", "peer": found["peer"]}
    if "Failed to execute operation" in said:
        return {"kind": "proxy_error", "role": "cascade"}
    if _SOCKET.search(said):
        return {"kind": "socket_closed", "role": "cascade", "peer": _first(_SOCKET_PEER, said)}
    return {"kind": "other", "role": "context"}


GRAMMAR = Grammar(
    name="nccl_warn",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"NCCL WARN",),
    parse=parse,
)
