-- Words of CUDA errors that tell a class; an error that is not here is of class unknown.
-- grain: one row per words
select
    words,
    hang_class
from cuda_errors
