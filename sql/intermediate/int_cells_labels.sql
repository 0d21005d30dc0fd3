-- Exposure by what a device is and where it stands.
-- grain: one row per cluster, exposure_class, exposure_kind, dimension, label
with named as (
    select
        cluster,
        exposure_class,
        exposure_kind,
        n_devices * (epoch_us(to_at) - epoch_us(from_at)) as device_us,
        unnest([
            {'dimension': 'vendor', 'label': vendor},
            {'dimension': 'lot', 'label': lot},
            {'dimension': 'part_number', 'label': part_number},
            {'dimension': 'model', 'label': model},
            {'dimension': 'firmware', 'label': firmware},
            {'dimension': 'rack', 'label': rack},
            {'dimension': 'slot', 'label': slot},
            {'dimension': 'host', 'label': node}
        ], recursive := true)
    from int_cells_pieces
)

select cluster, exposure_class, exposure_kind, dimension, label, sum(device_us) as device_us
from named
group by cluster, exposure_class, exposure_kind, dimension, label
