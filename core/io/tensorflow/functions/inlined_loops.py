"""While as a frame, as those of TensorFlow 1: Enter, Merge, Switch, NextIteration, Exit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.io.tensorflow.functions.flat_nodes import (
    FlatNodes,
    Given,
    malformed,
    parts_of,
    waiting_for,
)
from gradstep.core.io.tensorflow.functions.function_library import FunctionLibrary
from gradstep.core.io.tensorflow.functions.inlined_conds import Body
from gradstep.core.io.tensorflow.graphdef_tensors import read_type

WHILES = frozenset({"While", "StatelessWhile"})
_PARALLEL = 10  # iterations, where nothing is said


def put_while(flat: FlatNodes, body: Body, library: FunctionLibrary, node: Any) -> None:
    """In the place of a While. What its body gives back as it came is the same in all
    iterations."""
    returned = library.returned_arguments(node.attr["body"].func.name, node.name)
    arguments = library.function(node.attr["body"].func.name, node.name).signature.input_arg
    fixed = [one.name == back for one, back in zip(arguments, returned, strict=False)]
    inputs, _ = parts_of(node)
    if not len(inputs) == len(fixed) == len(node.attr["T"].list.type):
        raise malformed(node, f"gives its loop {len(inputs)} tensors, and that takes {len(fixed)}")
    flat.stand(node.name, _Frame(flat, node, fixed).made(body))


class _Frame:
    """fixed: of each input, whether it is the same in all iterations."""

    def __init__(self, flat: FlatNodes, node: Any, fixed: Sequence[bool]) -> None:
        self._flat, self._node, self._fixed = flat, node, fixed
        self._scope = node.name
        self._types = [read_type(number) for number in node.attr["T"].list.type]
        self._inputs, self._waits = parts_of(node)

    def made(self, body: Body) -> Given:
        count, attr = range(len(self._inputs)), self._node.attr
        enters = [self._enter(i) for i in count]
        nexts = {i: self._flat.free(f"{self._scope}/NextIteration") for i in self._round()}
        merges = {i: self._one("Merge", i, [enters[i], nexts[i]], N=2) for i in self._round()}
        heads = [merges.get(i, enters[i]) for i in count]
        first = next(iter(merges.values()), "")
        goes_on = body(attr["cond"].func, heads, first, f"{self._scope}/cond").tensors
        if len(goes_on) != 1 or not first:
            raise malformed(self._node, "is no loop: nothing in it changes, or it has no condition")
        name = self._flat.free(f"{self._scope}/LoopCond")
        cond = self._flat.make("LoopCond", name, goes_on, self._node)
        switches = {i: self._one("Switch", i, [merges[i], cond]) for i in self._round()}
        inside = {i: self._one("Identity", i, [f"{switches[i]}:1"]) for i in self._round()}
        pivot = next(iter(inside.values()), "")
        given = [inside.get(i, enters[i]) for i in count]
        after = body(attr["body"].func, given, pivot, f"{self._scope}/body")
        for i in self._round():
            waits = waiting_for(after.waits)
            self._node_of("NextIteration", nexts[i], i, [after.tensors[i], *waits])
        exits = {i: self._one("Exit", i, [f"{switches[i]}:0"]) for i in self._round()}
        return Given([exits.get(i, self._inputs[i]) for i in count], [*exits.values()])

    def _round(self) -> list[int]:
        """The inputs that change."""
        return [number for number, fixed in enumerate(self._fixed) if not fixed]

    def _enter(self, number: int) -> str:
        attr = self._node.attr
        parallel = int(attr["parallel_iterations"].i) if "parallel_iterations" in attr else 0
        return self._one(
            "Enter",
            number,
            [self._inputs[number], *waiting_for(self._waits)],
            frame_name=f"{self._scope}/while_context",
            is_constant=self._fixed[number],
            parallel_iterations=parallel or _PARALLEL,
        )

    def _one(self, op: str, number: int, inputs: Sequence[str], **attrs: Any) -> str:
        return self._node_of(op, self._flat.free(f"{self._scope}/{op}"), number, inputs, **attrs)

    def _node_of(self, op: str, name: str, number: int, inputs: Sequence[str], **attrs: Any) -> str:
        kind: DType = self._types[number]
        return self._flat.make(op, name, inputs, self._node, T=kind, **attrs)
