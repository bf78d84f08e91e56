"""What the tensors are in a run: the types that were declared, but where a feed says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.typing.inference import Inference, Inferrer
from gradstep.core.persistent.overlaid_mapping import look_up

Outputs = tuple[TensorType, ...]
_NAME = attrgetter("name")


class RunTypes:
    """Asked of operations in an order in which inputs come first.

    known: what is known without the feeds `fed`; only what lies below a feed of another type is
    inferred anew.
    """

    def __init__(self, known: Inference, fed: Mapping[TensorRef, TensorType]) -> None:
        self.fed = fed
        self._fed_operations = {ref.op for ref in fed}
        self._known = known  # until something is other than that
        self._own: Inferrer | None = None
        self._differing: set[str] = set()  # operations whose outputs are not what was known
        for ref, kind in fed.items():
            if known.types.get(ref) != kind or (ref.index == 0 and ref.op in known.constants):
                self._mine().feed(ref, kind)
                self._differing.add(ref.op)

    @property
    def _now(self) -> Inference | Inferrer:
        return self._own or self._known

    def _mine(self) -> Inferrer:
        """To be changed; the graph's own tables are not copied before that."""
        if self._own is None:
            self._own = Inferrer(self._known)
        return self._own

    def after(self) -> RunTypes:
        """For another graph that is fed the same: ask `anew` of what is other than in this one."""
        return RunTypes(Inference(self._now.types, self._now.constants), self.fed)

    def type(self, ref: TensorRef) -> TensorType:
        """Of a tensor whose operation has been asked for."""
        return self._now.types[ref]

    def is_constant(self, name: str) -> bool:
        """Whether types were inferred from what an operation always gives."""
        return name in self._now.constants

    def of(self, op: Operation) -> Outputs:
        """The types of `op`'s outputs. Raises GradstepError located at `op`."""
        outputs = self._now.types.of.get(op.name)
        if outputs is None or None in outputs or op.name in self._fed_operations:
            return self._inferred(op)
        if self._differing and not self._differing.isdisjoint([r.op for r in op.inputs if r]):
            before, value = outputs, self._now.constants.get(op.name)
            outputs = self._inferred(op)
            if outputs != before or not _same(value, self._now.constants.get(op.name)):
                self._differing.add(op.name)
        return outputs  # type: ignore[return-value]

    def settle(self, operations: Sequence[Operation]) -> None:
        """Ask of all of these, one after the other, as far as that tells anything. Raises
        GradstepError."""
        names = [*map(_NAME, operations)]
        if not self._differing and self._fed_operations.isdisjoint(names):
            found = look_up(self._now.types.of, names)
            if None not in found and not any(None in outputs for outputs in filter(None, found)):
                return
        for op in operations:
            self.of(op)

    def anew(self, op: Operation) -> tuple[Outputs, bool]:
        """The same for an operation that is new, or has new inputs; whether that is what an
        operation of this name gave before."""
        before = self._now.types.of.get(op.name), self._now.constants.get(op.name)
        outputs = self._inferred(op)
        same = before[0] == self._now.types.of.get(op.name)
        return outputs, same and _same(before[1], self._now.constants.get(op.name))

    def forget(self, name: str) -> None:
        """There is no operation of this name any more."""
        self._mine().forget(name)
        if name in self._fed_operations:  # its readers go on to see the feed
            for ref, kind in self.fed.items():
                if ref.op == name:
                    self._mine().feed(ref, kind)

    def _inferred(self, op: Operation) -> Outputs:
        inferrer = self._mine()
        inferrer.constants.pop(op.name, None)
        try:
            outputs = inferrer.infer(op)
        except GradstepError:
            self._differing.add(op.name)
            self.forget(op.name)
            raise
        if op.name in self._fed_operations:  # it runs for a control dependency or another output
            for ref in map(op.output, range(len(outputs))):
                if ref in self.fed:
                    inferrer.feed(ref, self.fed[ref])
        return outputs


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)
