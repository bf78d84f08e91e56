"""Static types of every tensor in a graph, and the problems that stand in their way."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, count, filterfalse, repeat
from typing import Any
from weakref import WeakKeyDictionary
from weakref import ref as weak

import numpy as np

from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.carry_over import edit_before, places_after
from gradstep.core.graph.changes import Changes, find_others
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import LOOP, loop_of, within
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import widened
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.declare.attribute_kinds import check_attributes, check_read
from gradstep.core.ops.declare.table import InferContext, OpDef, find, not_registered
from gradstep.core.ops.typing.input_description import with_inputs
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.ops.typing.type_memo import Key, ask, key_of, recall
from gradstep.core.persistent.overlaid_mapping import laid_open, overlaid
from gradstep.core.persistent.spliced_mapping import copied

_SMALL = 64  # elements; larger constants are never shapes, axes or sizes
_AT_OPERATIONS = frozenset({"unconnected", "shape"})  # codes of what is wrong with one alone
_TOLD = frozenset({"Const", "Shape", "Size", "Rank"})  # by attributes and types alone


@dataclass(frozen=True)
class Inference:
    """Types of the tensors that could be typed, problems, and small values known before running:
    operation -> its output 0."""

    types: TensorTypes
    constants: Mapping[str, np.ndarray]
    problems: tuple[Problem, ...] = ()
    since: Retyped | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Retyped:
    """Operations of which something else may be known than in the graph before an edit."""

    before: weak[Graph]
    names: Set[str]


def find_retyped(before: Graph, graph: Graph) -> Set[str]:
    """Those operations, of either graph, of which not the very same is known in both."""
    old, new = infer_declared(before), infer_declared(graph)
    if new is old:
        return frozenset()
    if new.since is not None and new.since.before() is before:
        return new.since.names
    both = (old.types.of, new.types.of), (old.constants, new.constants)
    others = (chain(find_others(a, b), a.keys() - b.keys()) for a, b in both)
    found = frozenset(chain.from_iterable(others))
    if new.since is None:  # several ask for it
        declare(graph, replace(new, since=Retyped(weak(before), found)))
    return found


def agree(a: Inference, b: Inference | Inferrer, name: str) -> bool:
    """Whether both know the same of the outputs of operation `name`."""
    kinds, others = a.types.of.get(name), b.types.of.get(name)
    if kinds is not others and kinds != others:
        return False
    one, other = a.constants.get(name), b.constants.get(name)
    if one is None or other is None or one is other:
        return one is other
    same = one.dtype == other.dtype and one.shape == other.shape
    return same and one.tobytes() == other.tobytes()


class Inferrer:
    """Types operations one by one, in an order in which inputs come first; `known` to begin with,
    which nobody adds to any more."""

    def __init__(self, known: Inference | None = None) -> None:
        self.types = TensorTypes({}) if known is None else known.types.overlaid()
        self.constants: MutableMapping[str, np.ndarray]
        self.constants = {} if known is None else overlaid(known.constants)

    def found(self) -> Inference:
        """What is known so far."""
        return Inference(self.types.copy(), copied(self.constants))

    def feed(self, ref: TensorRef, kind: TensorType) -> None:
        """From here on `ref` is something of type `kind`, whatever its operation makes."""
        self.types.put(ref, kind)
        if ref.index == 0:
            self.constants.pop(ref.op, None)

    def infer(self, op: Operation) -> tuple[TensorType, ...]:
        """Types of `op`'s outputs, remembered. Raises GradstepError located at `op`."""
        definition = find(op.type)
        if definition is None:
            raise unknown(op)
        types = self._types(op)
        key = None if types is None else key_of(definition, op.attrs, types)
        outputs = recall(key)
        if outputs is None:
            outputs = self._asked(definition, op, key)
        self.put(op.name, outputs, None)
        if op.type in _TOLD or (op.inputs and op.inputs[0].op in self.constants):  # type: ignore[union-attr]
            self._fold(definition, op, outputs)
        return outputs

    def put(
        self, name: str, outputs: tuple[TensorType | None, ...], constant: np.ndarray | None
    ) -> None:
        """What is known of operation `name`, and no more: there may have been another of that
        name, with a constant value."""
        self.types.of[name] = outputs
        if constant is None:
            self.constants.pop(name, None)
        else:
            self.constants[name] = constant

    def forget(self, name: str) -> None:
        """Operation `name` is not there, or not what it was."""
        self.types.of.pop(name, None)
        self.constants.pop(name, None)

    def expect(self, changes: int) -> None:
        """Of so many operations something else is going to be known, or nothing any more."""
        self.types.of = laid_open(self.types.of, changes)
        self.constants = laid_open(self.constants, changes)

    def constant(self, ref: TensorRef) -> np.ndarray | None:
        """The value of `ref`, where it is known before running."""
        return self.constants.get(ref.op) if ref.index == 0 else None

    def _types(self, op: Operation) -> list[Any] | None:
        """Types of `op`'s inputs; None when one is not there."""
        of = self.types.of
        try:
            return [of[ref.op][ref.index] for ref in op.inputs]  # type: ignore[union-attr]
        except (AttributeError, KeyError, IndexError):
            return None

    def _asked(self, definition: OpDef, op: Operation, key: Key | None) -> tuple[TensorType, ...]:
        """The type rule's answer for `op`, once all else about it is right."""
        if None in op.inputs:
            raise _unconnected(definition, op)
        refs = [ref for ref in op.inputs if ref is not None]
        try:
            definition.arity(len(refs))
            check_attributes(definition, op)
            check_read(definition, op)
            types = [self._type(ref) for ref in refs]
            context = InferContext(definition, op, types, lambda i: self.constant(refs[i]))
            return ask(definition, context, key)
        except Exception as error:
            raise _located(error, op, [self.types.get(ref) for ref in refs]) from None

    def _type(self, ref: TensorRef) -> TensorType:
        try:
            return self.types[ref]
        except KeyError:
            raise GradstepError(
                f"'{ref}' is not a tensor of this graph", kind="KeyError", hint="check its index"
            ) from None

    def _fold(self, definition: OpDef, op: Operation, outputs: Sequence[TensorType]) -> None:
        refs = [ref for ref in op.inputs if ref is not None]
        values = [self.constant(ref) for ref in refs]
        types = [self.types[ref] for ref in refs]
        value = _known_value(definition, op, values, types, outputs) if outputs else None
        if value is not None and value.size <= _SMALL:
            self.constants[op.name] = value


