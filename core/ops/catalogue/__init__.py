"""The whole catalogue: importing this package declares every op type that Gradstep has.

One folder a subject, such as `math`, one module a family; every module in here is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
