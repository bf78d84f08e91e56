"""The table of PyTorch's operations, and that of Python's arithmetic on sizes beside them."""

from __future__ import annotations

from gradstep.core.lowering.lowering_table import LoweringTable

ATEN = LoweringTable()
PYTHON = LoweringTable()

lower = ATEN.lower
