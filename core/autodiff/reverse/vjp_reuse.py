"""VJPs taken over from the differentiation before an edit, where nothing that they saw changed.

A rule of the table sees the operation, the types and known values of its inputs and outputs, and
the contributions that come back; so its VJP is taken again, with the very same operations, where
none of these has changed. A user's function may see anything: it is always called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate
from operator import attrgetter

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.autodiff.reverse.vjp_templates import TemplatedPass
from gradstep.core.graph.changes import find_others
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.typing.inference import agree, has_loops, infer_declared

_MADE, _SCOPE = attrgetter("made"), attrgetter("scope")

Seeds = Mapping[str, Sequence[tuple[int, Contribution]]]


@dataclass(frozen=True, eq=False)
class PassRecord:
    """What a backward pass did, for the next one.

    slice:     the operations that it visited.
    functions: names of the user's functions.
    root:      the scope of all that it made.
    seeds:     operation -> what its outputs started with.
    vjps:      in their order.
    first:     number of operations of the derived graph before those of the first VJP.
    """

    slice: BackwardSlice
    request: GradientRequest
    functions: frozenset[str]
    root: str
    seeds: Seeds
    vjps: Mapping[str, VjpResult]
    first: int

    @classmethod
    def start(cls, backward: TemplatedPass) -> PassRecord:
        """Of a pass that has its seeds; it fills as the pass runs."""
        names, size = frozenset(backward.functions), backward.builder.size
        given = backward.slice, backward.request, names, backward.root
        return cls(*given, backward.seeds, backward.vjps, size)

    def is_reusable(self, graph: Graph) -> bool:
        """Whether the names that a VJP gave are its own affair. graph: the derived one."""
        return not self.slice.has_gradient_scopes and not any(self._strayed(graph))

    @cached_property
    def starts(self) -> list[int]:
        """For each VJP the number of operations of the derived graph before its own, and that
        before what comes after the last."""
        return [*accumulate(map(_MADE, self.vjps.values()), initial=self.first)]

    def _strayed(self, graph: Graph) -> Iterator[str]:
        """Operations that a user's function made elsewhere than in its VJP's scope."""
        called = {name: vjp for name, vjp in self.vjps.items() if vjp.rule in self.functions}
        if not called:
            return
        names, places = list(graph.operations), {name: i for i, name in enumerate(self.vjps)}
        for name, vjp in called.items():
            start = self.starts[places[name]]
            made = names[start : start + vjp.made]
            yield from (other for other in made if not other.startswith(f"{vjp.scope}/"))


def run_again(backward: TemplatedPass, before: PassRecord, graph: Graph) -> None:
    """What `backward.run()` does, with VJPs of `before`, which led to `graph`, where they would be
    the same: only those that differ are visited, and those that they send something else to."""
    now = PassRecord.start(backward)
    if (now.root, now.request.gate) != (before.root, before.request.gate):
        backward.run()
        return
    path, places = backward.slice.path, backward.slice.places
    names = list(path)
    reuse, differing = _Reuse(backward, before, graph, names), _find_differing(before, now)
    if not reuse.same:
        differing |= path.keys() - before.vjps.keys()
    queue = sorted(places[name] for name in differing if name in places)
    queued = set(queue)
    done = 0
    while queue:
        place = heappop(queue)
        name = names[place]
        reuse.take(done, place)
        done = place + 1
        vjp = backward.vjps[name] = backward.visit(path[name])
        if not reuse.went_alike(name, vjp):
            sources = {places[ref.op] for ref in path[name].inputs if ref and ref.op in places}
            for other in sources - queued:
                queued.add(other)
                heappush(queue, other)
    reuse.take(done, len(names))


def _find_differing(before: PassRecord, now: PassRecord) -> set[str]:
    """Operations whose VJPs may be others, for what was asked and drawn: not counting what comes
    back to them from others' VJPs."""
    a, b, here = before.request, now.request, now.slice
    found = {ref.op for ref in a.stops ^ b.stops}
    found |= {edge.op for edge in a.stopped_edges ^ b.stopped_edges}
    found |= before.seeds.keys() | now.seeds.keys()
    asked_then, asked_now = ((r.stops, r.stopped_edges, r.overrides) for r in (a, b))
    users = before.functions | now.functions
    if (asked_then != asked_now or users) and has_loops(here.graph):
        found |= {op.name for op in here.path.values() if loop_of(op) is not None}  # what is inside
    if users:
        found |= {name for name, vjp in before.vjps.items() if vjp.rule in users}
    for override in _toggled(a.overrides, b.overrides):
        found |= {op.name for op in _candidates(override, here) if override.matches(op)}
    if before.slice.arrivals is not here.arrivals:
        found |= here.differing_from(before.slice)
    if before.slice.graph is not here.graph:
        found |= set(_redrawn(before.slice.graph, here))
    return found


