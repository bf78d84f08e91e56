"""The table of JAX's primitives, by their names in a jaxpr."""

from __future__ import annotations

from gradstep.core.lowering.lowering_table import LoweringTable

LAX = LoweringTable()

lower = LAX.lower
