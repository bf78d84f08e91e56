"""The indexes of a graph after an edit, from those of the graph before it.

Only what the edit touched is looked at. What cannot be told from that is found anew when it is
asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import filterfalse
from operator import attrgetter, is_not
from weakref import ref as weak

from gradstep.core.graph.changes import Changes, alike, keep_sequence, share_and_diff
from gradstep.core.graph.model import Edge, Graph, Operation, marked_among, predecessors
from gradstep.core.persistent.edited_columns import NOT_AT_ALL, Exchange
from gradstep.core.persistent.overlaid_mapping import overlaid
from gradstep.core.persistent.sequence_places import exchanged_places
from gradstep.core.persistent.shifted_places import shift_places
from gradstep.core.persistent.spliced_mapping import copied

_EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Edit:
    """What a graph was made from. moved: how `Graph.names` differ, where that is known."""

    before: weak[Graph]
    changes: Changes
    is_large: bool  # the one is another graph, rather
    moved: Exchange | None = None


def edit_before(graph: Graph) -> tuple[Graph, Changes] | None:
    """The graph that `graph` was before an edit, while somebody has that, and the edit."""
    edit: Edit | None = graph.__dict__.get(_EDIT)
    before = None if edit is None or edit.is_large else edit.before()
    return None if edit is None or before is None else (before, edit.changes)


def changes_between(before: Graph, graph: Graph) -> Changes:
    """What else there is to `graph`: as the edit said that led from the one to the other, or back,
    if one did."""
    known = known_changes(before, graph)
    return share_and_diff(graph, before)[1] if known is None else known


def known_changes(before: Graph, graph: Graph) -> Changes | None:
    """The same without a look at the graphs; None where neither was made from the other."""
    edit, undone = edit_before(graph), edit_before(before)
    if edit is not None and edit[0] is before:
        return edit[1]
    return undone[1].undone if undone is not None and undone[0] is graph else None


def find_moved(before: Graph, graph: Graph) -> Exchange | None:
    """How the names of `graph` in their order differ from those of the graph that it was made of,
    or that was made of it; None where more than a few come or go, or the others come in another
    order."""
    edit: Edit | None = graph.__dict__.get(_EDIT)
    undone: Edit | None = before.__dict__.get(_EDIT)
    if edit is not None and edit.moved is not None and edit.before() is before:
        return edit.moved
    if undone is not None and undone.moved is not None and undone.before() is graph:
        return undone.moved.undone
    then, now = before.names, graph.names
    if then == now:
        return NOT_AT_ALL
    changes = known_changes(before, graph)
    removed = before.operations.keys() - graph.operations if changes is None else changes.removed
    added = graph.operations.keys() - before.operations if changes is None else changes.added
    found = exchanged_places(then, now, removed, added)
    return None if found is None else Exchange(*found)


def is_made_again(graph: Graph, other: Graph) -> bool | None:
    """Whether `graph` is the other one again, whose edit was undone, or done again; by a look at
    what edits changed on the way. None where they do not say so."""
    edit = edit_before(graph)
    if edit is None:
        return None
    middle, changes = edit
    there = Changes() if middle is other else known_changes(middle, other)
    if there is None:
        return None
    here, way = find_moved(middle, graph), find_moved(middle, other)
    if here is None or way is None:
        return None
    new, old = graph.operations, other.operations
    for name in {*changes.names, *there.names}:
        op, known = new.get(name), old.get(name)
        if op is not known and (op is None or known is None or not alike(op, known)):
            return False
    return _standing(graph, here) == _standing(other, way)


def _standing(graph: Graph, moved: Exchange) -> tuple[set[int], dict[int, str]]:
    """Where what is gone was, and what has come is."""
    names = graph.names
    return {*moved.gone}, {place: names[place] for _, place in moved.come}


def stay_in(graph: Graph, before: Graph, names: Set[str]) -> bool:
    """Whether `graph` has for all these names the very operations that `before` has, if any."""
    if graph is before:
        return True
    known = known_changes(before, graph)
    if known is not None:
        return not any(map(names.__contains__, known.names))
    others = map(is_not, map(graph.operations.get, names), map(before.operations.get, names))
    return not any(others)


def continue_graph(graph: Graph, before: Graph) -> Graph:
    """`graph` as `before` after an edit: with its operations where they are alike, and with what is
    known of it; `before` itself where all are."""
    known: Edit | None = graph.__dict__.get(_EDIT)
    if known is not None and known.before() is before:
        return graph
    found, changes = share_and_diff(graph, before)
    if found is not before:
        remember_edit(found, before, changes)
    return found


def places_after(graph: Graph, before: Graph) -> Mapping[str, int]:
    """`graph.places`. Where an edit of `before` has left the order as it was, they are numbered
    there, once for all edits that are made of it."""
    if graph.order is before.order and graph.is_in_order and before.is_in_order:
        graph.__dict__.setdefault("places", before.places)
    return graph.places


def remember_edit(
    graph: Graph, before: Graph, changes: Changes, moved: Exchange | None = None
) -> None:
    """Let `graph` go on from `before`, of which these are the changes that led to it. moved: see
    Edit."""
    known, there = before.__dict__, graph.__dict__
    edit = there[_EDIT] = Edit(weak(before), changes, 4 * changes.size > len(graph), moved)
    if edit.is_large:
        return
    ranks = _Ranks(before, graph, changes)
    for index, find in _INDEXES.items():
        if index in known and index not in there:
            found = find(graph, before, changes, ranks)
            if found is not None:
                there[index] = found
    gone, new = changes.removed | changes.changed, (*changes.added, *changes.changed)
    for index, holds in _NAMED.items():
        if index in known and index not in there:
            came = (name for name in new if holds(graph.operations[name]))
            there[index] = (known[index] - gone).union(came)


class _Ranks:
    """The places of operations in the order of their creation, before an edit and after it. same:
    whether these are the same."""

    def __init__(self, before: Graph, after: Graph, changes: Changes) -> None:
        self._before, self._after, self._changes = before, after, changes
        self.same = not (changes.added or changes.removed) and _in_same_places(before, after)

    @property
    def then(self) -> Mapping[str, int]:
        return self._before.places

    @property
    def now(self) -> Mapping[str, int]:
        return self._after.places

    @cached_property
    def keep_sequence(self) -> bool:
        """Whether what both graphs have comes in the same order in them."""
        names = self._before.operations, self._after.operations
        return self.same or self.moved is not None or keep_sequence(*names)

    @cached_property
    def moved(self) -> Exchange | None:
        """Where what has gone was, and what has come is, if that is a few."""
        return find_moved(self._before, self._after)


def _in_same_places(before: Graph, after: Graph) -> bool:
    """Whether the operations are created in the same order. One tuple for the order of both, which
    each comes in, says so at once."""
    order = after.__dict__.get("order")
    if order is not None and order is before.__dict__.get("order"):
        return True
    return before.names == after.names


def _places_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> Mapping[str, int] | None:
    """`Graph.places`; None where all are counted anew."""
    if ranks.same or ranks.moved is None:
        return before.places if ranks.same else None
    names = graph.names
    came = {names[place]: place for _, place in ranks.moved.come}
    return shift_places(names, before.places, changes.removed, came)


def _order_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> Sequence[str] | None:
    """`Graph.order`; None where it has to be looked for."""
    if not before.is_in_order or not ranks.keep_sequence:
        return None
    if changes.added and not _are_new(changes.added, before):
        return None
    then, now = before.operations, graph.operations
    others: Iterable[str] = changes.changed
    if not changes.added:  # which another may have waited for
        others = (n for n in others if _needs(then[n]) != _needs(now[n]))
    stays = all(
        ranks.now.get(need, -1) < ranks.now[name]
        for name in (*changes.added, *others)
        for need in predecessors(now[name])
    )
    if not stays:
        return None
    graph.__dict__["is_in_order"] = True
    return before.order if ranks.same else tuple(graph.operations)


def _are_new(names: Set[str], before: Graph) -> bool:
    """Whether nobody has needed any of these, which were not there."""
    return names.isdisjoint(before.readers[1]) and names.isdisjoint(before.control_outputs)


def _needs(op: Operation) -> tuple[object, object]:
    return op.inputs, op.control_inputs


def _lowered_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> Mapping[str, None] | None:
    """`Graph.lowered`; None where two names differ in their letters' case alone."""
    lowered = before.lowered
    if not (changes.added or changes.removed):
        return lowered
    if len(lowered) < len(before):
        return None
    found = overlaid(lowered)
    for name in changes.removed:
        del found[name.lower()]
    found.update(dict.fromkeys(map(str.lower, changes.added)))
    return found


