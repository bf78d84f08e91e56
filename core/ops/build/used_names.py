"""The names of operations and scopes that a graph has already; capitals make no difference."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph


class Names:
    """Those of operations, and the scopes that they lie in."""

    def __init__(self) -> None:
        self._operations: set[str] = set()
        self._scopes: set[str] = set()
        self._last: dict[str, int] = {}  # name -> the last number that was put to it
        self._later: list[Collection[str]] = []  # taken, and not looked at yet

    def copy(self) -> Names:
        self._settle()
        copy = Names()
        copy._operations, copy._scopes = self._operations.copy(), self._scopes.copy()
        copy._last = self._last.copy()
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

    def take_later(self, names: Collection[str]) -> None:
        """The same for names that are known to be free; the work waits until somebody asks."""
        self._later.append(names)

    def take(self, name: str) -> None:
        """For an operation. Raises GradstepError when another is called so."""
        self._settle()
        lower = name.lower()
        if lower in self._operations:
            raise _taken(name)
        self._operations.add(lower)
        self._open(lower.rpartition("/")[0])

    def check(self, name: str) -> None:
        """Raises GradstepError when an operation is called so."""
        self._settle()
        if name.lower() in self._operations:
            raise _taken(name)

    def open(self, scope: str) -> None:
        """A scope that is there is taken, too."""
        self._settle()
        self._open(scope.lower())

    def unique(self, name: str) -> str:
        """`name`, numbered if it is taken; TensorFlow's rule."""
        self._settle()
        lower = name.lower()
        if not self._is_taken(lower):
            return name
        number = self._last.get(lower, 0) + 1
        while self._is_taken(f"{lower}_{number}"):
            number += 1
        self._last[lower] = number
        return f"{name}_{number}"

    def _settle(self) -> None:
        while self._later:
            self.take_all(self._later.pop())

    def _is_taken(self, lower: str) -> bool:
        return lower in self._operations or lower in self._scopes

    def _open(self, scope: str) -> None:
        while scope and scope not in self._scopes:  # those around a known scope are known
            self._scopes.add(scope)
            scope = scope.rpartition("/")[0]


def _taken(name: str) -> GradstepError:
    return GradstepError(f"the name '{name}' is taken", kind="ValueError")


_known: WeakKeyDictionary[Graph, Names] = WeakKeyDictionary()


def names_of(graph: Graph) -> Names:
    """To be added to; those inside loops are among them. Raises GradstepError when two operations
    are called the same."""
    names = _known.get(graph)
    if names is None:
        names = Names()
        names.take_all([op.name for op in within(graph)])
        _known[graph] = names
    return names.copy()