def _candidates(override: Override, there: BackwardSlice) -> Iterable[Operation]:
    """Among which operations those are that an override matches."""
    if override.kind is OverrideKind.OP:
        return [op for name in (override.target_name,) if (op := there.path.get(name))]
    return there.path.values()


def _toggled(before: Sequence[Override], now: Sequence[Override]) -> set[Override]:
    if before == now:
        return set()
    toggled = {*before} ^ {*now}
    kept = [[o for o in each if o not in toggled] for each in (before, now)]
    return toggled if kept[0] == kept[1] else {*before, *now}  # in another order: the last rules


def _redrawn(before: Graph, now: BackwardSlice) -> Iterator[str]:
    """Operations of `now` that are not what they were, or see other types or values."""
    old, new = infer_declared(before), infer_declared(now.graph)
    then, here = before.operations, now.graph.operations
    known = ((then, here), (old.types.of, new.types.of), (old.constants, new.constants))
    others = {name for one, other in known for name in find_others(one, other)}
    others = others.union(*(one.keys() - other.keys() for one, other in known))
    touched = {n for n in others if then.get(n) is not here.get(n) or not agree(old, new, n)}
    readers = {edge.op for name in touched & here.keys() for edge in now.graph.consumers[name]}
    return filter(now.path.__contains__, touched | readers)


class _Reuse:
    """Takes VJPs of `record`, which led to `graph`, into the graph that `backward` builds."""

    def __init__(
        self, backward: TemplatedPass, record: PassRecord, graph: Graph, names: Sequence[str]
    ) -> None:
        self._builder, self._graph, self._known = backward.builder, graph, infer_declared(graph)
        self._now, self._vjps, self._starts = backward.vjps, record.vjps, record.starts
        self._names = list(graph.operations)
        self._all = list(record.vjps.values())
        self._path, self._places = names, record.slice.places
        self.same = list(record.vjps) == names  # whether the path is what it was
        for scope in backward.slice.scopes:
            self._builder.names.open(f"{record.root}/{scope}" if scope else record.root)

    def take(self, start: int, stop: int) -> None:
        """The VJPs of the operations from number `start` to `stop` of the path, as they were: those
        at once that followed one another."""
        names, places = self._path, self._places
        while start < stop:
            first, end = places[names[start]], stop
            if not self.same:
                end = start + 1
                while end < stop and places[names[end]] == first + end - start:
                    end += 1
            self._take(names[start:end], first)
            start = end

    def _take(self, names: Sequence[str], first: int) -> None:
        """Those which were number `first` and the next ones."""
        vjps = self._all[first : first + len(names)]
        self._now.update(zip(names, vjps, strict=True))
        made = self._names[self._starts[first] : self._starts[first + len(names)]]
        if made:
            self._builder.names.seal(filter(None, map(_SCOPE, vjps)), made)
            self._builder.repeat(self._graph, made)

    def went_alike(self, name: str, vjp: VjpResult) -> bool:
        """Whether `vjp`, made anew, gave what that of operation `name` gave before."""
        before = self._vjps.get(name)
        if before is None or before.made != vjp.made or before.sent != vjp.sent:
            return False
        return all(self._is_known(op) for op in self._builder.latest(vjp.made))

    def _is_known(self, op: Operation) -> bool:
        there = self._graph.operations.get(op.name) is op
        return there and agree(self._known, self._builder.known, op.name)
