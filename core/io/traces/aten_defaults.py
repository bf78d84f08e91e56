"""What PyTorch's operations take where an argument is left out, as their schemas say."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gradstep.core.lowering.foreign_graph import ElementType

# Recorded by tests/traces/record_defaults.py, where PyTorch is installed.
_TABLE = Path(__file__).parents[3] / "assets" / "capture" / "aten_defaults.json"


def defaults_of(target: str) -> dict[str, Any]:
    """Of "torch.ops.aten.linear.default", by the names of its arguments."""
    name = target.removeprefix("torch.ops.aten.")
    base, dot, variant = name.partition(".")
    known = _table().get(name) or _table().get(f"{base.rstrip('_')}{dot}{variant}") or {}
    return {key: _argument(value) for key, value in known.items()}


def _argument(value: Any) -> Any:
    return ElementType(value["dtype"]) if isinstance(value, dict) else value


@cache
def _table() -> dict[str, dict[str, Any]]:
    return msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, dict[str, Any]])
