"""Planning: what measured or given failure rates mean for a training job, each closed form beside a simulation.

`formulas` has the closed forms, `simulation` fleets in which their assumptions can be broken, `tables` the rows of both,
`presets` published figures computed again. Nothing heavy is imported with the package: the flags stand in --help.
"""
