"""Numbers to TensorFlow's last bit: random streams, the C library's functions, sums of rows.

Kernels in `gradstep.core.ops.catalogue` call these, such as `philox.py`; nothing here knows a
graph.
"""
