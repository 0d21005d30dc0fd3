"""The words that refuse a file or a record, gathered from the code: they are an interface.

A quarantine's reason stands in the call that raises it. A reject's stands in such a call, or, where it is chosen among
several, in the list behind `Rejects:` in the format's docstring.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bathtub import config

COMPUTED = {"truncated_json": "the JSON decoder's words: copy it again", "bad_json": "the JSON decoder's words: copy it again"}
"""The one pair of reasons that no call names literally."""

_REJECTS = re.compile(r"^Rejects: (.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)


def rejects(docstring: str) -> list[str]:
    """The reasons that a docstring lists behind `Rejects:`."""
    listed = "".join(_REJECTS.findall(docstring))
    return re.findall(r"[a-z]+(?:_[a-z]+)+", re.sub(r"\([^)]*\)", "", listed))


def _said(call: ast.Call) -> tuple[str, str, str] | None:
    """(kind, reason, words) of a call that refuses a file or a record with a literal reason."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    stated = [each.value for each in call.keywords if each.arg == "reason"]
    first = (
        call.args[:1]
        if name in ("Quarantine", "Refused", "Refusal", "Reject")
        else call.args[1:2]
        if name == "reject"
        else stated
    )
    if not first or not isinstance(first[0], ast.Constant) or not isinstance(first[0].value, str):
        return None
    words = "".join(_words(call.args[1])) if len(call.args) > 1 and name != "reject" else ""
    return ("reject" if name in ("Reject", "reject") else "quarantine"), first[0].value, words


def _words(node: ast.expr) -> Iterator[str]:
    """A literal as text; what is filled in at run time is `…`."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from _words(part)
    else:
        yield "…"


def calls() -> Iterator[tuple[str, str, str, str]]:
    """(kind, reason, words, module) of every refusal in the code, in order of modules and lines."""
    package = Path(config.__file__).parent
    for path in sorted([*package.glob("*.py"), *(package / "ingest").rglob("*.py")]):
        module = path.relative_to(package).with_suffix("").as_posix().removesuffix("/__init__")
        found = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        for call in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
            said = _said(call)
            if said is not None:
                yield *said, module
