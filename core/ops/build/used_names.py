"""The names of operations and scopes that a graph has already; capitals make no difference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from functools import reduce
from itertools import chain
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import edit_before
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents

_FEW = 20  # operations whose scopes are looked for one by one, whether something is left in them
_DEEPEST = 32  # layers of names that are looked through before they are put together


class TakenNames(NamedTuple):
    """What was asked of names while something was made: the same is made again where none of what
    it asked for is taken by others.

    asked: names that were looked up. operations, scopes: taken meanwhile. met_others: whether one
    that was asked for had been taken before.
    """

    asked: tuple[str, ...]
    operations: tuple[str, ...]
    scopes: tuple[str, ...]
    met_others: bool

    @property
    def own_scopes(self) -> set[str]:
        """Those that nobody else has a part in: it asked for them."""
        return {*self.scopes}.intersection(self.asked)


class _Log:
    """TakenNames while they are taken. asked: each as the object that it was asked by: what is
    taken thereafter is kept as the same one."""

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}
        self.operations: set[str] = set()
        self.scopes: set[str] = set()
        self.met_others = False

    def note(self, lower: str, is_taken: bool) -> None:
        self.asked.setdefault(lower, lower)
        if is_taken and lower not in self.operations and lower not in self.scopes:
            self.met_others = True


class _Layer(NamedTuple):
    """Names that were taken after others. filled: scope -> what comes after it in the names of
    operations that it was made with, one object for all that are alike. gone, gone_scopes: those
    among the names before that are free again; cleared: scopes that are, with all in them."""

    operations: set[str]
    filled: dict[str, frozenset[str]]
    scopes: set[str]
    gone: set[str]
    gone_scopes: set[str]
    cleared: set[str]

    def has_operation(self, lower: str) -> bool:
        if lower in self.operations:
            return True
        scope, _, rest = lower.rpartition("/")
        return rest in self.filled.get(scope, ())

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self.operations) + sum(map(len, self.filled.values()))

    def drop(self, operations: Set[str], scopes: Set[str]) -> None:
        """Let go what is among these."""
        self.operations.difference_update(operations)
        self.scopes.difference_update(scopes)
        _take_out(self.filled, operations)

    def clears(self, lower: str) -> bool:
        """Whether all that was called so before this, or lay there, is gone."""
        while self.cleared and lower:
            if lower in self.cleared:
                return True
            lower = lower.rpartition("/")[0]
        return False

    def onto(self, before: _Layer) -> _Layer:
        """Both in one."""
        operations, scopes = before.operations - self.gone, before.scopes - self.gone_scopes
        filled = before.filled.copy()
        _take_out(filled, self.gone)
        if self.cleared:
            inside = set[str]()
            for scope in sorted(before.scopes):  # each after those around it
                if scope in self.cleared or scope.rpartition("/")[0] in inside:
                    inside.add(scope)
            scopes -= inside
            operations = {n for n in operations if n.rpartition("/")[0] not in inside}
            filled = {scope: rest for scope, rest in filled.items() if scope not in inside}
        filled.update(self.filled)
        return _Layer(
            operations | self.operations,
            filled,
            scopes | self.scopes,
            before.gone | self.gone,
            before.gone_scopes | self.gone_scopes,
            before.cleared | self.cleared,
        )


def _take_out(filled: dict[str, frozenset[str]], names: Iterable[str]) -> None:
    for name in names if filled else ():
        scope, _, rest = name.rpartition("/")
        if rest in filled.get(scope, ()):
            filled[scope] -= {rest}


class Names:
    """Those of operations, and the scopes that they lie in: those of a base, to which nothing is
    added any more, and one's own, in layers, of which the last is added to.

    met_kept: whether one was asked for that is taken in an earlier layer, see `again`.
    """

    def __init__(self, base: Names | None = None, earlier: tuple[_Layer, ...] = ()) -> None:
        self._base = base
        self._earlier = earlier  # the latest first
        self._own = _Layer(set(), {}, set(), set(), set(), set())
        self._operations, self._scopes = self._own.operations, self._own.scopes
        self._fresh: set[str] = set()  # scopes that nothing lay in when they were opened
        self._last: dict[str, int] = {}  # name -> the last number that was put to it
        self._log: _Log | None = None
        self.met_kept = False

    def fork(self) -> Names:
        """For somebody who adds to these, to which nobody else adds from here on."""
        return Names(self)

    def settle(self) -> None:
        """Nobody adds to these any more: forget what only that takes."""
        self._fresh.clear()
        self._last.clear()

    def again(self, base: Names) -> Names:
        """What these have besides their base, upon another one; to be taken from by `drop`."""
        return Names(base, self._layers())

    def everything(self) -> tuple[set[str], set[str]]:
        """All operations, and all scopes."""
        own = reduce(_Layer.onto, self._layers())
        filled = (f"{scope}/{rest}" for scope, names in own.filled.items() for rest in names)
        operations, scopes = own.operations.union(filled), own.scopes
        if self._base is None:
            return operations, scopes
        before = self._base.everything()
        return before[0] | operations, before[1] | scopes

    def drop(self, names: Iterable[str], scopes: Iterable[str] = ()) -> None:
        """Let names go that are not in the base."""
        gone, gone_scopes = ({*map(str.lower, each)} for each in (names, scopes))
        self._own.gone.update(gone)
        self._own.gone_scopes.update(gone_scopes)
        self._own.drop(gone, gone_scopes)

    def clear(self, scope: str) -> None:
        """Let a scope go that is not in the base, with all in it; nothing has been added yet."""
        self._own.cleared.add(scope.lower())

    def take_all(self, names: Collection[str]) -> None:
        """`take` for each."""
        lower = list(map(str.lower, names))
        if len({*lower}) < len(lower) or any(map(self._is_operation, lower)):
            for name in names:
                self.take(name)
        self._operations.update(lower)
        for scope in {name.rpartition("/")[0] for name in lower}:
            self._open(scope)

    def fill(self, scope: str, names: frozenset[str]) -> None:
        """`take` for operations of a scope that nothing lies in. names: what comes after the scope,
        in small letters."""
        lower = scope.lower()
        self._own.filled[lower] = names
        if self._log is not None:
            self._log.operations.update(f"{lower}/{name}" for name in names)
        self._open(lower)

    def take(self, name: str) -> None:
        """For an operation. Raises GradstepError when another is called so."""
        lower = name.lower()
        self.check(lower)
        if self._log is not None:
            lower = self._log.asked[lower]  # `check` did
            self._log.operations.add(lower)
        self._operations.add(lower)
        self._open(lower.rpartition("/")[0])

    def check(self, name: str) -> None:
        """Raises GradstepError when an operation is called so."""
        lower = name.lower()
        taken = self._is_operation(lower)
        if self._log is not None:
            self._log.note(lower, taken)
        if taken:
            raise _taken(name)

    def open(self, scope: str) -> None:
        """A scope that is there is taken, too."""
        self._open(scope.lower())

    def open_new(self, scope: str) -> None:
        """One that nothing lies in: what is made there has to be looked for nowhere else."""
        self.open(scope)
        self._fresh.add(scope.lower())

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
        asked, operations, scopes = tuple(log.asked), tuple(log.operations), tuple(log.scopes)
        return TakenNames(asked, operations, scopes, log.met_others)

    def after(self, before: Graph, graph: Graph, changes: Changes) -> Names | None:
        """Those of `graph`, if these are of the one before; None where two operations may be called
        the same."""
        was = [before.operations[name] for name in (*changes.removed, *changes.changed)]
        made = [graph.operations[name] for name in (*changes.added, *changes.changed)]
        old, new = ([op.name.lower() for op in within(ops)] for ops in (was, made))
        gone, come = {*old} - {*new}, {*new} - {*old}
        if len({*new}) < len(new) or len(gone) > _FEW:
            return None
        after = Names(self._base, self._layers())
        after.drop(gone)
        if any(map(after._is_operation, come | gone)):
            return None
        left = {*chain.from_iterable(map(parents, gone))}.difference(*map(parents, come))
        names = after.everything()[0] if left else ()
        for scope in left:
            if not any(name.startswith(f"{scope}/") for name in names):
                after._own.gone_scopes.add(scope)
        after.take_all(come)
        return after

    def _layers(self) -> tuple[_Layer, ...]:
        found = (self._own, *self._earlier)
        if len(found) <= _DEEPEST:
            return found
        latest, first = reduce(_Layer.onto, found[:-1]), found[-1]
        if 4 * latest.size < first.size:
            return latest, first
        return (latest.onto(first),)

    def _is_operation(self, lower: str) -> bool:
        return self._is_there(lower, True, False)

    def _is_taken(self, lower: str) -> bool:
        taken = self._is_there(lower, True, True)
        if self._log is not None:
            self._log.note(lower, taken)
        return taken

    def _is_there(self, lower: str, operation: bool, scope: bool) -> bool:
        """As an operation, or as a scope."""
        if (operation and self._own.has_operation(lower)) or (scope and lower in self._scopes):
            return True
        if lower.rpartition("/")[0] in self._fresh:
            return False
        if self._earlier and self._is_kept(lower, operation, scope):
            self.met_kept = True
            return True
        return self._base is not None and self._base._is_there(lower, operation, scope)

    def _is_kept(self, lower: str, operation: bool, scope: bool) -> bool:
        later = self._own
        for layer in self._earlier:
            operation = operation and lower not in later.gone
            scope = scope and lower not in later.gone_scopes
            if later.clears(lower):
                return False
            if (operation and layer.has_operation(lower)) or (scope and lower in layer.scopes):
                return True
            later = layer
        return False

    def _open(self, scope: str) -> None:
        while scope and scope not in self._scopes:
            if self._base is not None and self._base._is_there(scope, False, True):
                return  # those around a known scope are known
            if self._log is not None:
                scope = self._log.asked.get(scope, scope)
                self._log.scopes.add(scope)
            self._scopes.add(scope)
            scope = scope.rpartition("/")[0]


def _taken(name: str) -> GradstepError:
    return GradstepError(f"the name '{name}' is taken", kind="ValueError")


_known: WeakKeyDictionary[Graph, Names] = WeakKeyDictionary()


def names_of(graph: Graph) -> Names:
    """To be added to; those inside loops are among them. Raises GradstepError when two operations
    are called the same."""
    return _kept_names(graph).fork()


def _kept_names(graph: Graph) -> Names:
    names = _known.get(graph)
    if names is None:
        names = _known[graph] = _names_again(graph) or _all_names(graph)
    return names


def names_again(built: Graph, base: Graph) -> Names | None:
    """Those of `base`, and what was taken when `built` was built upon what `base` was before an
    edit; None where that is not known."""
    known = _known.get(built)
    return None if known is None else known.again(_kept_names(base))


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
    """Let `names_of(graph)` say `names`, to which nobody adds any more: whoever made the graph has
    them already."""
    names.settle()
    _known[graph] = names
