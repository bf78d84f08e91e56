"""Writes tests/data/tensorflow/input_types.json anew, with a Python that has TensorFlow 2.21:
`python -m tests.core.ops.catalogue.record_input_types`.

op type -> input -> the element types that its registry allows, of inputs that take no
floating-point numbers, or have the element type of an input before them (":begin").
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[3] / "data" / "tensorflow" / "input_types.json"


def main() -> None:
    from gradstep.core.ops.declare.table import all_ops

    found = {d.type: kinds for d in all_ops() if (kinds := _inputs(d.type))}
    RECORDED.write_text(json.dumps(found, indent=0) + "\n")
    sys.stderr.write(f"{len(found)} op types in {RECORDED}\n")


def _inputs(op_type: str) -> dict[str, str]:
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(op_type)
    if definition is None:  # Gradstep's own
        return {}
    seen: dict[str, str] = {}
    found: dict[str, str] = {}
    for argument in definition.input_arg:
        allowed = _allowed(definition, argument)
        if argument.type_attr in seen and not argument.number_attr:
            found[argument.name] = f":{seen[argument.type_attr]}"
        elif allowed and not any("float" in kind or kind == "resource" for kind in allowed):
            found[argument.name] = " ".join(allowed)
        if argument.type_attr:
            seen.setdefault(argument.type_attr, argument.name)
    return found


def _allowed(definition: Any, argument: Any) -> list[str]:
    from tensorflow import dtypes

    attr = argument.type_attr or argument.type_list_attr
    listed = next((a.allowed_values.list.type for a in definition.attr if a.name == attr), ())
    return [dtypes.as_dtype(kind).name for kind in ([argument.type] if not attr else listed)]


if __name__ == "__main__":
    main()
