"""VJPs taken over from the differentiation before an edit, where nothing that they saw changed.

A turn is that of an operation on the way back. A rule of the table sees the operation, the types
and known values of its inputs and outputs, and what arrives; so its turn is taken again, with the
very same operations, where none of these has changed. A user's function may see anything: it is
always called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import Inference, declared

Seeds = Mapping[str, Sequence[tuple[int, Contribution]]]


@dataclass(frozen=True, eq=False)
class Trail:
    """How a differentiation went.

    root:      the scope of all that it made.
    functions: names of the user's functions.
    seeds:     operation -> what its outputs started with.
    turns:     in their order.
    first:     number of operations of the derived graph before those of the first turn.
    """

    way: BackwardSlice
    request: GradientRequest
    functions: frozenset[str]
    root: str
    seeds: Seeds
    turns: Mapping[str, VjpResult]
    first: int

    @property
    def can_be_followed(self) -> bool:
        """Whether the names that a turn gave are its own affair."""
        return not self.way.has_gradient_scopes and not any(t.astray for t in self.turns.values())


def differing_turns(before: Trail, now: Trail) -> set[str]:
    """Operations whose turns may go another way, for what was asked and drawn: not counting what
    arrives at them from others' turns."""
    a, b = before.request, now.request
    found = {ref.op for ref in a.stops ^ b.stops}
    found |= {edge.op for edge in a.stopped_edges ^ b.stopped_edges}
    found |= before.seeds.keys() | now.seeds.keys()
    asked_then, asked_now = ((r.stops, r.stopped_edges, r.overrides) for r in (a, b))
    users = before.functions | now.functions
    if asked_then != asked_now or users:  # what lies in a loop may be meant
        found |= {op.name for op in now.way.path.values() if loop_of(op) is not None}
    if users:
        found |= {name for name, turn in before.turns.items() if turn.rule in users}
    if overrides := _toggled(a.overrides, b.overrides):
        found |= {op.name for op in now.way.path.values() if any(o.matches(op) for o in overrides)}
    if before.way is not now.way:
        found |= {op.name for op in now.way.path.values() if not now.way.same_at(before.way, op)}
    if before.way.graph is not now.way.graph:
        found |= set(_redrawn(before.way.graph, now.way))
    return found


def _toggled(before: Sequence[Override], now: Sequence[Override]) -> set[Override]:
    if before == now:
        return set()
    toggled = {*before} ^ {*now}
    kept = [[o for o in each if o not in toggled] for each in (before, now)]
    return toggled if kept[0] == kept[1] else {*before, *now}  # in another order: the last rules


def _redrawn(before: Graph, way: BackwardSlice) -> Iterator[str]:
    """Operations of `way` that are not what they were, or see other types or values."""
    old, new = declared(before), declared(way.graph)
    for name, op in way.path.items():
        seen = [name, *(ref.op for ref in op.inputs if ref is not None)]
        if before.operations.get(name) is not op or not all(_alike(old, new, n) for n in seen):
            yield name


def _alike(old: Inference, new: Inference, name: str) -> bool:
    """Whether the same is known of the operation's outputs."""
    if old.types.of.get(name) != new.types.of.get(name):
        return False
    a, b = old.constants.get(name), new.constants.get(name)
    if a is None or b is None:
        return a is b
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


class Reuse:
    """Takes turns of `trail`, which led to `graph`, into `builder`: those that follow one another
    at once."""

    def __init__(self, builder: GraphBuilder, trail: Trail, graph: Graph) -> None:
        self._builder, self._graph, self._known = builder, graph, declared(graph)
        self._turns = trail.turns
        self._names = list(graph.operations)
        sizes = [turn.made for turn in trail.turns.values()]
        starts = accumulate(sizes, initial=trail.first)
        self._starts = dict(zip(trail.turns, starts, strict=False))
        self._start = self._stop = 0

    def take(self, name: str) -> VjpResult:
        """The turn of operation `name`, as it went; `flush` puts its operations there."""
        turn, start = self._turns[name], self._starts[name]
        if start != self._stop:
            self.flush()
            self._start = start
        self._stop = start + turn.made
        return turn

    def flush(self) -> None:
        if self._start < self._stop:
            self._builder.repeat(self._graph, self._names[self._start : self._stop])
        self._start = self._stop = 0

    def went_alike(self, name: str, turn: VjpResult) -> bool:
        """Whether `turn`, taken anew, gave what that of operation `name` gave before."""
        before = self._turns.get(name)
        if before is None or before.made != turn.made or before.sent != turn.sent:
            return False
        return all(self._is_known(op) for op in self._builder.latest(turn.made))

    def _is_known(self, op: Operation) -> bool:
        there = self._graph.operations.get(op.name) is op
        return there and _alike(self._known, self._builder.known, op.name)
