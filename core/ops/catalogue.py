"""The whole catalogue: importing this module declares every op type that Gradstep has."""

from __future__ import annotations

import importlib
import pkgutil

import core.ops

for _module in pkgutil.iter_modules(core.ops.__path__, "core.ops."):
    importlib.import_module(_module.name)
