"""Mutants of ONNX models, field by field."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from gradstep.core.io.onnx.onnx_messages import message
from gradstep.core.lowering.onnx import ONNX
from tests.fuzz import odd
from tests.fuzz.case import Case
from tests.fuzz.graphdefs import change_field, messages_in
from tests.fuzz.members import damaged
from tests.onnx.node_cases import Case as NodeCase
from tests.onnx.node_cases import recorded

_SMALL = 20_000  # bytes
_VERSIONS = (1, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 20, 23, 25, 28, 99, -1)


def case(dice: Random) -> Case:
    """One model of ONNX's own suite, changed in one to six ways."""
    proto = message("ModelProto")()
    proto.ParseFromString(dice.choice(_sources()))
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        _change(dice, proto)
    data = proto.SerializeToString(deterministic=True)
    return Case(".onnx", damaged(dice, data) if dice.random() < 0.05 else data, exported=False)


@cache
def _sources() -> list[bytes]:
    """With what goes in as a part of the model in one of two, so that more of it is built."""
    found = []
    for number, (name, data) in enumerate(sorted(recorded().items())):
        held = NodeCase.of_bytes(name, data)
        if len(data) < _SMALL:
            found.append(held.with_constants() if number % 2 else held.model.SerializeToString())
    return found


def _change(dice: Random, proto: Any) -> None:
    graph = proto.graph
    if not graph.node:
        return
    names = [*{name for node in graph.node for name in (*node.input, *node.output)}]
    node, what = dice.choice(graph.node), dice.random()
    if what < 0.35:
        change_field(dice, dice.choice([*messages_in(proto if what < 0.1 else node)]), names)
    elif what < 0.5:
        _rewire(dice, node, names)
    elif what < 0.65:
        types = [name for name, _ in ONNX]
        node.op_type = dice.choice(types) if dice.random() < 0.9 else odd.text(dice, types)
    elif what < 0.75 and node.attribute:
        _attribute(dice, proto, node)
    elif what < 0.85 and proto.opset_import:
        dice.choice(proto.opset_import).version = dice.choice(_VERSIONS)
    elif what < 0.92:
        del graph.node[dice.randrange(len(graph.node))]
    elif graph.initializer:
        tensor = dice.choice(graph.initializer)
        tensor.data_type = dice.choice((*range(30), -1))
    else:
        graph.node.add().CopyFrom(node)


def _rewire(dice: Random, node: Any, names: list[str]) -> None:
    source = dice.choice([*names, "", odd.text(dice, names)])
    if node.input and dice.random() < 0.5:
        node.input[dice.randrange(len(node.input))] = source
    elif node.input and dice.random() < 0.5:
        del node.input[dice.randrange(len(node.input))]
    else:
        node.input.append(source)


def _attribute(dice: Random, proto: Any, node: Any) -> None:
    """Gone, another number, or another node's."""
    place = dice.randrange(len(node.attribute))
    own, what = node.attribute[place], dice.random()
    if what < 0.3:
        del node.attribute[place]
    elif what < 0.7:
        number = dice.choice((-3, -1, 0, 1, 2, 3, 7, 100, 1 << 40, -(1 << 62)))
        own.i = number
        own.f = float(number)
        for position in range(len(own.ints)):
            own.ints[position] = dice.choice((number, own.ints[position]))
    else:
        other = dice.choice(proto.graph.node)
        if other.attribute:
            node.attribute.add().CopyFrom(dice.choice(other.attribute))
