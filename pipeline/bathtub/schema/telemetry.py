"""What pollers read: samples of GPU counters, and states seen at a time."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table, Type
from bathtub.schema.faults import EVENT

DEVICE: tuple[Column, ...] = (
    Column("pci_bdf", "string", "domain:bus:device, lower case, 4-digit domain, no function"),
    Column("device_uuid", "string", "GPU UUID; null where it is a placeholder of zeros"),
    Column("device_serial", "string", "board serial as text, leading zeros kept; null where it is a placeholder of zeros"),
    Column("gpu_index", "int64", "number of the GPU as the tool counts; another order after a reboot is possible"),
    Column("gpu_instance", "int64", "MIG GPU instance"),
)
"""How pollers name a GPU."""


def _ecc() -> tuple[Column, ...]:
    """The error counters: of one boot or of a life, by memory, corrected or not."""
    lives = {"volatile": "since the driver was loaded", "aggregate": "over the board's life"}
    places = {"dram_": "in DRAM", "sram_": "in SRAM", "": "in all memories"}
    return tuple(
        Column(f"ecc_{life}_{place}{kind}", "int64", f"errors {kind} {where} {since}")
        for life, since in lives.items()
        for place, where in places.items()
        for kind in ("corrected", "uncorrected")
    )


def _counters(unit: str | None, dtype: Type, **docs: str) -> tuple[Column, ...]:
    return tuple(Column(name, dtype, doc, unit=unit) for name, doc in docs.items())


TELEMETRY = Table(
    name="telemetry",
    doc="One row per GPU and sample. What was not measured is null; a blank sentinel is null with its kind in `flags`.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        Column("seen_at_raw", "string", "the time stamp as written"),
        Column("zone_assumed", "string", "time zone taken from the configuration; null where the stamp has its own"),
        Column("node", "string", "node as written, or as configured for the source; null where unknown"),
        *DEVICE,
        *_counters("c", "float64", temperature_c="temperature of the GPU", memory_temperature_c="temperature of its memory"),
        Column("margin_c", "float64", "distance to the limit: falls when hot, negative when over; no temperature", unit="c"),
        *_counters(
            "w", "float64", power_w="power drawn, average where the tool has both", power_instant_w="power drawn, latest sample"
        ),
        Column("power_limit_w", "float64", "power limit in force", unit="w"),
        *_counters("mhz", "float64", sm_clock_mhz="clock of the SMs", memory_clock_mhz="clock of the memory"),
        *_counters("ratio", "float64", utilization_ratio="time busy", memory_utilization_ratio="time its memory was accessed"),
        Column("clocks_event_reasons", "int64", "bits of what holds the clocks down, as in clocks_event_reasons.csv"),
        *_counters(
            "ns",
            "int64",
            sw_power_cap_ns="counter: time held down by the power cap",
            sync_boost_ns="counter: time held down by the slowest of its group",
            sw_thermal_ns="counter: time held down by heat, by software",
            hw_thermal_ns="counter: time held down by heat, by hardware",
            power_brake_ns="counter: time held down by a brake signal from outside",
            power_violation_ns="DCGM counter: time held down by power",
            thermal_violation_ns="DCGM counter: time held down by heat",
            sync_boost_violation_ns="DCGM counter: time held down by its group",
            board_limit_violation_ns="DCGM counter: time held down by the board's limit",
            reliability_violation_ns="DCGM counter: time held down by reliability voltage",
        ),
        Column("energy_mj", "int64", "counter: energy since the driver was loaded", unit="mj"),
        *_ecc(),
        Column("is_sram_threshold_exceeded", "bool", "uncorrected SRAM errors passed the board's threshold"),
        Column("remapped_rows_correctable", "int64", "rows remapped for correctable errors"),
        Column("remapped_rows_uncorrectable", "int64", "rows remapped for uncorrectable errors"),
        Column("is_remap_pending", "bool", "a remap waits for a reset"),
        Column("is_remap_failed", "bool", "a remap failed"),
        *(
            Column(f"remap_banks_{left}", "int64", f"banks with spare rows left: {left}")
            for left in ("max", "high", "partial", "low", "none")
        ),
        Column("retired_pages_single_bit", "int64", "pages retired for single-bit errors"),
        Column("retired_pages_double_bit", "int64", "pages retired for double-bit errors"),
        Column("retired_pages_pending", "int64", "pages that wait for retirement"),
        Column("is_page_retirement_pending", "bool", "a page waits for retirement"),
        Column("recovery_action", "int64", "recovery that the driver asks for, as in recovery_actions.csv"),
        Column("pcie_replays", "int64", "counter: PCIe replays"),
        *_counters(
            None,
            "int64",
            nvlink_crc_flit_errors="counter: NVLink flow control CRC errors, all links",
            nvlink_crc_data_errors="counter: NVLink data CRC errors, all links",
            nvlink_replay_errors="counter: NVLink replays, all links",
            nvlink_recovery_errors="counter: NVLink recoveries, all links",
        ),
        Column("flags", "list<string>", "`kind:column` of each blank, error word or unreadable value", null=False),
    ),
)

KINDS = (
    "nvidia_smi_error",
    "missing_data",
    "xid_gauge",
    "sxid_gauge",
    "xid_count",
    "clock_event",
    "nvml_event",
    "agent_event",
    "component_health",
    "machine_info",
    "metric",
    "health_check",
    "diagnostic",
    "nvlink_counter",
    "ib_counter",
    "ib_state",
    "retired_page",
)

OBSERVATIONS = Table(
    name="observations",
    doc="One row per state that a poller saw: no event by itself. Equal states in a row may be one row with an interval.",
    key=("source_id", "line", "nth"),
    domain=(("time_quality", TIME_QUALITY), ("kind", KINDS)),
    columns=(
        *EVENT,
        Column("nth", "int64", "place among the states of one record, from 0", null=False),
        Column("kind", "string", "what was looked at: one of a closed list", null=False),
        Column("tool", "string", "tool that looked", null=False),
        Column("check_name", "string", "check, field or event as the tool names it"),
        *DEVICE,
        Column("entity", "string", "part that is no GPU, as the tool names it"),
        Column("value", "string", "state or number as written"),
        Column("code", "int64", "error code"),
        Column("code_kind", "string", "whose code: xid, sxid, dcgm_error, nvml_event"),
        Column("severity_word", "string", "severity as the tool words it"),
        Column("component_word", "string", "component as the tool words it"),
        Column("action_word", "string", "action that the tool recommends"),
        Column("is_healthy", "bool", "the tool calls the state healthy; null where it does not say"),
        Column("message", "string", "what the tool says of it"),
        Column("job_id", "string", "job in which it ran"),
        Column("first_at", "timestamp", "start of the interval of equal states, UTC"),
        Column("last_at", "timestamp", "end of the interval of equal states, UTC"),
        Column("n_seen", "int64", "how often the state was seen", null=False),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)
