"""What each op type is: one declaration, in one file per family.

`declare` has the record and the table, `catalogue` the declarations; `typing` infers, `build`
builds graphs, `api` has TensorFlow's functions, `numerics` the arithmetic, `state` queues and
arrays, `formats` bytes.
"""
