"""Everything in the documentation that lists things, made from what is listed: `python -m tests.generate_docs --write`.

Pages of docs/ are whole; in README.md the parts between `<!-- generated: NAME -->` and `<!-- end -->` are filled. The
output holds no date, no path of a machine, and does not depend on the terminal. Without --write, the files that are
not current are printed and the exit code is 1.
"""

import argparse
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from bathtub import assets, config, knowledge
from bathtub.ingest import formats
from bathtub.ingest._kubernetes import Kind, kinds
from bathtub.ingest._messages import grammars
from bathtub.reports import reports
from bathtub.schema import Table, tables
from tests.reasons import calls, listed

ROOT = Path(__file__).parents[1]
NOTE = "<!-- Made by `make docs`: change what it lists, not this page. -->\n"
WIDTH = 110

SCHEMA = """
The tables of the lake, as `pipeline/bathtub/schema/` declares them. Each has `event_day` (date) besides, the UTC date by
which it is partitioned. `timestamp` is UTC in microseconds.
"""
REPORTS = """
Columns are never renamed or moved; new ones come at the end. UTF-8, `\\n`, a header also without rows; times are UTC and
end in `Z`; null is an empty field, empty text is `""`. Serials and addresses are text. A cell that a spreadsheet would
run as a formula has a `'` in front; `manifest.json` counts them.
"""
RULES = """
Of the rules that hold, the one of the lowest priority number decides. An empty component, action or severity is that of
the evidence (the Xid catalogue). Codes are joined by `;`.
"""
REASONS = """
These words are an interface: none is renamed without an entry in the change log. They are gathered from the calls that
raise them, and from the lists behind `Rejects:` in the docstrings of the formats.
"""
QUARANTINE = """
## Quarantine: a whole file is refused

It stands in `sources` with `status = quarantined`, this reason, and the words.
"""
REJECTS = """
## Rejects: one record is refused

It stands in `rejects` with its file, line, reason and raw text.
"""
PLAN = "plan --preset llama3 --checkpoint-s 60"
KUBERNETES = "bathtub.ingest._kubernetes"
_SECTION = re.compile(r"(<!-- generated: (?P<name>[a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; cells are cleaned of what would end them."""
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") if cell is not None else "" for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(header), ["---"] * len(header), *lines])


def code(text: str, language: str = "text") -> str:
    """A block of code without trailing blanks."""
    return f"```{language}\n" + "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines()) + "```\n"


def names(values: Iterable[str]) -> str:
    """Names as code, in the order given."""
    return ", ".join(f"`{value}`" for value in values)


def doc(module: str) -> str:
    """A module's docstring as it is written."""
    return inspect.cleandoc(importlib.import_module(module).__doc__ or "")


def summary(module: str) -> str:
    """Its first paragraph on one line, cut behind the first sentence."""
    paragraph = " ".join(doc(module).split("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s(?=[A-Z])", paragraph)[0].rstrip(":.")


def kinds_by_module() -> dict[str, Kind]:
    """The kinds of Kubernetes' objects by the names of their modules."""
    found = {kind.keep.__module__.rpartition(".")[2]: kind for kind in kinds().values()}
    return {name: found[name] for name in sorted(found)}


def formats_page() -> str:
    parts = [f"# Formats\n\n{NOTE}\n{len(formats())} formats, each found by its content, never by its name alone.\n"]
    for each in formats().values():
        facts = [
            ("record", each.record),
            ("tables", names(table.name for table in each.tables)),
            ("version", f"`{each.version}`"),
            ("other content at the same path", each.on_change),
            ("the name carries data", "yes" if each.name_carries_data else "no"),
        ]
        parts.append(f"## {each.name}\n\n{doc(f'bathtub.ingest.{each.name}')}\n\n{markdown(('', ''), facts)}")
    parts.append("# Grammars\n\nWhat a message says, whatever text log wraps it. Every text log routes its messages to them.\n")
    for grammar in grammars():
        facts = [
            ("table", f"`{grammar.table.name}`"),
            ("version", f"`{grammar.version}`"),
            ("emitters", names(sorted(grammar.emitters))),
            ("literals", names(literal.decode() for literal in grammar.literals)),
        ]
        parts.append(f"## {grammar.name}\n\n{doc(f'bathtub.ingest._messages.{grammar.name}')}\n\n{markdown(('', ''), facts)}")
    parts.append("# Objects of Kubernetes\n\nWhat an object says, whatever carries it (kubernetes_json, kubernetes_yaml).\n")
    for name, kind in kinds_by_module().items():
        facts = [
            ("objects", names(f"{each}.{group}" if group else each for group, each in sorted(kind.kinds))),
            ("tables", names(table.name for table in kind.tables)),
        ]
        parts.append(f"## {name}\n\n{doc(f'{KUBERNETES}.{name}')}\n\n{markdown(('', ''), facts)}")
    return "\n".join(parts)


def formats_section() -> str:
    rows = [
        (f"[`{each.name}`](docs/formats.md#{each.name})", summary(f"bathtub.ingest.{each.name}"), each.record)
        for each in formats().values()
    ]
    told = ", ".join(f"[`{each.name}`](docs/formats.md#{each.name})" for each in grammars())
    return f"{markdown(('format', 'what it is', 'record'), rows)}\nGrammars inside every text log: {told}.\n"


def header_of(path: Path) -> tuple[str, str]:
    """What the comment in front of an SQL file says, and its grain."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    grain = next((line.removeprefix("grain:").strip() for line in lines if line.startswith("grain:")), "")
    return " ".join(line for line in lines if not line.startswith("grain:")), grain


def _columns(table: Table) -> str:
    closed = dict(table.domain)
    rows = []
    for column in table.columns:
        values = f" One of {', '.join(closed[column.name])}." if column.name in closed and column.name != "time_quality" else ""
        rows.append((f"`{column.name}`", column.dtype, column.unit, "yes" if column.null else "no", column.doc + values))
    return markdown(("column", "type", "unit", "null", "meaning"), rows)


def schema_page() -> str:
    parts = [f"# Tables\n\n{NOTE}{SCHEMA}"]
    for name, table in sorted(tables().items()):
        day = f"event_day is that of `{table.day_of}`." if table.day_of else "event_day is null."
        parts.append(f"## {name}\n\n{table.doc} Key: {names(table.key)}; {day}\n\n{_columns(table)}")
    marts = [(f"`{path.stem}`", *header_of(path)) for path in sorted((assets.sql_dir() / "marts").glob("*.sql"))]
    parts.append(f"# Marts\n\nWhat `bathtub.open(lake)` gives.\n\n{markdown(('mart', 'what it holds', 'grain'), marts)}")
    steps = [
        (f"`{path.stem}`", *header_of(path))
        for layer in ("staging", "intermediate")
        for path in sorted((assets.sql_dir() / layer).glob("*.sql"))
    ]
    parts.append(f"# Steps between\n\n{markdown(('relation', 'what it holds', 'grain'), steps)}")
    checks = [(f"`{path.stem}`", header_of(path)[0]) for path in sorted((assets.sql_dir() / "checks").glob("*.sql"))]
    parts.append(f"# Promises\n\nA run that breaks one exits with 4.\n\n{markdown(('promise', 'what it says'), checks)}")
    return "\n".join(parts)


def tables_section() -> str:
    rows = [(f"[`{name}`](docs/schema.md#{name})", table.doc, names(table.key)) for name, table in sorted(tables().items())]
    return markdown(("table", "what it holds", "key"), rows)


def reports_page() -> str:
    parts = [f"# Reports\n\n{NOTE}{REPORTS}"]
    for name, report in reports().items():
        rows = [(place, f"`{column}`", meaning) for place, (column, meaning) in enumerate(report.columns, start=1)]
        table = markdown(("", "column", "meaning"), rows)
        parts.append(f"## {name}.csv\n\n{doc(f'bathtub.reports.{name}')}\n\nMade of {names(report.reads)}.\n\n{table}")
    return "\n".join(parts)


def reports_section() -> str:
    rows = [
        (
            f"[`{name}.csv`](docs/reports.md#{name}csv)",
            " ".join(doc(f"bathtub.reports.{name}").split("\n\n")[0].split()).partition(": ")[2].rstrip("."),
            len(report.columns),
        )
        for name, report in reports().items()
    ]
    return markdown(("file", "what it holds", "columns"), rows)


def commands() -> list[str]:
    """The names of the commands, in order."""
    from bathtub.cli import app

    return sorted(name for name in app if not name.startswith("-"))


def help_text(tokens: Sequence[str]) -> str:
    """What --help prints, on a terminal of fixed width without colours."""
    from rich.console import Console

    from bathtub.cli import app

    out = StringIO()
    app.help_print(list(tokens), console=Console(file=out, width=WIDTH, color_system=None, legacy_windows=False))
    return out.getvalue()


def cli_page() -> str:
    parts = [f"# Commands\n\n{NOTE}\n{code(help_text([]))}"]
    parts += [f"## bathtub {name}\n\n{code(help_text([name]))}" for name in commands()]
    return "\n".join(parts)


def _knowledge(name: str, columns: Sequence[str]) -> str:
    frame = knowledge.tables()[name].select(columns)
    return markdown(columns, frame.iter_rows())


def rules_page() -> str:
    rules = ("priority", "rule_id", "kind", "code", "detail", "component", "cause", "confidence", "action", "severity", "source")
    conditions = (
        "rule_id",
        "condition",
        "kind",
        "codes",
        "scope",
        "lag_low_s",
        "lag_high_s",
        "min_count",
        "is_absent",
        "meaning",
    )
    others = [
        (f"`{name}`", frame.height, ", ".join(frame.columns))
        for name, frame in knowledge.tables().items()
        if name not in ("rules", "rule_conditions", "components", "severities")
    ]
    return "\n".join(
        [
            f"# Rules\n\n{NOTE}{RULES}\nKnowledge version `{knowledge.version(knowledge.tables())}`.\n",
            _knowledge("rules", rules),
            "## Conditions\n\nA rule with conditions holds only where each is met, at a lag in seconds from its own evidence.\n",
            _knowledge("rule_conditions", conditions),
            "## Components\n",
            _knowledge("components", ("component", "exposure_class", "llama3_row", "llama3_fit", "meaning")),
            "## Severities\n",
            _knowledge("severities", ("severity", "rank", "is_failure", "ends_attempts", "meaning")),
            "## Other knowledge tables\n",
            markdown(("table", "rows", "columns"), others),
        ]
    )


def listing(title: str) -> dict[str, set[str]]:
    """Reason to the formats, and kinds of objects, whose docstrings list it behind this title."""
    found: dict[str, set[str]] = {}
    modules = [f"bathtub.ingest.{each}" for each in formats()] + [f"{KUBERNETES}.{each}" for each in kinds_by_module()]
    for module in modules:
        for reason in listed(doc(module), title):
            found.setdefault(reason, set()).add(module.removeprefix("bathtub.ingest."))
    return found


def reasons_page() -> str:
    rejected, by_format = listing("Rejects"), listing("Quarantine")
    refused: dict[str, list[str]] = {}
    for kind, reason, words, module in calls():
        if kind == "reject":
            rejected.setdefault(reason, set()).add(module.rpartition("/")[2])
        elif words not in refused.setdefault(reason, []):
            refused[reason].append(words)
    quarantined = [
        (f"`{reason}`", "; or: ".join(filter(None, refused.get(reason, []))), names(sorted(by_format.get(reason, ()))))
        for reason in sorted({*refused, *by_format})
    ]
    return "\n".join(
        [
            f"# Reasons\n\n{NOTE}{REASONS}{QUARANTINE}",
            f"{markdown(('reason', 'words', 'formats that say so'), quarantined)}{REJECTS}",
            markdown(
                ("reason", "format, grammar or envelope"),
                ((f"`{reason}`", names(sorted(who))) for reason, who in sorted(rejected.items())),
            ),
        ]
    )


def _tables_of(struct: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct]]:
    """The configuration's tables by their TOML header: each field whose default is a struct, and the sources."""
    nested = {field.name: field.default for field in msgspec.structs.fields(struct)}
    return {f"[{name}]": type(default) for name, default in nested.items() if isinstance(default, msgspec.Struct)}


def configuration_page() -> str:
    parts = [
        f"# Configuration\n\n{NOTE}\n{inspect.cleandoc(config.__doc__ or '')}\n\nAn example: [bathtub.toml](bathtub.toml).\n"
    ]
    sections = {"At the top": config.Config, "[[source]]": config.SourceRule, **_tables_of(config.Config)}
    for title, struct in sections.items():
        fields = [field for field in msgspec.structs.fields(struct) if field.name not in ("folder", "source")]
        plain = [field for field in fields if not isinstance(field.default, msgspec.Struct)]
        rows = [(f"`{field.name}`", "required" if field.required else _toml(field.default)) for field in plain]
        parts.append(f"## {title}\n\n{inspect.cleandoc(struct.__doc__ or '')}\n\n{markdown(('key', 'default'), rows)}")
    return "\n".join(parts)


def _toml(value: object) -> str:
    if value is None:
        return "none"
    return f"`{list(value)}`" if isinstance(value, tuple) else f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def run(*command: str, folder: Path) -> str:
    """What a command prints on stdout, run in a folder without colours."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "bathtub", *command], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def shown() -> dict[str, str]:
    """The demo's output and the explanation of the incident that it proposes to look at."""
    with TemporaryDirectory(prefix="bathtub-docs-") as folder:
        demo = run("demo", folder=Path(folder))
        proposed = demo.strip().splitlines()[-1].partition("bathtub ")[2]
        told = run(*proposed.split(), folder=Path(folder))
    return {"demo": code(demo), "explain": code(f"$ bathtub {proposed}\n{told}")}


def planned() -> str:
    """What the plan of the readme prints."""
    return code(f"$ bathtub {PLAN}\n{run(*PLAN.split(), folder=ROOT)}")


PAGES: dict[str, Callable[[], str]] = {
    "docs/formats.md": formats_page,
    "docs/schema.md": schema_page,
    "docs/reports.md": reports_page,
    "docs/cli.md": cli_page,
    "docs/rules.md": rules_page,
    "docs/reasons.md": reasons_page,
    "docs/configuration.md": configuration_page,
}
SECTIONS: dict[str, Callable[[], str]] = {
    "formats": formats_section,
    "tables": tables_section,
    "reports": reports_section,
    "commands": lambda: code(help_text([])),
    "config": lambda: code((ROOT / "docs" / "bathtub.toml").read_text(encoding="utf-8"), "toml"),
    "plan": planned,
    "cron": lambda: code((ROOT / "docs" / "bathtub.cron").read_text(encoding="utf-8")),
}


def readme(sections: dict[str, str]) -> str:
    """README.md with these sections filled; the others stay as they are."""

    def fill(found: re.Match[str]) -> str:
        return f"{found[1]}{sections[found['name']]}{found[3]}" if found["name"] in sections else found[0]

    return _SECTION.sub(fill, (ROOT / "README.md").read_text(encoding="utf-8"))


def current(*, with_demo: bool) -> dict[str, str]:
    """Every generated file by its path, as it should be."""
    sections = {name: make() for name, make in SECTIONS.items()} | (shown() if with_demo else {})
    return {**{path: make() for path, make in PAGES.items()}, "README.md": readme(sections)}


def main() -> int:
    """Writes, or says what is not current."""
    asked = argparse.ArgumentParser(prog="python -m tests.generate_docs", description=__doc__)
    asked.add_argument("--write", action="store_true", help="write the files that are not current")
    is_writing = asked.parse_args().write
    stale = {path: text for path, text in current(with_demo=True).items() if _read(ROOT / path) != text}
    for path, text in stale.items():
        print(f"{path}: {'written' if is_writing else 'not current: make docs'}")
        if is_writing:
            (ROOT / path).write_text(text, encoding="utf-8")
    return 1 if stale and not is_writing else 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
