r"""The report of PyTorch's desync debugging (TORCH_NCCL_DESYNC_DEBUG): who joined which collective.

    - To our best knowledge, ranks [5] are the lagging ranks that caused this timeout. They never joined any collectives
      [0, 1, 3] joined but didn't finish collective #18 (count from 1)
      [2] finished collective #17, but didn't join collective #18 (count from 1)

Written by torch/csrc/distributed/c10d/TraceUtils.h (1.13 on). Ranks are those of the process group, which the report does
not name. The snapshot of the latest states behind it says the same again and is not read.
"""

import re

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, number, ranks_in, writer
from bathtub.schema import table

_LIST = r"\[(?P<ranks>\d+(?:, ?\d+)*)\]"
_JOINED = re.compile(_LIST + r" joined but didn't finish collective #(?P<seq>\d+)", re.ASCII)
_ABSENT = re.compile(_LIST + r" finished collective #(?P<done>\d+), but didn't join collective #(?P<seq>\d+)", re.ASCII)
_NEVER = re.compile(r"ranks " + _LIST + r" are the lagging ranks that caused this timeout", re.ASCII)


def parse(text: str) -> Said | None:
    """One line of the report: ranks that did not come are roots, those that joined are waiters."""
    common = {**writer(text), "kind": "desync", "text": text.strip()}
    if found := _ABSENT.search(text):
        numbers = {"seq": number(found["seq"]), "last_completed": number(found["done"])}
        return {**common, "role": "root", "ranks": ranks_in(found["ranks"]), **numbers}
    if found := _JOINED.search(text):
        return {**common, "role": "waiter", "ranks": ranks_in(found["ranks"]), "seq": number(found["seq"])}
    found = _NEVER.search(text)
    return {**common, "role": "root", "ranks": ranks_in(found["ranks"])} if found else None


GRAMMAR = Grammar(
    name="desync",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"collective #", b"lagging ranks"),
    parse=parse,
)