_known: WeakKeyDictionary[Graph, Inference] = WeakKeyDictionary()


def infer_declared(graph: Graph) -> Inference:
    """What `infer` says of `graph`, worked out once for each graph."""
    found = _known.get(graph)
    if found is None:
        found = _known[graph] = _infer_again(graph) or infer(graph)
    return found


def declare(graph: Graph, inference: Inference) -> None:
    """Let `infer_declared(graph)` say `inference`: whoever made the graph has typed it already."""
    _known[graph] = inference


def infer(graph: Graph) -> Inference:
    """Type the whole graph; never raises: what is wrong comes back as problems at the nodes."""
    inferrer = Inferrer()
    problems = [*_faulty_operations(graph)]
    said = {problem.node for problem in problems}
    broken: set[str] = set()
    try:
        order = graph.order
    except GradstepError as error:
        return Inference(TensorTypes({}), {}, (Problem.of(error, "cycle"),))
    there = graph.operations
    for name in order:
        op = there[name]
        if broken and any(ref is not None and ref.op in broken for ref in op.inputs):
            broken.add(name)  # said once, where it starts
            continue
        dangling = [ref for ref in op.inputs if ref is not None and ref.op not in there]
        if dangling:
            problems.append(
                Problem(name, "dangling", f"input {dangling[0]} does not exist", "rewire it")
            )
            broken.add(name)
            continue
        problems += [
            Problem(name, "dangling", f"waits for '{other}', which does not exist", "remove that")
            for other in op.control_inputs
            if other not in graph
        ]
        try:
            inferrer.infer(op)
        except GradstepError as error:
            if error.node not in said:
                problems.append(_problem(error, op))
            broken.add(name)
    return Inference(inferrer.types, inferrer.constants, tuple(problems))


def _infer_again(graph: Graph) -> Inference | None:
    """What `infer` says of a graph after an edit, from what it said before: only what changed is
    typed again, and what gets other types from that. None where only looking at all of it can
    tell."""
    before, changes = edit_before(graph) or (None, Changes())
    known = None if before is None else _known.get(before)
    if before is None or known is None or "order" not in graph.__dict__:
        return None
    if graph.readers[1] or not changes.removed.isdisjoint(graph.control_outputs):
        return None  # a wire, or a control input, from what is not there any more
    if any(p.code not in _AT_OPERATIONS or p.node not in before for p in known.problems):
        return None
    again = _TypingAgain(graph, before, known, changes)
    return again.found(before) if again.run() else None


