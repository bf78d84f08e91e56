"""The exporter of each framework: its file, as text or as a module."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from gradstep.core.errors import GradstepError

_FOLDER = Path(__file__).parents[2] / "assets" / "capture"
EXPORTERS: Mapping[str, Path] = {
    "torch": _FOLDER / "gradstep_torch.py",
    "jax": _FOLDER / "gradstep_jax.py",
}


def exporter_text(framework: str) -> str:
    """The file, to be saved where the framework is."""
    return EXPORTERS[framework].read_text(encoding="utf-8")


def load_exporter(framework: str) -> ModuleType:
    """The exporter as a module, which imports its framework. Raises GradstepError where that is
    not installed."""
    path = EXPORTERS[framework]
    if (loaded := sys.modules.get(path.stem)) is not None:
        return loaded
    if importlib.util.find_spec(framework) is None:
        raise GradstepError(
            f"{framework} is not installed in this Python, {sys.executable}",
            kind="ImportError",
            hint=f"where it is, save what `gradstep capture {framework}` prints as {path.name}",
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    return module
