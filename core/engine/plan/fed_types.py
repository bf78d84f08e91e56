"""What the tensors are in a run: the types that were declared, but where a feed says otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.typing.inference import Inference, Inferrer

Outputs = tuple[TensorType, ...]


class RunTypes:
    """Asked of operations in an order in which inputs come first.

    known: what is known without the feeds `fed`; only what lies below a feed of another type is
    inferred anew.
    """

    def __init__(self, known: Inference, fed: Mapping[TensorRef, TensorType]) -> None:
        self.fed = fed
        self._fed_operations = {ref.op for ref in fed}
        self._inferrer = Inferrer(known)
        self._differing: set[str] = set()  # operations whose outputs are not what was known
        for ref, kind in fed.items():
            if known.types.get(ref) != kind or (ref.index == 0 and ref.op in known.constants):
                self._inferrer.feed(ref, kind)
                self._differing.add(ref.op)

    def after(self) -> RunTypes:
        """For another graph that is fed the same: ask `anew` of what is other than in this one."""
        return RunTypes(Inference(self._inferrer.types, self._inferrer.constants), self.fed)

    def type(self, ref: TensorRef) -> TensorType:
        """Of a tensor whose operation has been asked for."""
        return self._inferrer.types[ref]

    def of(self, op: Operation) -> Outputs:
        """The types of `op`'s outputs. Raises GradstepError located at `op`."""
        outputs = self._inferrer.types.of.get(op.name)
        if outputs is None or None in outputs or op.name in self._fed_operations:
            return self._inferred(op)
        if self._differing and not self._differing.isdisjoint([r.op for r in op.inputs if r]):
            before, value = outputs, self._inferrer.constants.get(op.name)
            outputs = self._inferred(op)
            if outputs != before or not _same(value, self._inferrer.constants.get(op.name)):
                self._differing.add(op.name)
        return outputs  # type: ignore[return-value]

    def anew(self, op: Operation) -> tuple[Outputs, bool]:
        """The same for an operation that is new, or has new inputs; whether that is what an
        operation of this name gave before."""
        before = self._inferrer.types.of.get(op.name), self._inferrer.constants.get(op.name)
        outputs = self._inferred(op)
        same = before[0] == self._inferrer.types.of.get(op.name)
        return outputs, same and _same(before[1], self._inferrer.constants.get(op.name))

    def forget(self, name: str) -> None:
        """There is no operation of this name any more."""
        self._inferrer.constants.pop(name, None)
        self._inferrer.types.of.pop(name, None)
        if name in self._fed_operations:  # its readers go on to see the feed
            for ref, kind in self.fed.items():
                if ref.op == name:
                    self._inferrer.feed(ref, kind)

    def _inferred(self, op: Operation) -> Outputs:
        self._inferrer.constants.pop(op.name, None)
        try:
            outputs = self._inferrer.infer(op)
        except GradstepError:
            self._differing.add(op.name)
            self.forget(op.name)
            raise
        if op.name in self._fed_operations:  # it runs for a control dependency or another output
            for ref in map(op.output, range(len(outputs))):
                if ref in self.fed:
                    self._inferrer.feed(ref, self.fed[ref])
        return outputs


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)
