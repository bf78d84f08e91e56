"""Why an entry is left out, where several topics have the same reason."""

from __future__ import annotations

PYTHON = "Python API of TensorFlow, not graph semantics"
OPTIMIZER_CLASS = "an error of the Optimizer class in Python; the document chooses what is trained"
DEVICES = "devices named in the graph: Gradstep runs a graph on one device"
