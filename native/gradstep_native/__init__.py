"""Tables of NumPy's own inner loops, for plans of Gradstep's.

The same bits as by NumPy's functions, without their machinery, which is most of the time of a small
call. docs/native.md says how.
"""

from __future__ import annotations

from gradstep_native._table import Table, add_rows, copy_aside
from gradstep_native.self_check import find_difference

__all__ = ["Table", "add_rows", "copy_aside", "find_difference"]