class _TypingAgain:
    """Of the operations of a graph that an edit may have given other types."""

    def __init__(self, graph: Graph, before: Graph, known: Inference, changes: Changes) -> None:
        self._graph, self._known, self._changes = graph, known, changes
        self._inferrer = Inferrer(known)
        self._problems = {problem.node: problem for problem in known.problems}
        for name in (*changes.removed, *changes.changed):
            self._inferrer.forget(name)
            self._problems.pop(name, None)
        by_rank = zip(graph.order, count(), strict=False)
        self._ranks = places_after(graph, before) if graph.is_in_order else dict(by_rank)

    def run(self) -> bool:
        """Whether that can be told without looking at the others."""
        graph, changes, ranks, now = self._graph, self._changes, self._ranks, self._inferrer
        order, operations, consumers = graph.order, graph.operations, graph.consumers
        lost = list[str]()
        self._queued = queued = {*changes.added, *changes.changed}
        queue = sorted(map(ranks.__getitem__, queued))
        while queue:
            name = order[heappop(queue)]
            if not self._infer(operations[name]):
                return False
            if agree(self._known, now, name):
                continue
            if name not in now.types.of:
                lost.append(name)
            else:
                for edge in consumers[name]:
                    if edge.op not in queued:
                        queued.add(edge.op)
                        heappush(queue, ranks[edge.op])
        return not lost or self._lose_behind(lost)

    def found(self, before: Graph) -> Inference:
        """What is known of the graph then; before: that of before the edit."""
        ranks, problems = self._ranks, self._problems
        said = tuple(problems[name] for name in sorted(problems, key=ranks.__getitem__))
        names = self._queued | self._changes.removed
        inferrer, since = self._inferrer, Retyped(weak(before), names)
        return Inference(inferrer.types, inferrer.constants, said, since)

    def _infer(self, op: Operation) -> bool:
        """Type it, or say what is wrong with it; nothing where that is wrong before it already.
        Whether this is all that there may be to it."""
        if not self._forget((op.name,)):
            return False
        inferrer = self._inferrer
        for ref in op.inputs:
            if ref is not None and ref.op not in inferrer.types.of:
                return True
        try:
            inferrer.infer(op)
        except GradstepError as error:
            self._problems[op.name] = _problem(error, op)
            return error.node == op.name
        return True

    def _lose_behind(self, lost: Collection[str]) -> bool:
        """Nothing is known any more of what takes what these operations give, of which nothing is
        known, nor behind that. Whether this is all that there may be to it."""
        graph, takers = self._graph, self._graph.takers(*lost)
        there = ((name, graph.operations[name].inputs) for name in lost)
        first = {n for n, refs in there if not any(ref and ref.op in takers for ref in refs)}
        self._queued |= takers
        behind = filter(takers.__contains__, graph.operations)  # as the names lie in memory
        return self._forget([*filterfalse(first.__contains__, behind)])

    def _forget(self, names: Collection[str]) -> bool:
        """What is known of some operations. Whether that can be found anew without looking at
        others."""
        if not self._not_alone.isdisjoint(names):
            return False
        self._inferrer.expect(len(names))
        for known in (self._inferrer.types.of, self._inferrer.constants, self._problems):
            deque(map(known.pop, names, repeat(None)), maxlen=0)
        return True

    @cached_property
    def _not_alone(self) -> Set[str]:
        """The operations of which more has to be looked at than what comes in: loops, those of
        unknown types, and those that wait for what is not there."""
        graph = self._graph
        loops = (n for n in graph.marked[LOOP] if loop_of(graph[n]) is not None)
        unknown = (names for type, names in graph.by_type.items() if find(type) is None)
        # The difference of the keys would look at all operations for those that are waited for.
        missing = filterfalse(graph.operations.__contains__, graph.control_outputs)
        waiting = map(graph.control_outputs.__getitem__, missing)
        return {*loops, *chain.from_iterable((*unknown, *waiting))}


def _problem(error: GradstepError, op: Operation) -> Problem:
    """That an operation cannot be typed."""
    return Problem.of(error, "unconnected" if None in op.inputs else "shape")


