"""Building a graph again after an edit, from the graph that was built before it.

What is not dropped stays: its operations, its names, what is known of its tensors. So the work is
that of what the edit touched, and of copying tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import TypeVar
from weakref import ref as weak

from gradstep.core.graph.carry_over import find_moved, known_changes, remember_edit
from gradstep.core.graph.changes import Changes, find_others
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.used_names import Names, keep_names, names_again
from gradstep.core.ops.typing.inference import (
    Inference,
    Inferrer,
    Retyped,
    declare,
    find_retyped,
    infer_declared,
)
from gradstep.core.persistent.arranged_mapping import ArrangedMapping, overlaid_unordered
from gradstep.core.persistent.edited_columns import NOT_AT_ALL, Exchange
from gradstep.core.persistent.joined_sequence import in_parts, joined
from gradstep.core.persistent.overlaid_mapping import laid_open

_MANY = 8  # to one that is dropped there are no more than so many that stay
_T = TypeVar("_T")


class Rebuilder(GraphBuilder):
    """A builder of what `built` has, which was made upon the graph `on`, upon the graph `base`.

    names: those of `base`, and what was taken upon `on`.
    """

    def __init__(self, base: Graph, built: Graph, on: Graph, names: Names) -> None:
        super().__init__(before=built)
        self._base, self._built, self._on, self._names = base, built, on, names
        self._touched: set[str] = set()  # operations that may be others than in `built`
        self._dropped: set[str] = set()
        self._retyped: Set[str] = frozenset()  # of which something else may be known
        self._operations = overlaid_unordered(built.operations)
        self._inferrer = Inferrer(infer_declared(built))
        if base is not on:
            self._edit_base(on)

    def drop(self, names: Iterable[str], scopes: Iterable[str] = ()) -> None:
        """What is called so is made again, or not at all. scopes: that are nobody else's."""
        self._names.drop(names, scopes)
        self._dropped.update(names)

    def clear(self, scope: str, names: Iterable[str]) -> None:
        """The same for operations that are all that lies in a scope."""
        self._names.clear(scope)
        self._dropped.update(names)

    @property
    def retyped(self) -> Set[str]:
        """Operations, those that were made here among them, of whose outputs something else may be
        known than of those of the same names in what was built before."""
        return {*self._retyped, *self._touched, *self._made}

    @property
    def new_names(self) -> set[str]:
        """Those of operations and scopes that the base may not have had, in small letters."""
        there = self._base.operations
        new = {op.name.lower() for op in within(there[n] for n in self._touched if n in there)}
        return new.union(*map(parents, new))

    @property
    def moved_names(self) -> set[str]:
        """The same, and those that it may not have any more; but for operations that are called as
        one was before."""
        then, now = (
            {op.name.lower() for op in within(there[n] for n in self._touched if n in there)}
            for there in (self._on.operations, self._base.operations)
        )
        moved = then ^ now
        return moved.union(*map(parents, moved))

    def finish(self, made: Sequence[str], moved: Exchange | None = None) -> Graph:
        """made: all of it, in order, which nobody changes any more; moved: how that differs from
        what was made upon the base before, where that is known."""
        base, on, built = self._base.order, self._on.order, self._built.order
        made = in_parts(made)
        in_order = moved is not None and self._on.is_in_order and self._base.is_in_order
        there = find_moved(self._on, self._base) if in_order else None
        if moved is None or there is None:
            same = base == on and built == joined(on, made)
            whole = NOT_AT_ALL if same else None
        else:
            whole = there.and_behind(len(on), len(base), moved)
        if whole == NOT_AT_ALL:
            return self._finished(built, whole)  # all is in the place that it had
        order, anew = joined(base, made), {*self._made}
        if whole is not None:
            gone = {built[place] for place in whole.gone}
            whole = whole if gone.isdisjoint(order[i] for _, i in whole.come) else None
        names = self._base.operations
        self._forget({n for n in self._dropped if n not in anew and n not in names}, order)
        return self._finished(order, whole)

    def _finished(self, order: Sequence[str], moved: Exchange | None) -> Graph:
        """order: that of the operations; moved: how it differs from what it was."""
        changes = self._find_changes()
        if not changes and order == self._built.order:
            return self._built
        graph = Graph(ArrangedMapping(self._operations, order))
        if self._in_order:
            graph.__dict__.update(order=order, is_in_order=True)
            since = Retyped(weak(self._built), self._retyped | self._dropped | {*self._made})
            known = Inference(self._inferrer.types, self._inferrer.constants, since=since)
            declare(graph, known)
            keep_names(graph, self._names)
        remember_edit(graph, self._built, changes, moved if self._in_order else None)
        return graph

    def _edit_base(self, on: Graph) -> None:
        """Put in what the base has otherwise than `on`."""
        then, now = on.operations, self._base.operations
        known, changes = self._inferrer, known_changes(on, self._base)
        if changes is not None:
            self._touched.update(changes.names)
        else:
            self._touched.update(find_others(then, now), then.keys() - now.keys())
        for name in self._touched:
            if name in now:
                self._operations[name] = now[name]
            else:
                del self._operations[name]
        self._retyped = find_retyped(on, self._base)
        base = infer_declared(self._base)
        types, constants = base.types.of, base.constants
        others = self._retyped | self._touched
        known.expect(len(others))
        for name in others:
            known.forget(name)
            if name in types:
                known.types.of[name] = types[name]
            if name in constants:
                known.constants[name] = constants[name]

    def _forget(self, gone: set[str], order: Sequence[str]) -> None:
        """What is not there any more. order: what is."""
        self._inferrer.expect(len(gone))
        if _MANY * len(gone) > len(order):  # one by one would take longer
            self._operations = _part(laid_open(self._operations, len(order)), order)
            self._inferrer.types.of = _part(self._inferrer.types.of, order)
            gone &= self._inferrer.constants.keys()
        for name in gone:
            self._operations.pop(name, None)
            self._inferrer.forget(name)

    def _find_changes(self) -> Changes:
        then, now = self._built.operations, self._operations
        touched = {*chain(self._touched, self._dropped, self._made)}
        there, here = ({*filter(each.__contains__, touched)} for each in (then, now))
        return Changes(
            added=frozenset(here - there),
            removed=frozenset(there - here),
            changed=frozenset(name for name in here & there if then[name] is not now[name]),
        )


def _part(mapping: Mapping[str, _T], names: Sequence[str]) -> dict[str, _T]:
    return dict(zip(names, map(mapping.__getitem__, names), strict=True))


def rebuild_upon(base: Graph, built: Graph, on: Graph) -> Rebuilder | None:
    """A Rebuilder; None where something about the graphs is wrong, or not known."""
    if any(infer_declared(graph).problems for graph in (base, built, on)):
        return None
    names = names_again(built, base)
    return None if names is None else Rebuilder(base, built, on, names)
