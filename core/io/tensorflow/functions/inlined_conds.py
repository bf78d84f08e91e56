"""If and Case as Switches and Merges, with the functions of their branches between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.io.tensorflow.functions.flat_nodes import (
    FlatNodes,
    Given,
    malformed,
    parts_of,
    waiting_for,
)
from gradstep.core.io.tensorflow.graphdef_tensors import read_type

IFS = frozenset({"If", "StatelessIf"})
CASES = frozenset({"Case", "StatelessCase"})

# Of a function's attribute (a NameAttrList): what it gives of these tensors, inlined in that scope;
# what has no inputs waits for the pivot, and so does all that is made of that.
Body = Callable[[Any, Sequence[str], str, str], Given]
# Of a branch: what it gives of the tensors as they are in it, with its pivot, in that scope.
Branch = Callable[[Sequence[str], str, str], Given]


def put_if(flat: FlatNodes, body: Body, node: Any) -> None:
    """In the place of an If."""
    chosen, given, waits = _chooser(node)
    kind = read_type(node.attr["Tcond"].type) if node.attr["Tcond"].type else DType.BOOL
    if kind is not DType.BOOL:
        scope = flat.free(f"{node.name}/Cast")
        chosen = flat.make("Cast", scope, [chosen], node, SrcT=kind, DstT=DType.BOOL)
    branches = [node.attr["else_branch"].func, node.attr["then_branch"].func]
    made = _Cond(flat, node, waits).chosen(
        node.name, chosen, given, _types(node, "Tin"), *(_calling(body, one) for one in branches)
    )
    flat.stand(node.name, made)


def put_case(flat: FlatNodes, body: Body, node: Any, pivot: str) -> None:
    """In the place of a Case: an If for each branch but the last, which is taken for all other
    numbers, too. pivot: of the branch or loop that it is in."""
    number, given, waits = _chooser(node)
    branches = [_calling(body, one) for one in node.attr["branches"].list.func]
    cond, types = _Cond(flat, node, waits), [DType.INT32, *_types(node, "Tin")]

    def beginning(first: int) -> Branch:
        def taken(inputs: Sequence[str], pivot: str, scope: str) -> Given:
            if first == len(branches) - 1:
                return branches[first](inputs[1:], pivot, scope)
            is_it = _equal(flat, node, inputs[0], first, pivot, scope)
            here: Branch = lambda given, pivot, scope: branches[first](given[1:], pivot, scope)  # noqa: E731
            return cond.chosen(scope, is_it, inputs, types, beginning(first + 1), here)

        return taken

    flat.stand(node.name, beginning(0)([number, *given], pivot, node.name))


def _chooser(node: Any) -> tuple[str, list[str], list[str]]:
    """What says which branch is taken, what all of them are given, and what is waited for."""
    tensors, waits = parts_of(node)
    if len(tensors) != 1 + len(node.attr["Tin"].list.type):
        raise malformed(node, f"has {len(tensors)} inputs, and types of another number of them")
    return tensors[0], tensors[1:], waits


def _calling(body: Body, function: Any) -> Branch:
    return lambda given, pivot, scope: body(function, given, pivot, scope)


def _types(node: Any, attr: str) -> list[DType]:
    return [read_type(number) for number in node.attr[attr].list.type]


def _equal(flat: FlatNodes, node: Any, number: str, to: int, pivot: str, scope: str) -> str:
    waits = waiting_for([pivot] if pivot else [])
    value = Constant(np.array(to, np.int32))
    name = flat.free(f"{scope}/branch")
    one = flat.make("Const", name, waits, node, value=value, dtype=DType.INT32)
    return flat.make("Equal", flat.free(f"{scope}/Equal"), [number, one], node, T=DType.INT32)


class _Cond:
    """Ifs in the place of one node, that wait for what it waits for."""

    def __init__(self, flat: FlatNodes, node: Any, waits: Sequence[str]) -> None:
        self._flat, self._node, self._waits = flat, node, waits

    def chosen(
        self,
        scope: str,
        predicate: str,
        inputs: Sequence[str],
        types: Sequence[DType],
        otherwise: Branch,
        then: Branch,
    ) -> Given:
        """What `then` gives where the predicate is true, else what `otherwise` gives."""
        sides = self._make("Switch", f"{scope}/Switch", [predicate, predicate], T=DType.BOOL)
        pivots = [
            self._make("Identity", f"{scope}/switch_{side}", [f"{sides}:{number}"], T=DType.BOOL)
            for number, side in enumerate("ft")
        ]
        chosen = self._make("Identity", f"{scope}/pred_id", [predicate], T=DType.BOOL)
        switched = [
            self._make("Switch", f"{scope}/input_{number}/Switch", [tensor, chosen], T=kind)
            for number, (tensor, kind) in enumerate(zip(inputs, types, strict=True))
        ]
        made = [
            branch([f"{one}:{number}" for one in switched], pivots[number], f"{scope}/{side}")
            for number, (branch, side) in enumerate(((otherwise, "false"), (then, "true")))
        ]
        return self._merged(scope, made, pivots)

    def _merged(self, scope: str, made: Sequence[Given], pivots: Sequence[str]) -> Given:
        types = _types(self._node, "Tout")
        if any(len(given.tensors) != len(types) for given in made):
            raise malformed(self._node, f"gives {len(types)} tensors, and its branches others")
        tensors = [
            self._make("Merge", f"{scope}/Merge", [other, one], T=kind, N=2)
            for other, one, kind in zip(*(given.tensors for given in made), types, strict=True)
        ]
        if not any(given.waits for given in made) and tensors:
            return Given(tensors, [])
        done = [
            self._make("Identity", f"{scope}/done", [pivot, *waiting_for(each.waits)], T=DType.BOOL)
            for pivot, each in zip(pivots, made, strict=True)
        ]
        return Given(tensors, [self._make("Merge", f"{scope}/done", done, T=DType.BOOL, N=2)])

    def _make(self, op: str, name: str, inputs: Sequence[str], **attrs: Any) -> str:
        waits = waiting_for(self._waits) if op == "Switch" else []
        return self._flat.make(op, self._flat.free(name), [*inputs, *waits], self._node, **attrs)
