"""The names of operations and scopes that a graph has already; capitals make no difference."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import edit_before
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents

_FEW = 20  # operations whose scopes are looked for one by one, whether something is left in them


class TakenNames(NamedTuple):
    """What was asked of names while something was made: the same is made again where none of what
    it asked for is taken by others.

    asked: names that were looked up; around: the scopes that those lie in. operations, scopes:
    taken meanwhile. met_others: whether one that was asked for had been taken before.
    """

    asked: tuple[str, ...]
    around: tuple[str, ...]
    operations: tuple[str, ...]
    scopes: tuple[str, ...]
    met_others: bool


class _Log:
    """TakenNames while they are taken."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.operations: set[str] = set()
        self.scopes: set[str] = set()
        self.met_others = False

    def note(self, lower: str, is_taken: bool) -> None:
        self.asked.add(lower)
        if is_taken and lower not in self.operations and lower not in self.scopes:
            self.met_others = True


class Names:
    """Those of operations, and the scopes that they lie in."""

    def __init__(self) -> None:
        self._operations: set[str] = set()
        self._scopes: set[str] = set()
        self._last: dict[str, int] = {}  # name -> the last number that was put to it
        self._later: list[Collection[str]] = []  # taken, and not looked at yet
        self._sealed: set[str] = set()  # scopes that all of these lie in
        self._log: _Log | None = None

    def copy(self) -> Names:
        copy = Names()
        copy._operations, copy._scopes = self._operations.copy(), self._scopes.copy()
        copy._last = self._last.copy()
        copy._later, copy._sealed = self._later.copy(), self._sealed.copy()
        return copy

    def take_all(self, names: Collection[str]) -> None:
        """`take` for each."""
        lower = list(map(str.lower, names))
        if len({*lower}) < len(lower) or not self._operations.isdisjoint(lower):
            for name in names:
                self.take(name)
        self._operations.update(lower)
        for scope in {name.rpartition("/")[0] for name in lower}:
            self._open(scope)

    def seal(self, scopes: Iterable[str], names: Collection[str]) -> None:
        """Take names that are known to be free, and all lie in these scopes, which are open; the
        work waits until somebody asks for what lies there."""
        lower = {*map(str.lower, scopes)}
        self._scopes |= lower
        self._sealed |= lower
        self._later.append(names)

    def take(self, name: str) -> None:
        """For an operation. Raises GradstepError when another is called so."""
        lower = name.lower()
        self.check(lower)
        self._operations.add(lower)
        if self._log is not None:
            self._log.operations.add(lower)
        self._open(lower.rpartition("/")[0])

    def check(self, name: str) -> None:
        """Raises GradstepError when an operation is called so."""
        lower = name.lower()
        self._settle(lower)
        taken = lower in self._operations
        if self._log is not None:
            self._log.note(lower, taken)
        if taken:
            raise _taken(name)

    def open(self, scope: str) -> None:
        """A scope that is there is taken, too."""
        self._open(scope.lower())

    def unique(self, name: str) -> str:
        """`name`, numbered if it is taken; TensorFlow's rule."""
        lower = name.lower()
        if not self._is_taken(lower):
            return name
        number = self._last.get(lower, 0) + 1
        while self._is_taken(f"{lower}_{number}"):
            number += 1
        self._last[lower] = number
        return f"{name}_{number}"

    def begin_log(self) -> None:
        """From here on note what is asked for, and taken."""
        self._log = _Log()

    def end_log(self) -> TakenNames:
        """What was noted."""
        log, self._log = self._log or _Log(), None
        around = {scope for name in log.asked for scope in parents(name)}
        taken = tuple(log.operations), tuple(log.scopes)
        return TakenNames(tuple(log.asked), tuple(around), *taken, log.met_others)

    def take_again(self, log: TakenNames) -> bool:
        """Take what was taken then, if all would come out the same; whether it would."""
        if log.met_others or (self._later and not self._sealed.isdisjoint(log.around)):
            return False
        asked = log.asked
        if not self._operations.isdisjoint(asked) or not self._scopes.isdisjoint(asked):
            return False
        self._operations.update(log.operations)
        self._scopes.update(log.scopes)
        return True

    def after(self, before: Graph, graph: Graph, changes: Changes) -> Names | None:
        """Those of `graph`, if these are of the one before; None where two operations may be called
        the same, or loops have changed, whose operations count, too."""
        touched = [before.operations[name] for name in (*changes.removed, *changes.changed)]
        touched += [graph.operations[name] for name in (*changes.added, *changes.changed)]
        old, new = ({*map(str.lower, names)} for names in (changes.removed, changes.added))
        if any(loop_of(op) is not None for op in touched) or len(new) < len(changes.added):
            return None
        if len(old) > _FEW:
            return None
        copy = self.copy()
        copy._operations -= old
        if not copy._operations.isdisjoint(new):
            return None
        for scope in {*chain.from_iterable(map(parents, old))}:
            if not any(name.startswith(f"{scope}/") for name in copy._operations):
                copy._scopes.discard(scope)
        copy.take_all(new)
        return copy

    def _settle(self, lower: str) -> None:
        """Look at what was taken before, if `lower` may be among it."""
        if self._later and self._is_sealed(lower):
            self._sealed.clear()
            while self._later:
                self.take_all(self._later.pop())

    def _is_sealed(self, lower: str) -> bool:
        return any(scope in self._sealed for scope in parents(lower))

    def _is_taken(self, lower: str) -> bool:
        self._settle(lower)
        taken = lower in self._operations or lower in self._scopes
        if self._log is not None:
            self._log.note(lower, taken)
        return taken

    def _open(self, scope: str) -> None:
        while scope and scope not in self._scopes:  # those around a known scope are known
            self._scopes.add(scope)
            if self._log is not None:
                self._log.scopes.add(scope)
            scope = scope.rpartition("/")[0]


def _taken(name: str) -> GradstepError:
    return GradstepError(f"the name '{name}' is taken", kind="ValueError")


_known: WeakKeyDictionary[Graph, Names] = WeakKeyDictionary()


def names_of(graph: Graph) -> Names:
    """To be added to; those inside loops are among them. Raises GradstepError when two operations
    are called the same."""
    names = _known.get(graph)
    if names is None:
        names = _known[graph] = _names_again(graph) or _all_names(graph)
    return names.copy()


def _all_names(graph: Graph) -> Names:
    names = Names()
    names.take_all([op.name for op in within(graph)])
    return names


def _names_again(graph: Graph) -> Names | None:
    """From those of the graph before an edit, if they tell."""
    edit = edit_before(graph)
    known = None if edit is None else _known.get(edit[0])
    return None if edit is None or known is None else known.after(edit[0], graph, edit[1])


def keep_names(graph: Graph, names: Names) -> None:
    """Let `names_of(graph)` say `names`: whoever made the graph has them already."""
    _known[graph] = names
