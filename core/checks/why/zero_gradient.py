"""Why a gradient is zero: the operations of the backward pass that let nothing through.

From the tensor whose gradient it is the search goes up the way along which the gradient comes, over
wires that carry zero, to the first operations at which something arrives. An operand is to blame
where another value of it, all else as it was, would have let something through. In a loop the
search goes through the iterations of the way back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from gradstep.core.autodiff.explain.dead_branch_gradients import say_why_untaken
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.why.backward_iterations import Level, iterations_back, level_of
from gradstep.core.checks.why.explanation_words import Index, broadcast_index
from gradstep.core.checks.why.lost_cotangents import Place, Wire, is_alive
from gradstep.core.checks.why.operand_probes import others, without_zeros
from gradstep.core.checks.why.recorded_values import LoopRan, OneIteration, Ran
from gradstep.core.checks.why.recorded_vjp import Leaf, RecordedVjp
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import find

_MOST = 64  # iterations of a loop that are looked into for what it reads from outside


@dataclass(frozen=True, eq=False)
class Stopper:
    """Where no gradient came through, or none was left.

    op:      the forward operation (of a sum that cancels, the one whose gradient it is).
    cause:   a name of gradstep.core.checks.why.cause_table.
    index:   the element of its result's gradient at which something had arrived, or cancels.
    leaf:    what of the way there is to blame, if something is; leaf_index: its element; operand:
             the tensor that people know it by.
    step:    the step of the way back that passed on nothing.
    parts:   of a sum that cancels: where each part came from -> what it was.
    why:     of a branch that was not taken: the predicate, and what it was.
    """

    level: Level
    op: Operation
    cause: str
    index: Index | None = None
    leaf: Leaf | None = None
    leaf_index: Index | None = None
    operand: TensorRef | None = None
    step: int | None = None
    parts: Sequence[tuple[str, np.ndarray]] = ()
    override: str = ""
    why: str = ""


@dataclass(frozen=True, eq=False)
class _Part:
    """What a tensor's gradient is added up of: what came over `edge`, or what it begins with, which
    in a loop is the gradient at `place`. name: of where it came from."""

    name: str
    array: np.ndarray
    edge: Edge | None = None
    place: Place | None = None


class ZeroFlow:
    """Looks for what keeps a gradient from where it should go. ran: the run of `derived`'s graph;
    graph: the forward graph."""

    def __init__(self, again: Again, ran: Ran, graph: Graph, derived: Differentiation) -> None:
        self._again, self._derived = again, derived
        self._whole = Level(ran, graph)
        self._seen: set[tuple[object, TensorRef]] = set()
        self._dead: list[Stopper] = []

    @cached_property
    def _outputs(self) -> Mapping[str, list[TensorRef]]:
        """Operation -> those of its outputs that have a gradient; for who follows one."""
        found: dict[str, list[TensorRef]] = defaultdict(list)
        for ref in self._derived.gradients:
            found[ref.op].append(ref)
        return found

    def level(self, ran: Ran | None) -> Level:
        """The level of an iteration of the way back; else that of the run as a whole."""
        if not isinstance(ran, OneIteration):
            return self._whole
        around = self.level(ran.loop.around)
        forward = around.graph[ran.loop.step.op.origin]
        return level_of(around, forward, ran.loop, ran.number)

    def stoppers(self, wrt: TensorRef, level: Level | None = None) -> list[Stopper]:
        """All that are met, those nearest to `wrt` first; a branch that was not taken in a loop
        where there is nothing else. None where they cannot be told. level: where `wrt` is, of a
        tensor in a loop."""
        found: list[Stopper] = []
        places = [Place(level or self._whole, wrt)]
        while places:
            place = places.pop()
            key = (place.level.ran.rank, place.ref)
            if key not in self._seen:
                self._seen.add(key)
                for outcome in self._causes(place):
                    if isinstance(outcome, Stopper):
                        found.append(outcome)
                    else:
                        places.append(outcome)
        return found or self._dead[:1]

    # -- one tensor ----------------------------------------------------------------------------

    def _causes(self, place: Place) -> Iterator[Stopper | Place]:
        if self._is_given(place, self._derived.gradients.get(place.ref)):
            op = place.level.graph[place.ref.op]
            yield Stopper(place.level, op, "changed", place.at)
            return
        parts = [*self._parts(place)]
        alive = [part for part in parts if is_alive(part.array, place.at)]
        if alive:
            yield self._cancelled(place, alive)
        elif not parts and self._is_left_over(place):
            yield Stopper(place.level, place.level.graph[place.ref.op], "last_iteration")
        for part in parts if not alive else ():
            if part.edge is not None:
                yield from self._over(place, part.edge)
            elif part.place is not None:
                yield part.place
            else:
                yield Stopper(place.level, place.level.graph[place.ref.op], "starts_at_zero")

    def _parts(self, place: Place) -> Iterator[_Part]:
        level, ref = place.level, place.ref
        for edge in self._wires(level, ref):
            array = self._array(level, self._carried(level, edge, ref))
            if array is not None:
                yield _Part(edge.op, array, edge)
        if level.loop is None:
            yield from self._beginnings(ref)
        else:
            yield from self._from_after(level, level.loop, ref)

    def _is_left_over(self, place: Place) -> bool:
        """Whether it is a result of a loop, or of its last iteration, from which nothing leads to
        what is differentiated."""
        level, ref = place.level, place.ref
        if any(self._wires(level, ref)):
            return False
        loop = None if level.loop is None else loop_of(level.loop)
        of_iteration = loop is not None and level.after is None and ref in loop.results
        return of_iteration or loop_of(level.graph[ref.op]) is not None

    def _wires(self, level: Level, ref: TensorRef) -> Iterator[Edge]:
        """Those over which a gradient comes back to a tensor."""
        for edge in level.graph.consumers.get(ref.op, ()):
            if level.graph.source(edge) == ref and edge in self._derived.edges:
                yield edge

    def _beginnings(self, ref: TensorRef) -> Iterator[_Part]:
        """What is given where the way back begins."""
        request = self._derived.request
        given = request.grad_ys or (None,) * len(request.of)
        for of, grad in zip(request.of, given, strict=False):
            if of == ref:
                array = np.ones(()) if grad is None else self._array(self._whole, grad)
                if array is not None:
                    yield _Part("grad_ys" if grad is None else grad.short, array)

    def _from_after(self, level: Level, loop_op: Operation, ref: TensorRef) -> Iterator[_Part]:
        """What comes back from the iteration after, or from behind the loop."""
        loop, around = loop_of(loop_op), level.around
        assert loop is not None
        assert around is not None
        for number, result in enumerate(loop.results):
            if result != ref:
                continue
            after = level.after
            there = (
                Place(around, loop_op.output(number))
                if after is None
                else Place(after, TensorRef(loop.variables[number]))
            )
            array = self._array(there.level, self._derived.gradients.get(there.ref))
            if array is not None:
                yield _Part(there.ref.op, array, place=there)

    def _cancelled(self, place: Place, alive: list[_Part]) -> Stopper:
        op, index = place.level.graph[place.ref.op], place.at
        if index is None:
            index = _first(alive[0].array)
        parts = [(_from(place.level.graph, part, alive), part.array) for part in alive]
        number = place.level.ran.value_of(self._derived.gradients[place.ref])
        step = None if number is None else place.level.ran.plan.made_by[number]
        return Stopper(place.level, op, "cancelled", index, parts=parts, step=step)

    # -- one wire ------------------------------------------------------------------------------

    def _over(self, place: Place, edge: Edge) -> Iterator[Stopper | Place]:
        level, op = place.level, place.level.graph[edge.op]
        if self._is_given(place, self._derived.edges[edge]):
            yield Stopper(level, level.graph[place.ref.op], "changed", place.at)
            return
        gradients = {ref: self._derived.gradients[ref] for ref in self._outputs[op.name]}
        arrived = [(ref, self._array(level, gradient)) for ref, gradient in gradients.items()]
        live = [x for _, x in arrived if x is not None and x.any()]
        if not live and self._is_unread(level, gradients):
            name = self._derived.custom.get(op.name, "")
            yield Stopper(level, op, "override" if name else "flat", override=name)
        elif not live:
            self._note_untaken(level, [ref for ref, x in arrived if x is None])
            yield from (Place(level, ref) for ref, x in arrived if x is not None)
        elif loop_of(op) is not None:
            yield from self._into_loop(level, op, edge)
        else:
            turn = RecordedVjp(
                self._again,
                level.ran,
                op,
                self._carried(level, edge, place.ref),
                [*gradients.values()],
            )
            outcome = self._stopped(Wire(place, edge, op, turn, gradients), live[0])
            yield outcome if isinstance(outcome, Place) else replace(outcome, step=turn.step)

    def _is_unread(self, level: Level, gradients: Mapping[TensorRef, TensorRef]) -> bool:
        """Whether nothing computes what arrives at an operation of a loop, since its gradient
        function gives 0 whatever comes in. Of gradients that are rows nobody computes the whole."""
        return level.loop is not None and not any(
            ref in self._derived.slices or level.ran.value_of(gradient) is not None
            for ref, gradient in gradients.items()
        )

    def _into_loop(self, level: Level, op: Operation, edge: Edge) -> Iterator[Stopper | Place]:
        loop, back = loop_of(op), iterations_back(level.ran, op)
        assert loop is not None
        if back is None or back.count == 0:
            yield Stopper(level, op, "no_iterations" if back else "flat")
            return
        name = loop.arguments[edge.index]
        numbers = range(back.count)
        looked_at = [numbers[-1]] if name in loop.variables else reversed(numbers[:_MOST])
        for number in looked_at:
            yield Place(level_of(level, op, back, number), TensorRef(name))

    def _stopped(self, wire: Wire, live: np.ndarray) -> Stopper | Place:
        """What let nothing through of what had arrived; or what has to be looked at farther up."""
        index = wire.place.at
        if index is None or index not in np.ndindex(live.shape) or not live[index]:
            index = _first(live)
        op, level = wire.op, wire.place.level
        name = self._derived.custom.get(op.name, "")
        otherwise = "override" if name else "flat"
        if not wire.turn.can_run:
            return Stopper(level, op, otherwise, index, override=name)
        blame = wire.to_blame()
        if blame is not None:
            there = _element_of(blame.leaf.array, index)
            return Stopper(level, op, blame.cause, index, blame.leaf, there, blame.operand)
        if wire.lets_through(wire.turn.with_arrived(without_zeros)):
            higher = wire.higher()
            if higher is not None:
                return higher
        if wire.lets_through(wire.turn.with_arrived(others)):
            return Stopper(level, op, "cancelled", index)
        if wire.place.at is not None and is_alive(wire.turn.carried, None):
            return Stopper(level, op, "not_used", index)
        return Stopper(level, op, otherwise, index, override=name)

    # -- values --------------------------------------------------------------------------------

    def _is_given(self, place: Place, cotangent: TensorRef | None) -> bool:
        """Whether what comes back was given by hand, at the element that is looked at."""
        ran = place.level.ran
        index = None if cotangent is None else ran.value_of(cotangent)
        given = None if index is None else self._again.given(ran, index)
        return given is not None and is_alive(given, place.at)

    def _note_untaken(self, level: Level, dead: Sequence[TensorRef]) -> None:
        """What of an iteration's tensors without a gradient leads into a branch that was not taken;
        in a loop in a loop that is not looked up."""
        if level.loop is None or level.around is None or level.around.loop is not None:
            return
        around, ((number, _), *_) = level.around.ran, level.iteration
        there = LoopRan(around, around.plan.step_of[level.loop.name]).iteration(number)
        value = partial(self._array, Level(there, level.graph))
        for ref in dead:
            for edge in level.graph.consumers.get(ref.op, ()):
                if level.graph.source(edge) == ref and (
                    why := say_why_untaken(level.graph, edge.op, value)
                ):
                    op = level.graph[edge.op]
                    self._dead.append(Stopper(level, op, "untaken", why=why))

    def _carried(self, level: Level, edge: Edge, ref: TensorRef) -> TensorRef:
        """The tensor that a wire carries back; of rows that nobody asked for whole, their sum."""
        carried = self._derived.edges[edge]
        return carried if carried in level.ran.plan.tensors else self._derived.gradients[ref]

    def _array(self, level: Level, ref: TensorRef | None) -> np.ndarray | None:
        """None, too, of what is in a branch that was not taken: something else may lie there."""
        index = None if ref is None else level.ran.value_of(ref)
        made = -1 if index is None else level.ran.plan.made_by[index]
        if ref is None or index is None or (made >= 0 and not level.ran.has_run(made)):
            return None
        if level.ran.is_dead(ref):
            return None
        found = self._again.array(level.ran.held(index))
        return found if isinstance(found, np.ndarray) else None


def _from(graph: Graph, part: _Part, others: Sequence[_Part]) -> str:
    """Where a part comes from: an operation, with its input where it takes the tensor twice."""
    twice = sum(other.name == part.name for other in others) > 1
    definition = find(graph[part.edge.op].type) if part.edge is not None and twice else None
    if part.edge is None or definition is None:
        return part.name
    return f"{part.name} ({definition.arity(len(graph[part.edge.op].inputs))[part.edge.index]})"


def _first(array: np.ndarray) -> Index:
    """The first element that is not zero."""
    return tuple(int(i) for i in np.argwhere(array)[0])


def _element_of(array: np.ndarray, index: Index) -> Index | None:
    """The element of an operand at that of a result; else its first zero, if it has one."""
    found = broadcast_index(array.shape, index)
    if found is not None:
        return found
    zero = np.argwhere(array == 0)
    return tuple(int(i) for i in zero[0]) if len(zero) else None