def _control_outputs_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> Mapping[str, tuple[str, ...]] | None:
    """`Graph.control_outputs`; None where another operation waits, or for another one."""
    then, now = before.operations, graph.operations
    alike = (
        not any(now[name].control_inputs for name in changes.added)
        and not any(then[name].control_inputs for name in changes.removed)
        and all(then[n].control_inputs == now[n].control_inputs for n in changes.changed)
    )
    return before.control_outputs if alike else None


def _marked_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> Mapping[str, frozenset[str]]:
    gone = changes.removed | changes.changed
    marks = marked_among(graph.operations, (*changes.added, *changes.changed))
    return {mark: names - gone | marks[mark] for mark, names in before.marked.items()}


def _readers_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> tuple[dict[str, tuple[Edge, ...]], frozenset[str]] | None:
    """`Graph.readers`; None where they have to be looked for."""
    found, dangling = before.readers
    if not dangling.isdisjoint(changes.added) or not ranks.keep_sequence:
        return None
    readers = copied(found)
    readers.update(dict.fromkeys(changes.added, ()))
    for old, source, edges in _rewired(before, graph, changes.removed | changes.changed):
        if source in dangling:
            return None  # others may still read what is not there
        readers[source] = _without(readers[source], old, len(edges), ranks.then)
    missing = set(dangling)
    for new, source, edges in _rewired(graph, before, changes.added | changes.changed):
        if source in readers:
            readers[source] = _with(readers[source], new, edges, ranks.now)
        else:
            missing.add(source)
    missing.update(name for name in changes.removed if readers.pop(name))
    return readers, frozenset(missing)


