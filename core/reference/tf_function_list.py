"""The functions of `tf` that are more than one op, with their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradstep.core.ops.api import own_functions
from gradstep.core.reference.op_entry import literal

_HEAD = """\
## Functions

What `tf` has in a gradient function besides the names above: functions with arguments of their \
own, or made of several ops.
"""


def functions() -> str:
    """The section, from its heading on."""
    return "\n".join([_HEAD, *(_line(*item) for item in sorted(own_functions().items()))])


def _line(name: str, function: Callable[..., Any]) -> str:
    about = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    return f"- `tf.{name}({_parameters(function)})`" + (f": {about}" if about else "")


def _parameters(function: Callable[..., Any]) -> str:
    found = inspect.signature(function).parameters.values()
    return ", ".join(_parameter(p) for p in found if p.name != "name")


def _parameter(p: inspect.Parameter) -> str:
    star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
    return f"{star}{p.name}" + ("" if p.default is p.empty else f"={literal(p.default)}")