def _faulty_operations(graph: Graph) -> Iterator[Problem]:
    """Those of an unknown type; in loops, which may go round without them, also those with an open
    input."""
    if not has_loops(graph) and None not in map(find, graph.by_type):
        return
    for op in within(graph):
        in_loop = op.name not in graph
        if is_unknown(op):
            yield Problem.of(unknown(op, in_loop), "unknown-op")
        elif in_loop and is_faulty(op):
            yield Problem.of(fault(op), "unconnected")


def has_loops(graph: Graph) -> bool:
    """Whether an operation of the graph may run another graph."""
    return any(found is not None and LOOP in found.attrs for found in map(find, graph.by_type))


def is_faulty(op: Operation) -> bool:
    """Whether `op` cannot be typed, whatever comes in: it is unknown, or has an open input."""
    return None in op.inputs or is_unknown(op)


def fault(op: Operation) -> GradstepError:
    """What is to be said of a faulty operation in a loop."""
    definition = find(op.type)
    return unknown(op, in_loop=True) if definition is None else _unconnected(definition, op)


def is_unknown(op: Operation) -> bool:
    """Whether `op` is of a type that the op table lacks."""
    return find(op.type) is None


def unknown(op: Operation, in_loop: bool = False) -> GradstepError:
    """What is to be said of an operation whose type the op table lacks."""
    hint = "ask only for what does not need it"
    if not in_loop:
        hint += f", or feed '{op.output()}'"
    unread = next((value for value in op.attrs.values() if isinstance(value, Unread)), None)
    if unread is not None and unread.hint:
        hint += f", or {unread.hint}"
    return not_registered(op.type, op.name, hint)


def _unconnected(definition: OpDef, op: Operation) -> GradstepError:
    missing = definition.arity(len(op.inputs))[op.inputs.index(None)]
    return GradstepError(
        f"input '{missing}' is not connected",
        kind="ValueError",
        node=op.name,
        hint="drag a wire to it, or delete the node",
    )


def _located(error: Exception, op: Operation, given: Sequence[Any]) -> GradstepError:
    """What a type rule failed with, at `op`. given: its inputs' types, as far as they are known."""
    if isinstance(error, GradstepError):
        return error.as_kind("InvalidArgumentError", "ValueError").at(op.name)
    return unforeseen(f"what {with_inputs(op, given)} gives could not be told", error, op.name)


def _known_value(
    definition: OpDef,
    op: Operation,
    inputs: list[Any],
    types: list[TensorType],
    outputs: Sequence[TensorType],
) -> np.ndarray | None:
    """The value of output 0 when it does not depend on what is fed: shapes, axes, sizes. What
    cannot be one of these is not computed: it may be larger than the memory."""
    if op.type == "Const":
        value = op.attrs.get("value")
        return value.array if isinstance(value, Constant) else None
    if op.type in _TOLD:
        return _static_shape_value(op, types[0])
    if op.type == "PlaceholderWithDefault":
        return None  # made to be fed with something else
    kernel = definition.kernel.plain
    if kernel is None or not definition.is_pure or not inputs or any(v is None for v in inputs):
        return None
    if not _may_be_asked_for(outputs[0]):
        return None
    try:
        with np.errstate(all="ignore"):
            as_it_is = definition.kernel.takes_bfloat16
            given = inputs if as_it_is else map(widened, inputs)
            result = kernel(np, *given, **definition.keywords(op))
        value = np.asarray(result[0] if isinstance(result, tuple) else result)
    except (GradstepError, ValueError, IndexError, TypeError, MemoryError):
        return None  # the run will say what is wrong, with the values
    return value if value.dtype.kind in "iub" else None  # only integers are shapes or axes


def _may_be_asked_for(kind: TensorType) -> bool:
    """Whether a tensor may be a shape, an axis or a size, or a truth that a branch is taken by."""
    if not (kind.dtype.is_integer or kind.dtype is DType.BOOL):
        return False
    return not kind.shape.is_static or math.prod(kind.shape.static()) <= _SMALL


def _static_shape_value(op: Operation, kind: TensorType) -> np.ndarray | None:
    shape = kind.shape
    dtype = DType(op.attrs.get("out_type", DType.INT32)).numpy
    if op.type == "Rank":
        return None if shape.rank is None else np.array(shape.rank, np.int32)
    if not shape.is_static or max(shape.static(), default=0) > np.iinfo(dtype).max:
        return None  # the run will fail, where there is not memory for such a tensor
    if op.type == "Size":
        return np.array(int(np.prod(shape.static(), dtype=np.int64)), dtype)
    return np.array(shape.static(), dtype)
