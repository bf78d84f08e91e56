"""What an operand stands for: loops, conds and stacks pass values on that have names elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from gradstep.core.autodiff.loops.cond_liveness import Life, find_liveness
from gradstep.core.autodiff.notation.loop_symbols import LoopSymbols
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.declare.table import branch_of

# A tensor that decides, and whether it has to be true.
Side = tuple[TensorRef, bool]


class PassedValues:
    """Of a graph whose loops are flattened, and of what its loops call their variables."""

    def __init__(self, symbols: LoopSymbols) -> None:
        self._symbols, self._graph = symbols, symbols.graph

    def origin(self, ref: TensorRef) -> TensorRef:
        """The tensor that has this value under a name of its own: outside of a cond, outside of a
        loop that only reads it, in the iteration that kept it, before it was pushed on a stack."""
        seen = {ref}
        while (source := self._before(ref)) is not None and source not in seen:
            seen.add(source)
            ref = source
        return ref

    def _before(self, ref: TensorRef) -> TensorRef | None:
        if ref in self._symbols.same:
            return self._symbols.same[ref]
        op = self._graph.operations.get(ref.op)
        if op is None:
            return None
        if op.type == "IterationValue" and "tensor" in op.attrs:
            return TensorRef.parse(op.attrs["tensor"])
        if op.type == "StackPopV2":
            return self._pushed.get(self.stack(op))
        passed = op.name in self._symbols.captured or branch_of(op.type) == "switch"
        return op.inputs[0] if passed and op.inputs else None

    def stack(self, op: Operation) -> str:
        """The stack that something is pushed on or popped from."""
        handle = op.inputs[0] if op.inputs else None
        return "" if handle is None else self.origin(self._entered(handle)).op

    def _entered(self, ref: TensorRef) -> TensorRef:
        """Before it went into a loop by an Enter."""
        ref = self.origin(ref)
        op = self._graph.operations.get(ref.op)
        while op is not None and op.type in ("Enter", "RefEnter") and op.inputs[0] is not None:
            ref = self.origin(op.inputs[0])
            op = self._graph.operations.get(ref.op)
        return ref

    @cached_property
    def _pushed(self) -> Mapping[str, TensorRef]:
        """Stack -> what is pushed on it."""
        pushes = (op for op in self._graph if op.type == "StackPushV2" and len(op.inputs) > 1)
        return {self.stack(op): op.inputs[1] for op in pushes if op.inputs[1] is not None}

    # -- which branch --------------------------------------------------------------------------

    def side(self, op: Operation) -> Side | None:
        """With what a Merge of two gives its second input; None where nobody can tell."""
        if len(op.inputs) != 2:
            return None
        first, second = (
            {self.decided(predicate, at == 1) for predicate, at in self._life(ref)}
            for ref in op.inputs
        )
        found = sorted((side for side in second if (side[0], not side[1]) in first), key=str)
        return next(iter(found), None)

    def decided(self, predicate: TensorRef, positive: bool = True) -> Side:
        """What a predicate comes from: that a Merge took its second input says on which side."""
        predicate = self._named(predicate)
        op = self._graph.operations.get(predicate.op)
        merge = None if op is None else self._asked_merge(op)
        side = None if merge is None else self.side(merge)
        return (predicate, positive) if side is None else (side[0], side[1] == positive)

    def _asked_merge(self, op: Operation) -> Operation | None:
        """The Merge of which an operation asks whether it took its second input."""
        if op.type != "Equal" or len(op.inputs) != 2 or None in op.inputs:
            return None
        index, number = (self.origin(ref) for ref in op.inputs if ref is not None)
        value = self._graph[number.op].attrs.get("value") if number.op in self._graph else None
        second = isinstance(value, Constant) and np.array_equal(value.array, 1)
        made = self._graph.operations.get(index.op)
        asks = second and index.index == 1 and made is not None
        return made if asks and made is not None and branch_of(made.type) == "merge" else None

    def _named(self, ref: TensorRef) -> TensorRef:
        """Without the Identities that a cond makes of its predicate."""
        ref = self.origin(ref)
        op = self._graph.operations.get(ref.op)
        while op is not None and op.type == "Identity" and op.inputs[0] is not None:
            ref = self.origin(op.inputs[0])
            op = self._graph.operations.get(ref.op)
        return ref

    def _life(self, ref: TensorRef | None) -> Life:
        lives = self._lives.get(ref.op, ()) if ref is not None else ()
        return lives[ref.index] if ref is not None and ref.index < len(lives) else Life()

    @cached_property
    def _lives(self) -> Mapping[str, tuple[Life, ...]]:
        return find_liveness(self._graph)
