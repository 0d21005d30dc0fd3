r"""CUDA errors as PyTorch prints them.

    [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of …
    [rank3]:[E314 11:42:07.3 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread
    terminated with exception: CUDA error: uncorrectable ECC error encountered

The words behind `CUDA error:` are those of cudaGetErrorString (CUDA runtime API); they are kept in `error` up to the end of
the sentence. The rank is the global one in front of the line, where there is one.
"""

import re

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, number, writer
from bathtub.schema import table

_ERROR = re.compile(r"CUDA error: (?P<error>[^.\n]{1,200})")
_MEMORY = re.compile(r"CUDA out of memory\b(?:.*?\bGPU (?P<gpu>\d{1,3})\b)?", re.ASCII)


def parse(text: str) -> Said | None:
    """One CUDA error of the process that prints it."""
    common = {**writer(text), "kind": "cuda_error", "role": "root", "text": text.strip()}
    if found := _MEMORY.search(text):
        return {**common, "error": "out of memory", "local_gpu": number(found["gpu"])}
    found = _ERROR.search(text)
    return {**common, "error": found["error"].strip()} if found else None


GRAMMAR = Grammar(
    name="cuda",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"CUDA ",),
    parse=parse,
)
