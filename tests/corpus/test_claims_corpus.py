"""Every file of the corpus is claimed by the right format, or by none: never by another, never by two.

RIGHT is read from the top, the first pattern that matches a path holds; what matches none is no log and is claimed by none.
A format that is not there yet claims nothing, so a row may come before its format.
"""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from bathtub.ingest import claimants, formats
from bathtub.source import head
from tests.conftest import CORPUS

RIGHT: tuple[tuple[str, str | None], ...] = (
    ("nccl/damaged/empty/nccl_trace_rank_1", None),  # of no bytes
    ("nccl/*/nccl_trace_rank_*", "flight_recorder"),
    ("nccl/nvrx/*/_dump_*", "flight_recorder"),
    ("nccl/nvrx/*/fault_injection.log", None),  # notes of the injection, no output of a job
    ("nccl/inspector/*.jsonl", "nccl_inspector"),
    ("nccl/ras/*.json", "nccl_ras"),
    ("nccl/ras/*.txt", "job_output"),
    ("nccl/logs/*.log", "job_output"),
    ("nccl/real_gloo/*/stderr_rank_*.log", "job_output"),
    ("nccl/make/logs.py", None),  # a program that quotes whole lines of logs
    ("nvml/dcgm-exporter/*.prom", "dcgm_exporter"),
    ("nvml/nvidia_gpu_exporter/*.metrics", "dcgm_exporter"),
    ("nvml/nvidia_gpu_exporter/*.excerpt.txt", "nvidia_smi_csv"),
    ("nvml/fleet-intelligence/*.csv", "fleet_intelligence_csv"),
    ("nvml/fleet-intelligence/*.json", "fleet_intelligence_json"),
    ("nvml/gcm/dcgmi_json_samples.jsonl", "dcgmi_diag"),
    ("nvml/gcm/dmesg_samples.txt", "dmesg"),
    ("nvml/gcm/health_check_export.jsonl", "gcm_health"),
    ("nvml/gpud/dmesg-T-*.log", "dmesg_local"),
    ("nvml/gpud/dmesg-decode-iso-*.log", "dmesg_iso"),
    ("nvml/gpud/fabricmanager.log", "fabric_manager"),
    ("nvml/gpud/gpud_v1_events.json", "gpud_events"),
    ("nvml/gpud/ib-sysfs-*.tsv", "ib_sysfs"),
    ("nvml/gpud/kmsg.1.log", "kmsg"),
    ("nvml/gpud/pstore-panic-dmesg-erst.txt", "dmesg"),
    ("nvml/telegraf/*.xml", "nvidia_smi_xml"),
    ("scheduler/OSC-ood_core/k8s/*.json", "kubernetes_json"),
    ("scheduler/OSC-ood_core/slurm/non_utf8_job_name.txt", "slurm_squeue"),
    ("scheduler/facebookresearch-gcm/sample-sacct-*.txt", "slurm_sacct"),
    ("scheduler/facebookresearch-gcm/sample-scontrol-output.txt", "slurm_scontrol"),
    ("scheduler/facebookresearch-gcm/scontrol_out_*.txt", "slurm_scontrol"),
    ("scheduler/facebookresearch-gcm/sample-sinfo-output.txt", "slurm_sinfo"),
    ("scheduler/hb-jobinfo/scontrol.*.txt", "slurm_scontrol"),
    ("scheduler/kspan/*.yaml", "kubernetes_yaml"),
    ("scheduler/mila-SARC/*.json", "slurm_json"),
    ("scheduler/node-problem-detector/*.json", None),  # what the agent looks for, no events
    ("scheduler/eks-node-monitoring-agent/reasons.yaml", None),
    ("scheduler/rackslab-Slurm-web/*/slurmdb-job-*.json", "slurm_json"),
    ("scheduler/rackslab-Slurm-web/*/slurm-job-*.json", "slurm_json"),
    ("scheduler/rackslab-Slurm-web/*/slurm-node-*.json", "slurm_nodes_json"),
    ("scheduler/slurm2sql/test-data[12].csv", "slurm_sacct"),
    ("scheduler/stepfun-InfiniteHBD-Trace/fault_trace.json", "fault_trace"),
)
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file()) if CORPUS.is_dir() else []


def right(name: str) -> list[str]:
    """The format that should claim a file, if it is there."""
    chosen = next((known for pattern, known in RIGHT if fnmatchcase(name, pattern)), None)
    return [chosen] if chosen in formats() else []


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_claimed_by_its_format_alone(name: str, corpus: Path) -> None:
    assert [known.name for known in claimants(head(corpus / name), name)] == right(name)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in RIGHT])
@pytest.mark.usefixtures("corpus")
def test_every_row_is_of_a_file(pattern: str) -> None:
    assert any(fnmatchcase(name, pattern) for name in FILES)
