"""Tensors that a gradient function takes of the forward pass, as they are called where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.io.tensorflow.functions.custom_gradients import (
    Capture,
    CustomGradients,
    GradientFunction,
)
from gradstep.core.io.tensorflow.functions.flat_nodes import (
    FlatNodes,
    numbered,
    parts_of,
    waiting_for,
)
from gradstep.core.io.tensorflow.graphdef_proto import TYPE_NUMBERS
from gradstep.core.io.tensorflow.graphdef_tensors import read_type

_HANDLE = TYPE_NUMBERS[DType.RESOURCE]


@dataclass(frozen=True)
class Around:
    """A function while it is inlined. argument: what one of its arguments is, by its place; tensor:
    what stands for a tensor in it ("Exp:0"), "" for none; entered: of tensors around a branch or a
    loop, what they are in it; None for a plain call."""

    name: str
    argument: Callable[[int], str]
    tensor: Callable[[str], str]
    entered: Mapping[str, str] | None


def put_captures(
    flat: FlatNodes, node: Any, gradient: GradientFunction, arounds: Sequence[Around], known: Any
) -> None:
    """Give a NodeDef what its gradient takes of the forward pass, too: behind its inputs. Where
    some of that cannot be had, nothing. known: the library that has the gradient."""
    captures = gradient.captures
    found = [_captured(arounds, one, known.gradients) for one in captures]
    if node.op != "IdentityN" or not found or not all(found) or gradient.name not in known:
        return
    arguments = known.function(gradient.name, node.name).signature.input_arg[-len(found) :]
    if len(arguments) < len(found):
        return
    tensors, waits = parts_of(node)
    for one, text, argument in zip(captures, found, arguments, strict=True):
        kind = one.dtype if argument.type == _HANDLE else argument.type
        if argument.type == _HANDLE:
            name = flat.free(f"{node.name}/ReadVariableOp")
            text = flat.make("ReadVariableOp", name, [text], node, dtype=read_type(kind))
        tensors.append(text)
        node.attr["T"].list.type.append(kind)
    del node.input[:]
    node.input.extend([*tensors, *waiting_for(waits)])


def _captured(arounds: Sequence[Around], one: Capture, gradients: CustomGradients) -> str:
    """ "" where it is nowhere here."""
    for place, around in reversed([*enumerate(arounds)]):
        if text := _within(around, one, gradients):
            return _carried(text, arounds[place + 1 :])
    return _carried(one.constant or one.variable, arounds)


def _within(around: Around, one: Capture, gradients: CustomGradients) -> str:
    if one.function == around.name:
        return around.tensor(one.tensor)
    bound = gradients.bound(around.name)
    return around.argument(bound.index(one.number) - len(bound)) if one.number in bound else ""


def _carried(text: str, inward: Sequence[Around]) -> str:
    """Into the branches and loops on the way; "" where it does not come in."""
    for around in inward:
        if text and around.entered is not None:
            text = around.entered.get(numbered(text), "")
    return text
