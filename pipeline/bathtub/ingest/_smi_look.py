"""One GPU of `nvidia-smi -q`, in XML or text, as texts by path: what identifies it, what was read of it."""

import json
from collections.abc import Mapping

from bathtub.ingest._quantities import device, known, smi_fields
from bathtub.ingest._readings import Reading
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import Seen, keep, moment, placed

PATHS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "xml": {
        "uuid": ("uuid",),
        "serial": ("serial",),
        "model": ("product_name",),
        "firmware": ("vbios_version",),
        "part_number": ("board_part_number", "gpu_part_number"),
        "gpu_part_number": ("gpu_part_number",),
        "fru_part_number": ("gpu_fru_part_number",),
        "inforom_image": ("inforom_version/img_version",),
        "inforom_ecc": ("inforom_version/ecc_object",),
        "gsp_firmware": ("gsp_firmware_version",),
        "module_id": ("gpu_module_id", "platformInfo/module_id"),
        "chassis_serial": ("platformInfo/chassis_serial_number",),
        "mig": ("mig_mode/current_mig",),
    },
    "text": {
        "uuid": ("gpu uuid",),
        "serial": ("serial number",),
        "model": ("product name",),
        "firmware": ("vbios version",),
        "part_number": ("board part number", "gpu part number"),
        "gpu_part_number": ("gpu part number",),
        "fru_part_number": ("fru part number",),
        "inforom_image": ("inforom version/image version",),
        "inforom_ecc": ("inforom version/ecc object",),
        "gsp_firmware": ("gsp firmware version",),
        "module_id": ("module id", "platform info/module id"),
        "chassis_serial": ("platform info/chassis serial number",),
        "mig": ("mig mode/current",),
    },
}
"""Where what identifies a GPU stands, the better path first."""

EXTRA = ("driver_version", "gpu_part_number", "fru_part_number", "inforom_image", "inforom_ecc", "gsp_firmware", "module_id")
EXTRA_ALSO = ("chassis_serial", "mig")


def keep_gpu(collector: Collector, tool: str, line: int, address: str, texts: Mapping[str, str], log: Mapping[str, str]) -> None:
    """All rows of one GPU. `log` has what stands once for all: timestamp, driver_version."""
    about = {
        name: next((found for path in paths if (found := known(texts.get(path)))), None) for name, paths in PATHS[tool].items()
    }
    about["driver_version"] = known(log.get("driver_version"))
    extra = {name: about[name] for name in (*EXTRA, *EXTRA_ALSO) if about[name] is not None}
    about["extra"] = json.dumps(extra, ensure_ascii=False) if extra else None
    named = device(pci=address, uuid=about["uuid"], serial=about["serial"])
    seen = Seen(
        line=line,
        moment=moment(log.get("timestamp"), collector.source),
        node=collector.source.settings.node,
        device=named,
        about=about,
        tool="nvidia-smi",
        raw=f"GPU {address}",
    )
    reading, fields = Reading(), smi_fields(tool)
    for path, text in texts.items():
        if path in fields:
            reading.take(fields[path], text)
    keep(collector, seen, reading)
    row = placed(seen)
    if row is not None:
        collector.keep("inventory", row)
