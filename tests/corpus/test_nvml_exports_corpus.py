"""The real exports of pollers and agents give the values that their SOURCES.md states."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bathtub.ingest import Batch, claimants, formats
from bathtub.source import head
from tests.cases import rows_of, source

FILES = {
    "nvml/telegraf/a100-sxm4-v12.xml": "nvidia_smi_xml",
    "nvml/telegraf/tesla-t4.xml": "nvidia_smi_xml",
    "nvml/nvidia_gpu_exporter/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.excerpt.txt": "nvidia_smi_csv",
    "nvml/nvidia_gpu_exporter/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01__load.metrics": "dcgm_exporter",
    "nvml/dcgm-exporter/readme_metrics_sample.prom": "dcgm_exporter",
    "nvml/gpud/gpud_v1_events.json": "gpud_events",
    "nvml/fleet-intelligence/fleetint_events_20260220_232300.csv": "fleet_intelligence_csv",
    "nvml/fleet-intelligence/fleetint_metrics_20260220_232300.csv": "fleet_intelligence_csv",
    "nvml/fleet-intelligence/fleetint_logs_20260220_232300.json": "fleet_intelligence_json",
    "nvml/gcm/health_check_export.jsonl": "gcm_health",
    "nvml/gcm/dcgmi_json_samples.jsonl": "dcgmi_diag",
}
OURS = {*FILES.values(), "nvidia_smi_q", "gpud_sqlite", "nvsentinel"}
SMI = {"zone": "UTC", "node": "n1"}


def read(corpus: Path, name: str, **settings: object) -> list[Batch]:
    file = source(corpus / name, name, collected_at=datetime(2026, 12, 1, tzinfo=UTC), **settings)
    return list(formats()[FILES[name]].parse(file))


def table(batches: list[Batch], name: str) -> list[dict[str, object]]:
    return list(rows_of(batches, name))


def every_file(corpus: Path) -> Iterator[Path]:
    return (path for path in sorted(corpus.rglob("*")) if path.is_file())


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_claimed_by_its_format_and_every_record_is_read(corpus: Path, name: str) -> None:
    assert [each.name for each in claimants(head(corpus / name), name)] == [FILES[name]]
    assert table(read(corpus, name, **SMI), "rejects") == []


def test_no_other_file_of_the_corpus_is_claimed_by_these_formats(corpus: Path) -> None:
    claimed = {
        path.relative_to(corpus).as_posix()
        for path in every_file(corpus)
        if {each.name for each in claimants(head(path), path.name)} & OURS
    }
    assert claimed == set(FILES)


def test_a100_in_mig_mode(corpus: Path) -> None:
    batches = read(corpus, "nvml/telegraf/a100-sxm4-v12.xml", **SMI)
    (gpu,), (device,) = table(batches, "telemetry"), table(batches, "inventory")
    assert (gpu["temperature_c"], gpu["memory_temperature_c"], gpu["margin_c"], gpu["power_w"]) == (27, 44, None, 67.03)
    assert (gpu["utilization_ratio"], gpu["remapped_rows_uncorrectable"], gpu["is_remap_pending"]) == (None, None, None)
    assert '"535.54.03"' in str(device["extra"])
    assert '"mig": "Enabled"' in str(device["extra"])
    assert device["part_number"] == "692-2G506-0212-002"


def test_t4_with_an_address_in_upper_case(corpus: Path) -> None:
    (gpu,) = table(read(corpus, "nvml/telegraf/tesla-t4.xml", **SMI), "telemetry")
    assert (gpu["pci_bdf"], gpu["temperature_c"], gpu["memory_temperature_c"], gpu["power_w"]) == ("0000:00:1e", 40, None, 26.78)
    assert gpu["seen_at"] == datetime(2023, 4, 24, 16, 22, 39, tzinfo=UTC)


def test_h100_idle_and_under_load(corpus: Path) -> None:
    name = "nvml/nvidia_gpu_exporter/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.excerpt.txt"
    batches = read(corpus, name, zone="UTC")
    idle, load = table(batches, "telemetry")
    columns = ("temperature_c", "margin_c", "memory_temperature_c", "power_w", "clocks_event_reasons", "utilization_ratio")
    assert [idle[column] for column in columns] == [41, 46, 48, 69.85, 1, 0]
    assert [load[column] for column in columns] == [59, 26, 54, 631.95, 0, 1]
    for each in (idle, load):
        remap = (
            "remapped_rows_correctable",
            "remapped_rows_uncorrectable",
            "is_remap_pending",
            "is_remap_failed",
            "recovery_action",
        )
        assert [each[column] for column in remap] == [0, 0, False, False, 0]
        assert (each["node"], each["device_serial"], each["pci_bdf"]) == (None, None, "0000:00:09")
    assert table(batches, "observations") == []  # the retired pages are placeholders


def test_h100_under_load_as_prometheus_text(corpus: Path) -> None:
    name = "nvml/nvidia_gpu_exporter/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01__load.metrics"
    (gpu,) = table(read(corpus, name), "telemetry")
    assert (gpu["temperature_c"], gpu["margin_c"], gpu["memory_temperature_c"]) == (59, 26, 54)
    assert (gpu["sm_clock_mhz"], gpu["utilization_ratio"], gpu["device_uuid"]) == (1980, 1, None)


def test_a_temperature_that_is_not_supported(corpus: Path) -> None:
    (gpu,) = table(read(corpus, "nvml/dcgm-exporter/readme_metrics_sample.prom"), "telemetry")
    assert (gpu["memory_temperature_c"], gpu["flags"]) == (None, ["not_supported:memory_temperature_c"])
    assert (gpu["sm_clock_mhz"], gpu["memory_clock_mhz"]) == (139, 405)


def test_gpud_events(corpus: Path) -> None:
    rows = table(read(corpus, "nvml/gpud/gpud_v1_events.json"), "gpu_faults")
    assert [(row["xid"], row["pci_bdf"], row["seen_at_raw"]) for row in rows] == [
        (74, "0000:04:00", "2025-06-01T16:59:14Z"),
        (79, "0000:04:00", "2025-06-01T16:59:04Z"),
    ]


def test_fleet_intelligence(corpus: Path) -> None:
    events = read(corpus, "nvml/fleet-intelligence/fleetint_events_20260220_232300.csv", node="node-a")
    faults, (slowdown,) = table(events, "gpu_faults"), table(events, "observations")
    assert [(row["xid"], row["pci_bdf"], row["subcode"]) for row in faults] == [(79, "0000:04:00", None), (149, "0018:01:00", 2)]
    assert faults[0]["device_uuid"] == slowdown["device_uuid"] == "GPU-00000000-0000-0000-0000-000000000004"
    assert slowdown["check_name"] == "hw_slowdown"
    (logged,) = table(read(corpus, "nvml/fleet-intelligence/fleetint_logs_20260220_232300.json"), "gpu_faults")
    assert (logged["xid"], logged["node"], logged["pci_bdf"]) == (149, "node-a", "0000:04:00")
    assert logged["seen_at"] == datetime.fromtimestamp(1771629764, UTC)
    metrics = table(read(corpus, "nvml/fleet-intelligence/fleetint_metrics_20260220_232300.csv"), "observations")
    assert [(row["check_name"], row["value"], row["gpu_index"]) for row in metrics] == [
        ("memory_used", "1024.5", 0),
        ("cpu_usage", "75.3", None),
    ]


def test_gcm_health_checks(corpus: Path) -> None:
    rows = table(read(corpus, "nvml/gcm/health_check_export.jsonl"), "observations")
    assert [(row["node"], row["value"], row["code"], row["job_id"]) for row in rows] == [
        ("node-a", "critical", 31, None),
        ("node-a", "critical", 48, None),
        ("node-a", "ok", None, "4242"),
    ]


def test_dcgmi_answers_tell_of_configuration_and_of_twelve_errors(corpus: Path) -> None:
    rows = table(read(corpus, "nvml/gcm/dcgmi_json_samples.jsonl"), "observations")
    odd = [(row["check_name"], row["value"]) for row in rows if row["kind"] == "diagnostic" and row["value"] != "Pass"]
    assert odd == [("Persistence Mode", "Fail"), ("Environment Variables", "Warn"), ("Persistence Mode", "Warn")]
    counted = [
        (row["entity"], row["check_name"], row["value"])
        for row in rows
        if row["kind"] == "nvlink_counter" and row["value"] != "0"
    ]
    assert counted == [("Link 0", "CRC Data Error", "12")]
