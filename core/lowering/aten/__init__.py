"""PyTorch's operations (ATen) in ours: one declaration each, in a module for each family.

`ATEN` in `aten_table.py` is the table; importing this package fills it.
"""

from __future__ import annotations

import importlib
import pkgutil

from gradstep.core.lowering.aten.aten_table import ATEN

__all__ = ["ATEN"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
