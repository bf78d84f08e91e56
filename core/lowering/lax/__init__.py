"""JAX's primitives (lax) in ours: one declaration each, in a module for each family.

`LAX` in `lax_table.py` is the table; importing this package fills it.
"""

from __future__ import annotations

import importlib
import pkgutil

from gradstep.core.lowering.lax.lax_table import LAX

__all__ = ["LAX"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
