-- For every source, the records read are those kept, rejected and out of scope.
select source_id from stg_sources where n_read != n_kept + n_rejected + n_out_of_scope
