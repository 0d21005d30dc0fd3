-- What each error of a DCGM diagnosis says of the hardware.
-- grain: one row per dcgm_error_id
select
    cast(dcgm_error_id as bigint) as dcgm_error_id,
    symbol,
    severity,
    category,
    component,
    hardware_evidence
from dcgm_errors
