"""Pruning: what must run for the fetches and targets; nothing else does."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from itertools import chain, compress, count, filterfalse
from operator import is_not

from gradstep.core.graph.carry_over import find_moved, known_changes
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.persistent.edited_columns import difference
from gradstep.core.persistent.edited_sequence import exchanged
from gradstep.core.persistent.joined_sequence import in_parts
from gradstep.core.persistent.overlaid_mapping import laid_open, overlaid
from gradstep.core.persistent.sequence_places import common_ends, inserted_places

_FEW = 64  # names, of which each is looked for


def _exchanged(then: Sequence[str], now: Sequence[str]) -> tuple[Iterable[str], Iterable[str]]:
    """What the one list has more than the other, as often as it has more of it; and the other way
    round. Only what lies between the first and the last that differ is looked at."""
    known = difference(then, now)
    if known is not None:
        return [then[place] for place in known.gone], [now[place] for _, place in known.come]
    first, last = common_ends(then, now)
    old, new = (each[first : len(each) - last] for each in (then, now))
    gone, came = {*old}, {*new}
    if len(gone) == len(old) and len(came) == len(new):  # nothing is there twice
        return gone - came, came - gone
    less, more = Counter(old), Counter(new)
    return (less - more).elements(), (more - less).elements()


class Needed:
    """How many times each operation is asked for: by those that are needed themselves, and as what
    is wanted in the end. What nobody asks for does not run.

    A feed cuts the wires that carry it, but no control dependency; a fed placeholder is replaced
    by its feed, control dependencies included. wanted: operations, each as often as it is asked
    for. changed, entered, left: after an edit, the operations that are others, that were not needed
    before, and that are not needed any more.
    """

    def __init__(self, graph: Graph, fed: Collection[TensorRef], wanted: Sequence[str]) -> None:
        self.graph = graph
        self._fed = fed
        self._cut = {ref.op for ref in fed}
        self.wanted = wanted
        self._wanted = self._not_replaced(wanted)
        self.counts: MutableMapping[str, int] = {}
        self.changed: frozenset[str] = frozenset()
        self.entered: set[str] = set()
        self.left: set[str] = set()
        self.keeps_sequence = False  # whether it is known that what was needed comes as it came
        self._ask(self._wanted)

    def forget_changes(self) -> None:
        """Nobody asks what is other than before any more."""
        self.changed, self.entered, self.left = frozenset(), set(), set()
        self.__dict__.pop("entries", None)

    @cached_property
    def entries(self) -> Mapping[str, int]:
        """Where those come that were not needed before."""
        places = compress(
            count(), map(self.entered.__contains__, self.names if self.entered else ())
        )
        return {self.names[place]: place for place in places}

    @cached_property
    def missing(self) -> set[str]:
        """Names that are asked for, but are not in the graph: their readers fail."""
        return {*filterfalse(self.graph.operations.__contains__, self.counts)}

    @cached_property
    def names(self) -> Sequence[str]:
        """What must run, in order."""
        counts = laid_open(self.counts, len(self.graph))
        return in_parts([*filter(counts.__contains__, self.graph.order)])

    @property
    def operations(self) -> list[Operation]:
        """What must run, in order."""
        return [*map(self.graph.operations.__getitem__, self.names)]

    def after(self, graph: Graph, wanted: Sequence[str], places: Mapping[str, int]) -> Needed:
        """The same for an edited graph: only what has changed is looked at. places: of the names,
        as the steps of the plan have them."""
        old, new = self.graph.operations, graph.operations
        if any(old.get(name) is not new.get(name) for name in self._cut):
            other = Needed(graph, self._fed, wanted)  # other wires may be cut
            other.left = {n for n in self.counts.keys() - other.counts.keys() if n in old}
            return other
        changed = self._find_changed(graph)
        other = Needed(graph, self._fed, ())
        other.counts = overlaid(self.counts)
        other.wanted = wanted
        other._wanted = self._still_wanted(wanted)
        gone, came = _exchanged(self._wanted, other._wanted)
        other.changed = frozenset(changed)
        for name in changed:
            other._ask(other.asked_by(name))
        other._ask(came)
        for name in changed:
            other._drop(self.asked_by(name))
        other._drop(gone)
        other.entered = {n for n in other.entered if n in other.counts and n not in self.counts}
        left = (n for n in other.left if n in self.counts and n not in other.counts)
        other.left = {*filter(old.__contains__, left)}  # what was missing had no step
        if not other.entered and not other.left and graph.order == self.graph.order:
            other.names = self.names
        elif (found := self._spliced(other, places)) is not None:
            other.names, other.entries = found
            other.keeps_sequence = True
        absent = chain(self.missing, changed, other.entered)
        other.missing = {n for n in absent if n in other.counts and n not in new}
        return other

    def _spliced(
        self, other: Needed, places: Mapping[str, int]
    ) -> tuple[Sequence[str], Mapping[str, int]] | None:
        """The names of the other, from these, and its entries; None where that is no matter of a
        few."""
        order, left, entered = other.graph.order, other.left, other.entered
        changes = known_changes(self.graph, other.graph)
        if changes is None or self.missing or len(left) + len(entered) > _FEW:
            return None
        if any(n not in other.graph for n in (*changes.removed, *entered) if n in other.counts):
            return None
        moved = self.graph.is_in_order and other.graph.is_in_order
        known = find_moved(self.graph, other.graph) if moved else None
        if known is not None:
            new = {order[place]: place for _, place in known.come}
        else:
            found = inserted_places(self.graph.order, order, changes.removed, changes.added)
            if found is None:
                return None
            new = found
        gone = sorted(map(places.__getitem__, left))
        come, at = sorted(new[n] if n in new else order.index(n) for n in entered), -1
        entries: dict[str, int] = {}
        for number, place in enumerate(come):
            earlier = map(order.__getitem__, range(place)[::-1])
            before_it = next(filter(other.counts.__contains__, earlier), None)
            if before_it is None:
                at = 0
            elif before_it in entered:  # the one that was put in last
                at += 1
            else:
                at = places[before_it]
                at += number + 1 - bisect_left(gone, at)
            entries[order[place]] = at
        return exchanged(self.names, gone, [(at, n) for n, at in entries.items()]), entries

    def _find_changed(self, graph: Graph) -> list[str]:
        """The operations that are needed here and are others in `graph`."""
        if graph is self.graph:
            return []
        counts, changes = self.counts, known_changes(self.graph, graph)
        if changes is not None:
            return [*filter(counts.__contains__, changes.names)]
        old, new = self.graph.operations, graph.operations
        return [*compress(counts, map(is_not, map(old.get, counts), map(new.get, counts)))]

    def asked_by(self, name: str) -> Iterator[str]:
        """What operation `name` asks for: what has to run before it does."""
        op = self.graph.operations.get(name)
        if op is None:
            return
        for ref in op.inputs:
            if ref is not None and (ref.op not in self._cut or not self._is_cut(ref)):
                yield ref.op
        for other in op.control_inputs:
            if not self._is_replaced(other):
                yield other

    def _still_wanted(self, wanted: Sequence[str]) -> Sequence[str]:
        """What of these no feed replaces, as far as that is as before."""
        known = difference(self.wanted, wanted)
        if known is None:
            return self._not_replaced(wanted)
        if not known.gone and not known.come:
            return self._wanted
        came = (wanted[place] for _, place in known.come)
        all_stay = self._wanted is self.wanted and self._cut.isdisjoint(came)
        return wanted if all_stay else self._not_replaced(wanted)

    def _not_replaced(self, names: Sequence[str]) -> Sequence[str]:
        if self._cut.isdisjoint(names):
            return names
        return [n for n in names if n not in self._cut or not self._is_replaced(n)]

    def _is_cut(self, ref: TensorRef) -> bool:
        return ref in self._fed or self._is_replaced(ref.op)

    def _is_replaced(self, name: str) -> bool:
        op = self.graph.operations.get(name) if name in self._cut else None
        return op is not None and op.type == "Placeholder" and op.output() in self._fed

    def _ask(self, names: Iterable[str]) -> None:
        counts, stack = self.counts, [*names]
        while stack:
            name = stack.pop()
            count = counts.get(name, 0)
            counts[name] = count + 1
            if not count:
                self.entered.add(name)
                stack.extend(self.asked_by(name))

    def _drop(self, names: Iterable[str]) -> None:
        counts, stack = self.counts, [*names]
        while stack:
            name = stack.pop()
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
                self.left.add(name)
                stack.extend(self.asked_by(name))
