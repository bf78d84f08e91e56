"""Building graphs in Python: tensor handles with operators, name scopes, control dependencies.

Gradient rules, user gradient functions, importers and tests all build through this.
"""

from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.changes import alike
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import crossing_error, loop_of, within
from gradstep.core.graph.model import Constant, Graph, Operation, SharedAttrs, TensorRef
from gradstep.core.ops.build.build_context import Surroundings
from gradstep.core.ops.build.python_values import as_array, as_shape, attribute
from gradstep.core.ops.build.tensor import OpView, Tensor, TensorLike, call, call_many
from gradstep.core.ops.build.used_names import Names, keep_names, names_of
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.core.ops.typing.inference import Inference, Inferrer, declare, infer_declared
from gradstep.core.persistent.edited_columns import Exchange
from gradstep.core.persistent.spliced_mapping import copied

_TENSORS = frozenset({Tensor})


class GraphBuilder(Surroundings):
    """A graph under construction. Not thread-safe; `build()` freezes what is there so far.

    before: a graph whose operations are taken where others like them are made, so that who knows
    those knows these.
    """

    def __init__(self, graph: Graph | None = None, before: Graph | None = None) -> None:
        super().__init__()
        self._before = {} if before is None else before.operations
        self._operations: MutableMapping[str, Operation] = {}
        self._made: list[str] = []
        self._attrs = SharedAttrs()
        self._inferrer = Inferrer()
        self._in_order = True  # every operation comes after all that it waits for
        self._inside: dict[str, tuple[TensorType, ...]] = {}  # operations of loops made here
        if graph is not None:
            self._start_from(graph)

    def build(self, goes_on: bool = False) -> Graph:
        """What is there so far; it is typed already, and mostly in order. goes_on: who builds on
        from there has this one's names, scopes that are empty among them."""
        if not self._in_order:
            return Graph(dict(self._operations))
        graph = Graph.ordered(self._operations)
        declare(graph, self._inferrer.found())
        if goes_on:
            keep_names(graph, self._names)
            self._names = self._names.fork()
        return graph

    def finish(self, made: Sequence[str], moved: Exchange | None = None) -> Graph:
        """What is there, for who builds on. made: all that has been made here, in order; moved: see
        Rebuilder."""
        return self.build(goes_on=True)

    # -- looking ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many operations have been made here."""
        return len(self._made)

    @property
    def known(self) -> Inference:
        """What is known of them at this moment."""
        return Inference(self._inferrer.types, self._inferrer.constants)

    @property
    def names(self) -> Names:
        """Those that are taken."""
        return self._names

    def latest(self, count: int) -> list[Operation]:
        """The last operations made, in order."""
        return [self._operations[name] for name in self.made_since(self.size - count)]

    def made_since(self, size: int) -> list[str]:
        """The names of what has been made since there were so many."""
        return self._made[size:]

    def operation(self, name: str) -> Operation:
        return self._operations[name]

    def has(self, name: str) -> bool:
        """Whether there is an operation of this name."""
        return name in self._operations

    def type_of(self, ref: TensorRef) -> TensorType:
        outputs = self._inferrer.types.of.get(ref.op) or self._inside[ref.op]
        return outputs[ref.index]  # type: ignore[return-value]

    def constant_value(self, tensor: Tensor) -> np.ndarray | None:
        """The tensor's value when it is known before running, else None."""
        return self._inferrer.constant(tensor.ref)

    def output_count(self, name: str) -> int:
        return len(self._inferrer.types.of[name])

    def get(self, ref: TensorRef | str) -> Tensor:
        """A handle on a tensor that is already there. Raises GradstepError when it is not."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        if ref not in self._inferrer.types:
            raise GradstepError(f"there is no tensor '{ref}'", kind="KeyError", node=ref.op)
        return Tensor(self, ref)

    # -- making ----------------------------------------------------------------------------

    def add(self, operation: Operation) -> tuple[Tensor, ...]:
        """Add a finished operation as it is; its name must be free. Raises GradstepError."""
        name = operation.name
        self._names.check(name)
        outputs = self._inferrer.infer(operation)
        self._put(operation)
        return tuple([Tensor(self, TensorRef(name, i)) for i in range(len(outputs))])

    def adopt(self, operation: Operation) -> tuple[Tensor, ...]:
        """The same, in the branch or the loop's body that is being made."""
        if self.branch is not None:
            inputs = [Tensor(self, ref) for ref in operation.inputs if ref is not None]
            waits = self.branch.waits(inputs, operation.control_inputs)
            operation = replace(operation, control_inputs=waits)
            self.branch.take(operation.name)
        return self.add(operation)

    def add_typed(
        self, operation: Operation, outputs: tuple[TensorType, ...], constant: np.ndarray | None
    ) -> None:
        """The same for one of which is known what would be inferred, and whose name was taken."""
        self._keep(operation)
        self._inferrer.put(operation.name, outputs, constant)

    def repeat(self, graph: Graph, names: Sequence[str]) -> None:
        """Add operations of `graph` again, which it has typed and which fit here as they did there.
        Raises GradstepError for a name that is taken."""
        known = infer_declared(graph)
        self._names.take_all(names)
        self._made += names
        self._operations.update(zip(names, map(graph.operations.__getitem__, names), strict=True))
        for name in names:
            self._inferrer.put(name, known.types.of[name], known.constants.get(name))

    def op(
        self,
        type: str,
        /,
        *inputs: TensorLike,
        name: str | None = None,
        control_inputs: Sequence[str] = (),
        **attrs: Any,
    ) -> tuple[Tensor, ...]:
        """Add an operation and return its outputs. Inputs that are not tensors become constants
        of the first tensor's dtype where the op wants one dtype. Raises GradstepError."""
        definition = lookup(type, name)
        tensors = self._as_inputs(definition, inputs)
        # The inputs' constants were made first, so that they come before their consumer.
        own = self.unique(name or type)
        if self._inside:
            self._require_outside(own, tensors)
        if self.branch is not None:
            tensors = self.branch.admitted(own, tensors)
        operation = Operation(
            name=own,
            type=type,
            inputs=tuple([t.ref for t in tensors]),
            control_inputs=self._waits(control_inputs, tensors),
            attrs=self._attrs.one(
                {k: attribute(v, definition.attrs.get(k)) for k, v in attrs.items()}
            ),
            origin=self.origin,
            phase=self.phase,
        )
        if self.branch is not None:
            self.branch.take(own)
        return self.add(operation)

    def one(
        self, type: str, /, *inputs: TensorLike, name: str | None = None, **attrs: Any
    ) -> Tensor:
        """`op` for an op type with one output."""
        return self.op(type, *inputs, name=name, **attrs)[0]

    def tensor(self, value: TensorLike, dtype: DType | str | None = None) -> Tensor:
        """`value` itself if it is a tensor, else a constant (by default float32 or int32)."""
        if isinstance(value, Tensor):
            return value
        return self.constant(value, dtype=dtype)

    def constant(
        self, value: Any, dtype: DType | str | None = None, name: str | None = None
    ) -> Tensor:
        array = as_array(value, dtype)
        kind = DType.of(array.dtype)
        return self.one("Const", name=name or "Const", value=Constant(array), dtype=kind)

    def placeholder(self, name: str, dtype: DType | str = "float32", shape: Any = None) -> Tensor:
        return self.one("Placeholder", name=name, dtype=DType(dtype), shape=as_shape(shape))

    def variable(self, name: str, dtype: DType | str = "float32", shape: Any = ()) -> Tensor:
        """A ref variable (VariableV2); its initial value is the document's affair."""
        return self.one("VariableV2", name=name, dtype=DType(dtype), shape=as_shape(shape))

    def detach(self, names: Collection[str]) -> Graph:
        """Take operations out, as a graph of their own: a loop's body. Their names stay taken."""
        names = frozenset(names)
        operations = {n: self._operations[n] for n in self._made if n in names}
        self._made = [n for n in self._made if n not in operations]
        for name in operations:
            del self._operations[name]
            self._inside[name] = self._inferrer.types.of.pop(name)  # type: ignore[assignment]
            self._inferrer.constants.pop(name, None)
        return Graph.ordered(operations)

    def mark(self, tensor: Tensor, **attrs: Any) -> Tensor:
        """Give the operation that makes `tensor` further attributes, which say nothing of what it
        computes. Returns the tensor."""
        name = tensor.ref.op
        self._operations[name] = self._operations[name].with_attrs(**attrs)
        return tensor

    def _require_outside(self, name: str, tensors: Sequence[Tensor]) -> None:
        """Nobody but a loop itself reads what is in it."""
        inner = next((t.ref.op for t in tensors if t.ref.op in self._inside), None)
        if inner is not None:
            raise crossing_error(inner, name, self.branch is not None and self.branch.goes_round)

    def _put(self, operation: Operation) -> None:
        self._names.take(operation.name)
        if (loop := loop_of(operation)) is not None:
            self._names.take_all([o.name for o in within(loop.graph) if o.name not in self._inside])
        self._keep(operation)

    def _keep(self, operation: Operation) -> None:
        name, waits = operation.name, operation.control_inputs
        if name in self._before and alike(operation, self._before[name]):
            operation = self._before[name]
        if waits and not all(map(self._operations.__contains__, waits)):
            self._in_order = False
        self._operations[name] = operation
        self._made.append(name)

    def _start_from(self, graph: Graph) -> None:
        order, known = graph.order, infer_declared(graph)
        if known.problems:
            for name in order:
                self.add(graph[name])  # the first that cannot be typed is refused
            return
        self._names = names_of(graph)
        there = graph.operations
        in_order = graph.is_in_order
        self._operations = copied(there) if in_order else {name: there[name] for name in order}
        self._inferrer = Inferrer(known)

    def _as_inputs(self, definition: OpDef, inputs: Sequence[TensorLike]) -> list[Tensor]:
        """Constants beside tensors take the element type of the first that may set it: of those
        inputs that share the type T, or of all where the op does not say."""
        if _TENSORS.issuperset(map(type, inputs)):
            return list(inputs)
        if not definition.broadcasts:
            return [self.tensor(x) for x in inputs]
        names = definition.arity(len(inputs))
        after = names.index(definition.type_attrs.get("T", names[0]))
        first = next((x for x in inputs[after:] if isinstance(x, Tensor)), None)
        wanted = None if first is None else first.dtype
        return [self.tensor(x, wanted if i >= after else None) for i, x in enumerate(inputs)]


__all__ = ["GraphBuilder", "OpView", "Tensor", "call", "call_many"]
