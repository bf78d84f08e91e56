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
from itertools import accumulate, compress, count, pairwise, repeat
from operator import add, attrgetter, itemgetter, ne
from typing import Any

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.autodiff.reverse.vjp_templates import TemplatedPass
from gradstep.core.graph.carry_over import known_changes
from gradstep.core.graph.changes import find_others
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.build.rebuilding import Rebuilder, rebuild_upon
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.ops.typing.inference import agree, find_retyped, has_loops, infer_declared
from gradstep.core.persistent.edited_columns import Exchange
from gradstep.core.persistent.edited_sequence import exchanged
from gradstep.core.persistent.sequence_places import exchanged_keys
from gradstep.core.persistent.spliced_mapping import spliced

_MADE = attrgetter("made")
_ANEW = -2  # the place of who was visited again: no other comes right behind it

Seeds = Mapping[str, Sequence[tuple[int, Contribution]]]


@dataclass(frozen=True, eq=False)
class PassRecord:
    """What a backward pass did, for the next one.

    slice:     the operations that it visited.
    functions: names of the user's functions.
    root:      the scope of all that it made.
    seeds:     operation -> what its outputs started with.
    vjps:      in their order.
    first:     number of operations that were made before those of the first VJP.
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

    def made(self, graph: Graph) -> Sequence[str]:
        """The operations of the derived graph that were made, in order."""
        return graph.names[len(self.slice.graph) :]

    @cached_property
    def starts(self) -> list[int]:
        """For each VJP the number of operations that were made before its own, and that before what
        comes after the last."""
        return [*accumulate(map(_MADE, self.vjps.values()), initial=self.first)]

    def _strayed(self, graph: Graph) -> Iterator[str]:
        """Operations that a user's function made elsewhere than in its VJP's scope."""
        vjps = self.vjps.items() if self.functions else ()
        called = {name: vjp for name, vjp in vjps if vjp.rule in self.functions}
        if not called:
            return
        names, places = self.made(graph), {name: i for i, name in enumerate(self.vjps)}
        for name, vjp in called.items():
            start = self.starts[places[name]]
            made = names[start : start + vjp.made]
            yield from (other for other in made if not other.startswith(f"{vjp.scope}/"))


def rebuild(
    graph: Graph, request: GradientRequest, before: PassRecord, derived: Graph, scope: str
) -> Rebuilder | None:
    """A builder that goes on from `derived`, to which the pass `before` led; None where nothing of
    that can be taken."""
    if request.gate != before.request.gate or names_of(graph).unique(scope) != before.root:
        return None
    return rebuild_upon(graph, derived, before.slice.graph)


class RepeatedPass:
    """What `backward.run()` does, with VJPs of `before`, which led to `graph`, where they would be
    the same: only those that differ are visited, and those that they send something else to.

    visited: operation -> its VJP then, if it had one; gone: those that were visited then alone.
    record:  of this pass, once it has run.
    """

    def __init__(
        self, backward: TemplatedPass, builder: Rebuilder, before: PassRecord, graph: Graph
    ) -> None:
        self.backward, self._builder, self._before = backward, builder, before
        self._graph, self._known = graph, infer_declared(graph)
        self._made_before = before.made(graph)
        self._made: dict[str, list[str]] = {}  # by those that are visited
        self.visited: dict[str, VjpResult | None] = {}
        path, vjps = backward.slice.path, before.vjps
        # What is not in it any more, and what is in it now, where that is a few.
        self._moved = exchanged_keys(vjps, path)
        if self._moved is not None:
            names = [*vjps] if self._moved[0] else []
            self.gone = {names[place]: vjps[names[place]] for place in self._moved[0]}
        else:
            self.gone = {n: vjp for n, vjp in vjps.items() if n not in path}
        builder.drop(self._made_before[: before.first])
        builder.drop(self._made_before[before.starts[-1] :])

    def run(self) -> None:
        """After the pass has got its seeds."""
        self._seeds = self._builder.made_since(0)
        backward, vjps = self.backward, self._before.vjps
        path, places = backward.slice.path, backward.slice.places
        names, new = list(path), set[str]()
        if self._moved is not None:
            come: list[tuple[int, str, Any]] = [(at, names[i], None) for at, i in self._moved[1]]
            backward.vjps = spliced(vjps, self.gone, come)
            new.update(name for _, name, _ in come)
        else:
            backward.vjps = dict(zip(path, map(vjps.get, path), strict=True))  # type: ignore[arg-type]
            new = path.keys() - vjps.keys()
        now = self.record = PassRecord.start(self.backward)
        differing = _find_differing(self._before, now) | new
        if self._before.seeds != now.seeds or not all(map(self._is_known, self._seeds)):
            differing |= self._before.seeds.keys() | now.seeds.keys()
        for name, vjp in self.gone.items():
            self._drop(name, vjp)
        queue = sorted(places[name] for name in differing if name in places)
        queued = set(queue)
        while queue:
            name = names[heappop(queue)]
            if not self._visit_again(path[name]):
                sources = {places[ref.op] for ref in path[name].inputs if ref and ref.op in places}
                for other in sources - queued:
                    queued.add(other)
                    heappush(queue, other)

    @property
    def changed(self) -> Mapping[str, VjpResult | None] | None:
        """`visited`, where the path is what it was, but for what operations are called: then with
        the VJPs that these had. Else None."""
        if self._moved == ([], []):
            return self.visited
        before, vjps = self._before.slice.places, self._before.vjps
        then, path, places = [*vjps], self.backward.slice.path, self.backward.slice.places
        gone = {before[name]: vjp for name, vjp in self.gone.items()}
        named = {n: gone.get(places[n]) for n in self.visited if n not in vjps}
        for name in named:
            if places[name] < len(then):
                then[places[name]] = name
        return {**self.visited, **named} if then == [*path] else None

    def order_made(self, behind: Sequence[str]) -> tuple[Sequence[str], Exchange | None]:
        """All that was made, in order, `behind` after all VJPs; and how that differs from what was
        made before, where that is a few."""
        made = self._made_before
        found = self._exchanged_made(behind) if self._moved is not None else None
        if found is None:
            return [*self._gathered_made(), *behind], None
        moved = Exchange.of(found[0], [at for at, _ in found[1]])
        come = [(place, n) for (_, place), (_, n) in zip(moved.come, found[1], strict=True)]
        return (exchanged(made, moved.gone, come) if come or moved.gone else made), moved

    def _exchanged_made(
        self, behind: Sequence[str]
    ) -> tuple[list[int], list[tuple[int, str]]] | None:
        """Where what was made before and is not any more was; and before which place there each
        comes that is made now. None where others come in another order."""
        assert self._moved is not None
        made, starts, (gone, come) = self._made_before, self._before.starts, self._moved
        path, places = [*self.backward.slice.path] if come else [], self._before.slice.places
        rows = [(at, 0, path[place]) for at, place in come]  # what comes before the others there
        rows += [(places[name], 1, name) for name in self.visited if name in places]
        rows += [(place, 1, "") for place in gone]
        parts: list[tuple[int, int, Sequence[str]]] = [(0, self._before.first, self._seeds)]
        for place, was_there, name in sorted(rows, key=itemgetter(0, 1)):
            parts.append((starts[place], starts[place + was_there], self._made.get(name, ())))
        went, came = list[int](), list[tuple[int, str]]()
        for start, stop, now in (*parts, (starts[-1], len(made), behind)):
            moved = exchanged_keys(dict.fromkeys(made[start:stop]), dict.fromkeys(now))
            if moved is None:
                return None
            went += [start + place for place in moved[0]]
            came += [(start + at, now[place]) for at, place in moved[1]]
        others = {name for _, name in came}
        return (went, came) if others.isdisjoint(made[place] for place in went) else None

    def _gathered_made(self) -> list[str]:
        """What was made up to the last VJP, in order, whatever the path."""
        before, made, now = self._before, self._made_before, self._seeds
        places = before.slice.places
        path, starts = [*self.backward.slice.path], before.starts
        if not path:
            return now
        then = [*map(places.get, path, repeat(_ANEW))]
        for name in self._made.keys() & self.backward.slice.places.keys():
            then[self.backward.slice.places[name]] = _ANEW
        # What stays comes in long runs that were runs before; what was made anew is one by itself.
        heads = compress(count(1), map(ne, then[1:], map(add, then, repeat(1))))
        for start, stop in pairwise((0, *heads, len(path))):
            if then[start] == _ANEW:
                now += self._made[path[start]]
            else:
                now += made[starts[then[start]] : starts[then[stop - 1] + 1]]
        return now

    def _made_for(self, name: str) -> tuple[int, int]:
        """Where what was made for an operation began, and ended."""
        place = self._before.slice.places[name]
        return self._before.starts[place], self._before.starts[place + 1]

    def _drop(self, name: str, vjp: VjpResult) -> None:
        if vjp.scope:
            self._builder.clear(vjp.scope, self._made_before[slice(*self._made_for(name))])

    def _visit_again(self, op: Operation) -> bool:
        """Visit it; whether that gave what it gave before."""
        builder, name, before = self._builder, op.name, self._before.vjps.get(op.name)
        self.visited[name] = before
        if before is not None:
            self._drop(name, before)
        size = builder.size
        vjp = self.backward.vjps[name] = self.backward.visit(op)
        self._made[name] = builder.made_since(size)
        if before is None or before.made != vjp.made:
            return False
        if (before.sent, before.rows) != (vjp.sent, vjp.rows):
            return False
        if before == vjp:
            self.backward.vjps[name] = before  # the very same: who compares finds that at once
        return all(map(self._is_known, self._made[name]))

    def _is_known(self, name: str) -> bool:
        there = self._graph.operations.get(name) is self._builder.operation(name)
        return there and agree(self._known, self._builder.known, name)


def _find_differing(before: PassRecord, now: PassRecord) -> set[str]:
    """Operations whose VJPs may be others, for what was asked and drawn: not counting what comes
    back to them from others' VJPs, or what they are given to start with."""
    a, b, here = before.request, now.request, now.slice
    found = {ref.op for ref in a.stops ^ b.stops}
    found |= {edge.op for edge in a.stopped_edges ^ b.stopped_edges}
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
    changes = known_changes(before, now.graph)
    if changes is not None:
        others = {*changes.names}
    else:
        others = {*find_others(then, here), *(then.keys() - here.keys())}
    others |= find_retyped(before, now.graph)
    touched = {n for n in others if then.get(n) is not here.get(n) or not agree(old, new, n)}
    readers = {edge.op for name in touched & here.keys() for edge in now.graph.consumers[name]}
    return filter(now.path.__contains__, touched | readers)
