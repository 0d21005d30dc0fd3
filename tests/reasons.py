"""The words that refuse a file or a record, gathered from the code: they are an interface.

A quarantine's reason stands in the call that raises it, or in the function that calls. A reject's stands there too, or,
where it is chosen among several, in the list behind `Rejects:` in the format's docstring. Such a list ends with its
paragraph, or where the next begins (`Quarantine:`).
"""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bathtub import config

FILES = ("Quarantine", "Refused", "Refusal")
_WORD = re.compile(r"[a-z]+(?:_[a-z]+)+")
_NOTE = re.compile(r"\([^)]*\)")


def listed(docstring: str, title: str) -> list[str]:
    """The reasons that a docstring lists behind `Rejects:` or `Quarantine:`, notes in brackets left out."""
    found = re.findall(rf"^{title}: (.*?)(?=\n\n|\n[A-Z][a-z ]+: |\Z)", docstring, re.DOTALL | re.MULTILINE)
    return _WORD.findall(_NOTE.sub("", " ".join(found)))


def _said(call: ast.Call, assigned: Sequence[str] = ()) -> Iterator[tuple[str, str, str]]:
    """(kind, reason, words) where a call refuses a file or a record: with a literal, or the function's variable `reason`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    stated = [each.value for each in call.keywords if each.arg == "reason"]
    first = {**dict.fromkeys(FILES, call.args[:1]), "Reject": call.args[:1], "reject": call.args[1:2], "Outcome": stated}.get(
        name
    )
    words = "".join(_words(call.args[1])) if name in FILES and len(call.args) > 1 else ""
    kind = "reject" if name in ("Reject", "reject") else "quarantine"
    for node in first or ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield kind, node.value, words
        elif isinstance(node, ast.Name) and node.id == "reason":
            yield from ((kind, each, words) for each in assigned)


def _assigned(function: ast.AST) -> list[str]:
    """The words that a function gives to its variable `reason`."""
    given = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign) and "reason" in map(_name, node.targets)]
    words = [node.value for value in given for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return [word for word in words if isinstance(word, str) and _WORD.fullmatch(word)]


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


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
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                assigned = _assigned(function)
                for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                    yield from ((*said, module) for said in _said(call, assigned))
