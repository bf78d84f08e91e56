"""ONNX's operators in ours: one declaration each, in a module for each family.

`ONNX` in `onnx_table.py` is the table; importing this package fills it.
"""

from __future__ import annotations

import importlib
import pkgutil

from gradstep.core.lowering.onnx.onnx_table import ONNX

__all__ = ["ONNX"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
