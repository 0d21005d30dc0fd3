"""The quality gate finds what was planted, names table and day, and stays silent over a sound lake."""

import importlib
import socket
import subprocess
import sys
from datetime import date

import duckdb
import polars as pl
import pytest

from bathtub.checks import FACTS, Finding, facts, gate
from bathtub.schema import tables

GOOD, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def con():
    """A lake of two sources: three fault lines on two days, one reject of ten records, and a day of coverage."""
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        for table in tables().values():
            connection.execute(f'create table "{table.name}" ({table.duckdb})')
        add_source(connection, GOOD, n_read=60, n_kept=3, n_rejected=1, n_out_of_scope=56)
        add_source(connection, OTHER, format=None, status="quarantined", reason="unclaimed")
        for line, day in ((1, 2), (2, 2), (3, 3)):
            add(connection, "gpu_faults", source_id=GOOD, line=line, event_day=date(2026, 1, day), **FAULT)
        add(connection, "rejects", source_id=GOOD, line=9, format="syslog", reason="bad_time", raw="x")
        days = {"day": date(2026, 1, 2), "event_day": date(2026, 1, 2), "first_at": "2026-01-02", "last_at": "2026-01-02"}
        add(connection, "coverage", source_id=GOOD, cluster="c", n_sampled=3, **days)
        yield connection


FAULT = {"cluster": "c", "time_quality": "exact", "raw": "x", "is_xid_inferred": False, "flags": []}
SOURCE = {"content_id": "c", "cluster": "c", "name": "n", "full_name": "n", "settings": "{}", "collected_at": "2026-01-09"}
COUNTS = {"n_bytes": 1, "n_read": 0, "n_kept": 0, "n_rejected": 0, "n_out_of_scope": 0}


def add(con: duckdb.DuckDBPyConnection, table: str, **row: object) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    con.execute(f'insert into "{table}" ({names}) values ({marks})', list(row.values()))


def add_source(con: duckdb.DuckDBPyConnection, source_id: str, **row: object) -> None:
    add(con, "sources", **{"source_id": source_id, "format": "syslog", "status": "ingested", **SOURCE, **COUNTS, **row})


def found(con: duckdb.DuckDBPyConnection, share: float = 0.05) -> list[Finding]:
    return gate(facts(con), tables().values(), share)


def test_a_sound_lake_gives_no_finding(con):
    counted = facts(con)
    assert counted.schema == FACTS
    assert gate(counted, tables().values()) == []
    assert counted.filter(table_name="gpu_faults")["n_rows"].to_list() == [2, 1]
    assert counted.filter(table_name="gpu_faults").select("n_read", "n_rejected").row(0) == (60, 1)


def test_an_empty_lake_gives_no_finding_and_a_row_of_facts_per_table():
    with duckdb.connect() as con:
        for table in tables().values():
            con.execute(f'create table "{table.name}" ({table.duckdb})')
        assert facts(con)["table_name"].to_list() == sorted(tables())
        assert found(con) == []


PLANTED = [
    ("update gpu_faults set line = 1 where line = 3; update sources set n_kept = 2, n_out_of_scope = 57 where n_kept = 3",
     [("gpu_faults", 2, "keys_unique"), ("gpu_faults", 3, "keys_unique")]),
    ("insert into coverage from coverage", [("coverage", 2, "keys_unique")]),
    ("update gpu_faults set cluster = null where line = 3", [("gpu_faults", 3, "required_not_null")]),
    ("update gpu_faults set time_quality = 'guessed' where line = 2", [("gpu_faults", 2, "closed_sets")]),
    ("update gpu_faults set event_day = null, time_quality = 'none' where line = 2", [("gpu_faults", None, "closed_sets")]),
    ("update gpu_faults set source_id = 'c' where line = 3; update sources set n_kept = 2, n_out_of_scope = 57 where n_kept = 3",
     [("gpu_faults", 3, "rows_accounted")]),
    ("delete from gpu_faults where line = 3", [("sources", None, "rows_accounted")]),
    ("delete from rejects", [("sources", None, "rows_accounted")]),
    ("update sources set n_out_of_scope = 0", [("sources", None, "rows_accounted")]),
    ("insert into coverage by name select * replace ('b'.repeat(64) as source_id) from coverage",
     [("coverage", 2, "rows_accounted")]),
]  # fmt: skip


@pytest.mark.parametrize(("planted", "expected"), PLANTED, ids=[planted[:60] for planted, _ in PLANTED])
def test_a_planted_violation_is_found_with_table_and_day(con, planted, expected):
    con.execute(planted)
    days = [(table, day and date(2026, 1, day), promise) for table, day, promise in expected]
    assert [(each.table, each.event_day, each.promise) for each in found(con)] == days
    assert {each.severity for each in found(con)} == {"critical"}


def test_the_finding_names_the_column(con):
    con.execute("update gpu_faults set time_quality = 'guessed', cluster = null where line = 2")
    assert {each.detail for each in found(con)} == {
        "1 nulls in required columns (cluster)",
        "1 values outside their closed set (time_quality)",
    }


def test_a_large_share_of_rejects_warns_once_per_table(con):
    assert {(each.severity, each.table, each.event_day, each.promise) for each in found(con, share=0.01)} == {
        ("warning", table, None, "reject_share") for table in ("coverage", "gpu_faults", "rejects", "sources")
    }


def test_a_table_that_was_not_counted_is_found(con):
    counted = facts(con).filter(pl.col("table_name") != "jobs")
    assert [(each.table, each.promise) for each in gate(counted, tables().values())] == [("jobs", "tables_present")]


def test_the_gate_opens_no_socket(con, monkeypatch):
    def refuse(*_args: object, **_options: object) -> None:
        pytest.fail("a socket was opened")

    importlib.import_module("great_expectations")  # which binds one to ask for IPv6: see the next test
    monkeypatch.setattr(socket.socket, "__init__", refuse)
    assert found(con) == []


OFFLINE = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"):
        sys.exit(f"{event} {arguments}")
sys.addaudithook(refuse)
import duckdb
from bathtub.checks import facts, gate
from bathtub.schema import tables
assert not {"great_expectations", "pandas", "scipy"} & sys.modules.keys(), "imported before it is used"
con = duckdb.connect()
for table in tables().values():
    con.execute(f'create table "{table.name}" ({table.duckdb})')
assert gate(facts(con), tables().values()) == []
assert "great_expectations" in sys.modules
"""


def test_great_expectations_is_imported_on_use_connects_nowhere_and_says_nothing(tmp_path):
    child = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