def _rewired(
    graph: Graph, other: Graph, names: Iterable[str]
) -> Iterator[tuple[str, str, tuple[Edge, ...]]]:
    """The wires into operations of `graph` that differ in the other one, by their sources."""
    for name in names:
        there = other.operations.get(name)
        known = {} if there is None else _wires(there)
        for source, edges in _wires(graph.operations[name]).items():
            if known.get(source) != edges:
                yield name, source, edges


def _wires(op: Operation) -> dict[str, tuple[Edge, ...]]:
    """Source -> the wires from there into `op`."""
    found: dict[str, tuple[Edge, ...]] = {}
    for index, ref in enumerate(op.inputs):
        if ref is not None:
            found[ref.op] = (*found.get(ref.op, ()), Edge(op.name, index))
    return found


def _without(
    edges: tuple[Edge, ...], reader: str, number: int, ranks: Mapping[str, int]
) -> tuple[Edge, ...]:
    start = _place(edges, reader, ranks)
    return edges[:start] + edges[start + number :]


def _with(
    edges: tuple[Edge, ...], reader: str, new: tuple[Edge, ...], ranks: Mapping[str, int]
) -> tuple[Edge, ...]:
    start = _place(edges, reader, ranks)
    return edges[:start] + new + edges[start:]


def _place(edges: tuple[Edge, ...], reader: str, ranks: Mapping[str, int]) -> int:
    """Where those of `reader` are, or would be."""
    return bisect_left(edges, ranks[reader], key=lambda edge: ranks[edge.op])


def _by_type_after(
    graph: Graph, before: Graph, changes: Changes, ranks: _Ranks
) -> dict[str, tuple[str, ...]]:
    then, now = before.operations, graph.operations
    less, more = (defaultdict[str, set[str]](set) for _ in range(2))
    retyped = {name for name in changes.changed if then[name].type != now[name].type}
    for name in changes.removed | retyped:
        less[then[name].type].add(name)
    for name in changes.added | retyped:
        more[now[name].type].add(name)
    found = dict(before.by_type)
    for type in less.keys() | more.keys():
        kept = filterfalse(less[type].__contains__, found.get(type, ()))
        found[type] = (*kept, *more[type])
    return {type: names for type, names in found.items() if names}


# Of the indexes that a graph has, from those of the graph before it; None where only looking at all
# of it can tell.
_INDEXES: Mapping[str, Callable[[Graph, Graph, Changes, _Ranks], object]] = {
    "places": _places_after,
    "order": _order_after,
    "readers": _readers_after,
    "by_type": _by_type_after,
    "control_outputs": _control_outputs_after,
    "marked": _marked_after,
    "lowered": _lowered_after,
}
# Those that are the names of operations of which something holds.
_NAMED: Mapping[str, Callable[[Operation], object]] = {
    "unwired": lambda op: None in op.inputs,
    "wishes": attrgetter("device"),
    "derived": attrgetter("origin"),
}
