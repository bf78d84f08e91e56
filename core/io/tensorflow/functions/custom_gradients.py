"""Functions that are the gradients of operations or of other functions: a library says of which.

Of an operation, TensorFlow 2 registers one by the `_gradient_op_type` that the operation asks for.
It takes the gradient of each output and then tensors of the forward pass, which the objects of the
SavedModel name. Of a function, TensorFlow 1 has one that takes the inputs and the gradients of the
outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradstep.core.graph.model import GRADIENT_OP_TYPE


@dataclass(frozen=True)
class Capture:
    """A tensor of the forward pass that a gradient function takes.

    number: of the saved object that it is. tensor, function: what it is called in which function,
    if it is in one. constant: the operation of the graph that gives it, if it is a constant;
    variable: that of its handle, if it is a variable, and dtype: the variable's DataType.
    """

    number: int
    tensor: str = ""
    function: str = ""
    constant: str = ""
    variable: str = ""
    dtype: int = 0


@dataclass(frozen=True)
class GradientFunction:
    """name: of the function. captures: behind the gradients of the outputs, what it takes. gives:
    of each input of the operation, whether it has a gradient; None where nobody says it."""

    name: str
    captures: tuple[Capture, ...] = ()
    gives: tuple[bool, ...] | None = None


@dataclass(frozen=True)
class CustomGradients:
    """proto: a FunctionDefLibrary; objects: a SavedObjectGraph, if there is one; nodes: of the
    graph, NodeDefs."""

    proto: Any
    objects: Any = None
    nodes: Iterable[Any] = field(default=(), repr=False)
    _found: dict[str, GradientFunction | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def of_operation(self, node: Any) -> GradientFunction | None:
        """The gradient that a NodeDef asks for, if that is a function of the library."""
        if not self._registered or GRADIENT_OP_TYPE not in node.attr:
            return None
        return self.registered(node.attr[GRADIENT_OP_TYPE].s.decode(errors="replace"))

    def registered(self, op_type: str) -> GradientFunction | None:
        """The function that is the gradient of that name."""
        if op_type not in self._found:
            self._found[op_type] = self._find(op_type)
        return self._found[op_type]

    def _find(self, op_type: str) -> GradientFunction | None:
        name = self._registered.get(op_type, "")
        if not name:
            return None
        concrete = self._concrete(name)
        if concrete is None:
            return GradientFunction(name)
        gives = tuple(_leaves(concrete.output_signature))
        return GradientFunction(name, tuple(map(self._capture, concrete.bound_inputs)), gives)

    def of_function(self, name: str) -> str:
        """The function that is the gradient of another one; "" for none."""
        return self._of_functions.get(name, "")

    def bound(self, function: str) -> list[int]:
        """The numbers of the objects that a function takes behind its arguments."""
        concrete = self._concrete(function)
        return [] if concrete is None else [*concrete.bound_inputs]

    @cached_property
    def differentiated(self) -> dict[str, str]:
        """A function that is the gradient of another one -> that one."""
        return {gradient: name for name, gradient in self._of_functions.items()}

    def _concrete(self, name: str) -> Any:
        known = {} if self.objects is None else self.objects.concrete_functions
        return known.get(name)

    def _capture(self, number: int) -> Capture:
        known = self.objects.nodes
        one = known[number] if 0 <= number < len(known) else None
        if one is None:
            return Capture(number)
        if one.HasField("captured_tensor"):
            tensor = one.captured_tensor
            return Capture(number, tensor=tensor.name, function=tensor.concrete_function)
        handle = self._handles.get(one.variable.name, "") if one.variable.name else ""
        return Capture(
            number, constant=one.constant.operation, variable=handle, dtype=one.variable.dtype
        )

    @cached_property
    def _registered(self) -> dict[str, str]:
        held = self.proto.registered_gradients
        return {each.registered_op_type: each.gradient_func for each in held}

    @cached_property
    def _of_functions(self) -> dict[str, str]:
        return {each.function_name: each.gradient_func for each in self.proto.gradient}

    @cached_property
    def _handles(self) -> dict[str, str]:
        """What variables are called in their program -> the operations of their handles; without
        those that are called alike."""
        named = [
            (_text(node, "shared_name") or node.name, node.name)
            for node in self.nodes
            if node.op == "VarHandleOp"
        ]
        often = Counter(shared for shared, _ in named)
        return {shared: name for shared, name in named if often[shared] == 1}


def _leaves(value: Any) -> Iterator[bool]:
    """Of each value in lists of lists, whether it is a tensor."""
    for kind in ("list_value", "tuple_value"):
        if value.HasField(kind):
            for each in getattr(value, kind).values:
                yield from _leaves(each)
            return
    yield not value.HasField("none_value")


def _text(node: Any, attr: str) -> str:
    return node.attr[attr].s.decode(errors="replace") if attr in node.attr else ""
