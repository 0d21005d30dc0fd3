-- read = kept + rejected + out of scope, for every source.
select source_id from sources where n_read != n_kept + n_rejected + n_out_of_scope
