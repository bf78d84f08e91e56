"""What was told of a program before, told again of what an edit left as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import compress, count, repeat
from operator import is_
from typing import Any, Generic, TypeVar

from gradstep.core.engine.plan.execution_plan import Plan, ends_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.persistent.edited_sequence import replaced
from gradstep.core.persistent.joined_sequence import arranged, in_parts
from gradstep.core.persistent.sequence_places import changed_places, common_ends

T = TypeVar("T")
_Of = TypeVar("_Of")
Column = Sequence[Any]
_NEW = object()
_STEPS = "steps of the plan"
_SHORT = 256  # steps, which are told again if they are the same or not


class Retold(Generic[T]):
    """A list with one entry for each row of some columns: of a row of the very same objects as
    before the very same entry, wherever it comes now."""

    def __init__(self) -> None:
        self._columns: Sequence[Column] = ()
        self._told: Sequence[T] = ()

    def is_of(self, column: Column) -> bool:
        """Whether it was told of that column last, which came first."""
        return bool(self._columns) and self._columns[0] is column

    def tell(
        self, make: Callable[..., T], *columns: Column, ends: tuple[int, int] | None = None
    ) -> Sequence[T]:
        """The entries; those that are new are made of their rows. In C but for these, and fastest
        for what stays in line with the first or the last row. ends: how many rows do, where that is
        known."""
        old, told = self._columns or ([],) * len(columns), self._told
        places = None if ends or not told else _few_places(old, columns)
        if places is not None:
            self._columns = columns
            self._told = self._tell_places(make, old, columns, places) if places else told
            return self._told
        first, last = ends or map(min, zip(*map(common_ends, old, columns), strict=True))
        self._columns = columns
        if first == len(told) == len(columns[0]):
            return told
        middle = slice(first, len(columns[0]) - last)
        entries = self._tell_rows(make, old, first, last, [c[middle] for c in columns])
        self._told = arranged([told[:first], in_parts(entries), told[len(told) - last :]])
        return self._told

    def _tell_places(
        self,
        make: Callable[..., T],
        old: Sequence[Column],
        columns: Sequence[Column],
        places: Sequence[int],
    ) -> Sequence[T]:
        """All, of which the rows in these places are others than there were."""
        there, here = ([[c[p] for p in places] for c in each] for each in (old, columns))
        told, others = self._told, dict[int, T]()
        known = dict(zip(_rows(there), [told[p] for p in places], strict=True))
        for place, row in zip(places, _rows(here), strict=True):
            entry: Any = known.get(row, _NEW)
            others[place] = make(*(c[place] for c in columns)) if entry is _NEW else entry
        return replaced(told, others)

    def _tell_rows(
        self,
        make: Callable[..., T],
        old: Sequence[Column],
        first: int,
        last: int,
        columns: Sequence[Column],
    ) -> list[T]:
        """Those between the first and the last that are in line; what was between them is known."""
        if not columns[0]:
            return []
        middle = slice(first, len(self._told) - last)
        there, told = [c[middle] for c in old], self._told[middle]
        ids = {*map(id, columns[0])}
        stay = [*map(ids.__contains__, map(id, there[0]))]
        if not any(stay):  # all rows are new
            return [*map(make, *columns)]
        there, told = [[*compress(c, stay)] for c in there], [*compress(told, stay)]
        known = dict(zip(_rows(there), told, strict=True))
        entries: list[Any] = [*map(known.get, _rows(columns), repeat(_NEW))]
        for place in compress(count(), map(is_, entries, repeat(_NEW))):
            entries[place] = make(*(column[place] for column in columns))
        return entries


def _few_places(old: Sequence[Column], columns: Sequence[Column]) -> list[int] | None:
    """The few places in which rows are others; None where they are many, or rows come or go."""
    found = set[int]()
    for places in map(changed_places, old, columns):
        if places is None:
            return None
        found.update(places)
    return sorted(found)


def _rows(columns: Iterable[Column]) -> Iterator[tuple[int, ...]]:
    """Each row as the numbers of its objects, which are held as long as they are compared."""
    return zip(*(map(id, column) for column in columns), strict=True)


class Told:
    """Retold lists by their names, from one program to the next; and what was said whole.

    ends: how many steps the plan begins, and ends, with that the one told before has, too, and has
    the same outputs of; None where that is not known. flipped: the outputs of operations of
    both graphs that the one plan has and the other has not; None where that is not known.
    """

    def __init__(self) -> None:
        self._before: dict[Hashable, Retold[Any]] = {}
        self._now: dict[Hashable, Retold[Any]] = {}
        self._said_before: dict[Hashable, tuple[Any, Any]] = {}
        self._said: dict[Hashable, tuple[Any, Any]] = {}
        self._steps: Sequence[Step] = ()
        self._step_of: Mapping[str, int] = {}
        self._graph = Graph()
        self.ends: tuple[int, int] | None = None
        self.flipped: frozenset[TensorRef] | None = None

    def copy(self) -> Told:
        """The same, for who goes on from here, while others may go on from here, too."""
        other = copy(self)
        other._now = {name: copy(column) for name, column in self._now.items()}
        return other

    def begin(self) -> None:
        """From now on it is another program; what that does not ask for is forgotten."""
        self._before, self._now = self._now, {}
        self._said_before, self._said = self._said, {}
        self.ends, self.flipped = None, None

    def follow(self, plan: Plan) -> None:
        """It is the program of that plan."""
        known, before, there = plan.exchanged, self._steps, self._step_of
        self._steps, self._step_of = plan.steps, plan.step_of
        graph, self._graph = self._graph, plan.graph
        if known is None or known.before is not before:
            return
        first, last = ends_of(plan, before)
        for name in known.moved:
            for places, steps in ((there, before), (plan.step_of, plan.steps)):
                if (place := places.get(name)) is not None:
                    first, last = min(first, place), min(last, len(steps) - 1 - place)
        if not known.moved or first + last + _SHORT >= len(plan.steps):
            self.ends = first, last
        self.flipped = frozenset(x for x in known.flipped if x.op in graph and x.op in plan.graph)

    def tell(self, name: Hashable, make: Callable[..., T], *columns: Column) -> Sequence[T]:
        """See Retold. name: under which it was told before."""
        column = self._now[name] = self._before.get(name) or Retold[T]()
        return column.tell(make, *columns)

    def tell_steps(self, make: Callable[..., T], plan: Plan) -> Sequence[T]:
        """The same of the steps of the plan that is followed, and where it has their outputs."""
        column = self._now[_STEPS] = self._before.get(_STEPS) or Retold[T]()
        is_last = plan.exchanged is not None and column.is_of(plan.exchanged.before)
        ends = self.ends if is_last else None
        return column.tell(make, plan.steps, plan.whereabouts, ends=ends)

    def keep(self, name: Hashable, of: _Of, make: Callable[[_Of], T]) -> T:
        """What is made of `of` alone: the very same as before where that is the very same."""
        known = self._said_before.get(name)
        found: T = known[1] if known is not None and known[0] is of else make(of)
        self._said[name] = of, found
        return found

    def say(
        self,
        name: Hashable,
        of: _Of,
        make: Callable[[], T],
        again: Callable[[_Of, T, Collection[TensorRef]], T | None] | None = None,
    ) -> T:
        """What is made of `of` and of which tensors the plan has: the very same as before where
        that is the very same. again: the same, for less work, from what it was before, what was
        made of that, and the tensors that only the one plan has; None where it
        cannot."""
        known, found = self._said_before.get(name), None
        if known is not None and (self.ends is not None or self.flipped is not None):
            if known[0] is of and not self.flipped:
                found = known[1]
            elif again is not None and self.flipped is not None:
                found = again(known[0], known[1], self.flipped)
        if found is None:
            found = make()
        elif name in self._before:
            self._now[name] = self._before[name]
        self._said[name] = of, found
        return found
