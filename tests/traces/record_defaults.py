"""Record what PyTorch's operations take where an argument is left out.

    python tests/traces/record_defaults.py > assets/capture/aten_defaults.json

needs PyTorch, and nothing of Gradstep. A .pt2 has an argument only where it differs from that.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

# Where a tensor lies, and from what stream it is drawn: nothing that a graph of ours knows.
LEFT_OUT = {"device", "pin_memory", "layout", "memory_format", "non_blocking", "generator"}


def plain(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def is_asked_for(name: str, variant: str) -> bool:
    """Whether a program of operations that change nothing in place may have it."""
    inner = name.endswith("_") or name.startswith("__") or "foreach" in name
    return not inner and "backward" not in name and "out" not in variant


def defaults() -> dict[str, dict[str, Any]]:
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space != "aten" or not is_asked_for(name, schema.overload_name):
            continue
        given = {
            argument.name: plain(argument.default_value)
            for argument in schema.arguments
            if argument.has_default_value() and argument.name not in LEFT_OUT
        }
        if given:
            found[f"{name}.{schema.overload_name or 'default'}"] = given
    return found


if __name__ == "__main__":
    json.dump(defaults(), sys.stdout, sort_keys=True, indent=0, separators=(",", ":"))
