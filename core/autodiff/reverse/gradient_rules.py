"""Which function is an operation's gradient, and calling it: TensorFlow's or the user's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.model import Operation
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.table import all_ops, find
from gradstep.core.ops.typing.input_description import with_inputs

# f(op, *grads) -> a gradient per input; TensorFlow's signature
GradientFunction = Callable[..., Any]


def rule_of(
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
        meant = did_you_mean(near_gradients(name, functions))
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


def near_gradients(name: str, functions: Collection[str]) -> list[str]:
    """Gradients that may have been meant by `name`, the user's own first."""
    types = (d.type for d in all_ops() if d.gradient.rule is not None)
    return list(dict.fromkeys([*near(name, functions), *near(name, types)]))[:3]


def call_rule(
    view: OpView,
    name: str,
    rule: GradientFunction,
    grads: Sequence[Tensor | IndexedSlices | None],
    custom: bool,
) -> Any:
    """What `rule` returns. Raises GradstepError at the operation; what a `custom` function raises
    is a GradientFunctionError there, and so is what another op type's rule raises."""
    try:
        return rule(view, *grads)
    except GradstepError as error:
        raise error.at(view.name) from None
    except Exception as error:
        raise _failed(view, name, error, custom) from error


def _failed(view: OpView, name: str, error: Exception, custom: bool) -> GradstepError:
    """What is to be said of a rule that raised: of the user's own function what it raised."""
    given = with_inputs(view.operation, [x.type for x in view.inputs])
    if not custom and name == view.operation.type:
        return unforeseen(f"the gradient of {given} could not be made", error, view.name)
    text = f"the gradient of {name} does not fit {given}"
    hint = f"it is for an operation with the inputs and outputs of {name}"
    if custom:
        text = f"gradient function '{name}' raised {type(error).__name__}: {error}"
        hint = "its signature is f(op, grad)"
    return GradstepError(
        text,
        kind="GradientFunctionError",
        node=view.name,
        hint=f"{hint}: one gradient per output in, one per input out",
    )
