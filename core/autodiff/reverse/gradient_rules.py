"""Which function is an operation's gradient rule: TensorFlow's or the user's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.declare.table import all_ops, find

# f(op, *grads) -> a gradient per input; TensorFlow's signature
GradientFunction = Callable[..., Any]


def find_rule(
    op: Operation, name: str, functions: Mapping[str, GradientFunction]
) -> GradientFunction:
    """The gradient called `name`: of the user's `functions`, or an op type's own. Raises
    GradstepError (LookupError) when there is none."""
    if name in functions:
        return functions[name]
    definition = find(name)
    if definition is not None and definition.gradient.rule is not None:
        return definition.gradient.rule
    if name != op.type:
        meant = did_you_mean(suggest_gradients(name, functions))
        raise GradstepError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}): "
            f"its override asks for '{name}', which is not registered",
            kind="LookupError",
            node=op.name,
            hint=meant
            or f"write a gradient function '{name}' (Edit Python…, or --code FILE.py), or switch "
            "the override off",
        )
    raise GradstepError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type})",
        kind="LookupError",
        node=op.name,
        hint="override its gradient, or stop the gradient before it",
    )


def is_registered(name: str, functions: Collection[str]) -> bool:
    """Whether there is a gradient called `name`: one of `functions`, or an op type's own."""
    definition = find(name)
    return name in functions or (definition is not None and definition.gradient.rule is not None)


def takes_slices(name: str) -> bool:
    """Whether the gradient called `name` is an op type's that takes IndexedSlices as they are."""
    definition = find(name)
    return definition is not None and definition.gradient.takes_slices


def suggest_gradients(name: str, functions: Collection[str]) -> list[str]:
    """Gradients that may have been meant by `name`, the user's own first."""
    types = (d.type for d in all_ops() if d.gradient.rule is not None)
    return list(dict.fromkeys([*near(name, functions), *near(name, types)]))[:3]
