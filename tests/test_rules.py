"""Knowledge: every rule's example is caught first by its own rule, and no table names what another does not know."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from bathtub import knowledge
from bathtub.config import Config, ConfigError, Knowledge
from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._kubernetes import _pod_ends as kubernetes
from bathtub.nightly import parameters
from bathtub.warehouse import build, connect
from tests.test_sql import shapes

TABLES = knowledge.tables()
RULES = {str(row["rule_id"]): row for row in TABLES["rules"].iter_rows(named=True)}
STARTS_AT = datetime(2026, 3, 1, tzinfo=UTC)
EVIDENCE = {
    "incident_id": pl.String(),
    "evidence_id": pl.String(),
    "kind": pl.String(),
    "code": pl.String(),
    "detail": pl.String(),
    "role": pl.String(),
    "severity": pl.String(),
    "component": pl.String(),
    "action": pl.String(),
    "node": pl.String(),
    "is_node_known": pl.Boolean(),
    "device": pl.String(),
    "seen_at": pl.Datetime("us", "UTC"),
}
CONFIDENCES = {"high", "medium", "low"}
SCOPES = {"device", "peer", "node", "incident"}


def evidence(rule_id: str) -> list[dict[str, object]]:
    """The example of a rule as rows of int_evidence in an incident of its own; the first is the one to be matched."""
    rows = []
    for index, said in enumerate(json.loads(str(RULES[rule_id]["example"]))):
        row = {"role": "primary", "severity": "app", "component": "unknown", "action": "none", "node": "n1", **said}
        lag_s = row.pop("lag_s", 0)
        known = {"incident_id": rule_id, "evidence_id": str(index), "is_node_known": True}
        rows.append({**row, **known, "seen_at": STARTS_AT + timedelta(seconds=lag_s)})
        assert set(row) <= set(EVIDENCE), f"{rule_id}: an example has no {set(row) - set(EVIDENCE)}"
    return rows


def judged(tables: Mapping[str, pl.DataFrame]) -> tuple[dict[str, dict[str, object]], pl.DataFrame]:
    """The verdict on every example by its rule, and all matches on the rows that are to be matched."""
    rows = [row for rule_id in RULES for row in evidence(rule_id)]
    frame = pl.DataFrame([{name: row.get(name) for name in EVIDENCE} for row in rows], schema=EVIDENCE, orient="row")
    with connect() as con:
        build(con, {**tables, "parameters": parameters(Config()), "int_evidence": frame}, ["int_verdicts"])
        verdicts = con.table("int_verdicts").pl().rows_by_key("incident_id", named=True, unique=True)
        return verdicts, con.table("int_rule_matches").pl().filter(pl.col("evidence_id") == "0")


@pytest.fixture(scope="module")
def examples() -> tuple[dict[str, dict[str, object]], pl.DataFrame]:
    return judged(TABLES)


@pytest.mark.parametrize("rule_id", RULES)
def test_an_example_is_caught_first_by_its_own_rule(
    rule_id: str, examples: tuple[dict[str, dict[str, object]], pl.DataFrame]
) -> None:
    verdict = examples[0][rule_id]
    assert (verdict["rule_id"], verdict["evidence_id"]) == (rule_id, "0")


@pytest.mark.parametrize("rule_id", RULES)
def test_no_two_rules_of_one_priority_catch_an_example(
    rule_id: str, examples: tuple[dict[str, dict[str, object]], pl.DataFrame]
) -> None:
    found = examples[1].filter(pl.col("incident_id") == rule_id)["rule_id"].to_list()
    priorities = [RULES[each]["priority"] for each in found]
    assert len(priorities) == len(set(priorities)), found


def test_what_an_example_holds_is_one_family_behind_the_row_that_is_matched() -> None:
    """A rule about evidence that the families never bring together, or never leave primary, could not fire."""
    ours = [row for rule_id in RULES if RULES[rule_id]["kind"] == "xid" for row in evidence(rule_id)]
    rows = [row for row in ours if row["kind"] == "xid"]
    bursts = pl.DataFrame(
        {
            "burst_id": [f"{row['incident_id']} {row['evidence_id']}" for row in rows],
            "cluster": ["c" for _ in rows],
            "node": [row["incident_id"] for row in rows],
            "boot_id": ["b" for _ in rows],
            "device": [row["device"] for row in rows],
            "xid": [int(str(row["code"])) for row in rows],
            "first_at": [row["seen_at"] for row in rows],
            "last_at": [row["seen_at"] for row in rows],
            "first_line": list(range(len(rows))),
            "caused_by_xid": pl.Series([None for _ in rows], dtype=pl.Int64),
        }
    )
    shape = shapes()["int_bursts"]
    bursts = bursts.with_columns(
        pl.lit(None, kind).alias(column) for column, kind in shape.items() if column not in bursts.columns
    )
    with connect() as con:
        build(con, {**TABLES, "parameters": parameters(Config()), "int_bursts": bursts}, ["int_burst_families"])
        found = con.table("int_burst_families").pl()
    apart = found.filter(pl.col("root_id") != pl.col("node") + " 0")
    assert apart.select("burst_id", "root_id").rows() == []


def test_rule_ids_are_unique() -> None:
    assert len(RULES) == TABLES["rules"].height


@pytest.mark.parametrize("name", TABLES)
def test_every_row_names_its_source_and_its_day(name: str) -> None:
    days = TABLES[name]["as_of"].str.to_date("%Y-%m-%d", strict=False)
    assert days.null_count() == 0
    assert TABLES[name]["source"].null_count() == 0


def words(table: str, column: str) -> set[str]:
    """What stands in a column, lists apart."""
    cells = TABLES[table][column].drop_nulls()
    return {word for cell in cells for word in str(cell).split(";")}


def test_rules_name_known_components_severities_and_confidences() -> None:
    assert words("rules", "component") <= words("components", "component")
    assert words("rules", "severity") <= words("severities", "severity")
    assert words("rules", "confidence") <= CONFIDENCES
    assert TABLES["rules"]["confidence"].null_count() == TABLES["rules"]["cause"].null_count() == 0


def test_rules_name_known_codes() -> None:
    codes = TABLES["rules"].filter(pl.col("kind") == "xid")["code"].drop_nulls().str.split(";").explode()
    assert set(codes) <= words("xid_catalog", "xid")
    states = TABLES["rules"].filter(pl.col("kind") == "attempt")["code"].drop_nulls().str.split(";").explode()
    assert set(states) <= words("scheduler_states", "state")


def test_conditions_are_of_rules_and_name_known_codes_and_scopes() -> None:
    assert words("rule_conditions", "rule_id") <= set(RULES)
    codes = TABLES["rule_conditions"].filter(pl.col("kind") == "xid")["codes"].drop_nulls().str.split(";").explode()
    assert set(codes) <= words("xid_catalog", "xid")
    assert words("rule_conditions", "scope") <= SCOPES
    assert words("rule_conditions", "is_absent") <= {"true", "false"}
    one_sided = pl.col("lag_low_s").is_null() != pl.col("lag_high_s").is_null()
    assert TABLES["rule_conditions"].filter(one_sided).is_empty()


def test_the_catalogue_names_known_components_and_severities() -> None:
    assert words("xid_catalog", "component") <= words("components", "component")
    assert words("xid_catalog", "severity") <= words("severities", "severity")
    assert TABLES["xid_catalog"]["xid"].is_unique().all()


def test_a_code_without_a_component_opens_and_ends_nothing() -> None:
    harmless = TABLES["severities"].filter(pl.col("ends_attempts") == "false")["severity"].implode()
    bare = TABLES["xid_catalog"].filter(pl.col("component").is_null())
    assert bare.filter(~pl.col("severity").is_in(harmless)).is_empty()


def test_links_and_repeats_name_known_codes() -> None:
    codes = words("xid_catalog", "xid")
    assert words("burst_links", "child_xid") <= codes | {"sxid"}
    assert words("burst_links", "parent_xid") <= codes | {"*", "sxid"}
    assert words("burst_links", "scope") <= {"device", "node"}
    assert words("burst_repeats", "xids") <= codes
    assert words("burst_repeats", "scope") <= {"device", "node"}


def test_no_code_is_in_two_repetitions() -> None:
    repeated = TABLES["burst_repeats"]["xids"].str.split(";").explode()
    assert repeated.is_unique().all()


def test_links_with_two_sides_go_one_way() -> None:
    """A code that may follow a later one is never, over any number of links, the cause of that one."""
    two_sided = TABLES["burst_links"].filter(pl.col("after_s") != "0")
    pairs = {
        (child, parent)
        for row in two_sided.iter_rows(named=True)
        for child in row["child_xid"].split(";")
        for parent in row["parent_xid"].split(";")
    }
    reached = pairs
    while (more := reached | {(a, d) for a, b in reached for c, d in pairs if b == c}) != reached:
        reached = more
    assert not {child for child, parent in reached if child == parent}


def test_components_have_a_row_of_the_published_table() -> None:
    assert words("components", "llama3_row") <= words("llama3_interruptions", "llama3_row")
    assert TABLES["components"]["llama3_row"].null_count() == 0
    assert words("llama3_interruptions", "component") <= words("components", "component")


def test_every_state_that_the_format_knows_is_judged() -> None:
    assert words("scheduler_states", "state") == slurm.STATES | kubernetes.STATES


def test_an_end_is_closed_and_has_a_cause() -> None:
    ended = TABLES["scheduler_states"].filter(pl.col("is_closed") == "true")
    assert set(ended["ends_as"]) == {"success", "stopped", "failure"}
    assert ended.filter((pl.col("ends_as") != "success") & pl.col("cause").is_null()).is_empty()
    assert set(TABLES["scheduler_states"].filter(pl.col("is_closed") == "false")["ends_as"]) == {"open"}


def test_every_state_that_is_a_failure_has_a_rule() -> None:
    failures = TABLES["scheduler_states"].filter(pl.col("ends_as") == "failure")["state"]
    states = TABLES["rules"].filter(pl.col("kind") == "attempt")["code"].drop_nulls().str.split(";").explode()
    assert set(failures) <= set(states)


def test_reasons_of_agents_stand_for_kinds_and_events_that_are_known() -> None:
    reasons = TABLES["agent_reasons"]
    told = reasons.filter(pl.col("stands_for") == "fault").select("family", "kind").unique()
    assert told.join(TABLES["host_fault_kinds"], on=["family", "kind"], how="anti").is_empty()
    assert reasons.filter((pl.col("stands_for") != "fault") & pl.col("kind").is_not_null()).is_empty()
    events = {word for word in words("agent_reasons", "stands_for") if word.startswith("node_")}
    assert events <= words("node_event_roles", "event")
    assert words("agent_reasons", "stands_for") - events == {"fault", "gpu_fault", "healthy", "notice"}


def test_a_reason_of_an_agent_is_known_once() -> None:
    reasons = TABLES["agent_reasons"]
    assert reasons.select("condition", "condition_status", "reason").is_unique().all()
    assert reasons.filter(pl.col("reason").is_null() & pl.col("condition_status").is_null()).is_empty()
    assert reasons.filter(pl.col("condition").is_null() & pl.col("condition_status").is_not_null()).is_empty()


def test_kinds_of_host_lines_name_known_components_and_severities() -> None:
    assert words("host_fault_kinds", "component") <= words("components", "component")
    assert words("host_fault_kinds", "severity") <= words("severities", "severity")
    assert TABLES["host_fault_kinds"].select("family", "kind").is_unique().all()


def test_own_rules_stand_over_the_shipped_ones_and_change_the_version(tmp_path: Path) -> None:
    own = TABLES["rules"].filter(pl.col("rule_id") == "xid-74").with_columns(component=pl.lit("switch_or_cable"))
    own.write_csv(tmp_path / "own.csv")
    tables = knowledge.tables(Knowledge(rules="own.csv"), tmp_path)
    assert judged(tables)[0]["xid-74"]["component"] == "switch_or_cable"
    assert tables["rules"].height == TABLES["rules"].height
    assert knowledge.version(tables) != knowledge.version(TABLES)


def test_a_new_rule_stands_in_front_by_its_priority(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("rule_id,priority,kind,code,component,cause,confidence\nours,1,xid,74,pcie,riser,medium\n")
    verdict = judged(knowledge.tables(Knowledge(rules="own.csv"), tmp_path))[0]["xid-74"]
    assert (verdict["rule_id"], verdict["component"], verdict["cause"]) == ("ours", "pcie", "riser")
    assert verdict["alternatives"] == ["nvlink (xid-74)"]


def test_own_conditions_of_a_rule_replace_all_shipped_ones_of_it(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("rule_id,condition,kind,codes,scope\nxid-79-several,9,xid,62,node\n")
    tables = knowledge.tables(Knowledge(rule_conditions="own.csv"), tmp_path)
    assert tables["rule_conditions"].filter(pl.col("rule_id") == "xid-79-several")["condition"].to_list() == ["9"]


@pytest.mark.parametrize("text", ["rule_id,shape\nours,round\n", "priority,kind\n1,xid\n"], ids=["unknown_column", "no_key"])
def test_own_rules_of_another_shape_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(ConfigError):
        knowledge.tables(Knowledge(rules="own.csv"), tmp_path)


def test_the_version_is_of_the_content_alone() -> None:
    assert knowledge.version(dict(reversed(TABLES.items()))) == knowledge.version(TABLES)
    assert len(knowledge.version(TABLES)) == 12
