"""How updates were made: those of variables that an edit did not touch are not made again."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.graph.carry_over import known_changes
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.ops.build.rebuilding import Rebuilder, rebuild_upon
from gradstep.core.ops.build.used_names import TakenNames, names_of
from gradstep.core.ops.typing.inference import agree, infer_declared
from gradstep.core.persistent.edited_columns import NOT_AT_ALL, other_keys

if TYPE_CHECKING:
    from gradstep.core.train.update_ops import Updates

Key = tuple[Hashable, ...]
_OP = itemgetter(0)  # of a TensorRef


@dataclass(frozen=True, eq=False)
class Given:
    """What updates follow from, besides the graph: settings, the optimizer's; variables, those that
    it is to train; gradients, of each tensor that has one the tensor that holds it."""

    settings: object
    variables: tuple[TensorRef, ...]
    gradients: Mapping[TensorRef, TensorRef]

    def is_as(self, before: Given) -> bool:
        """Whether the same updates follow from it: its variables have the very gradients."""
        if self.settings != before.settings or self.variables != before.variables:
            return False
        others = other_keys(before.gradients, self.gradients)
        if others is None:
            then, now = before.gradients, self.gradients
            same = [*map(then.get, self.variables)] == [*map(now.get, self.variables)]
        else:
            same = before.trained.isdisjoint(others)
        if same:
            self.__dict__.update(trained=before.trained, holders=before.holders)
        return same

    @cached_property
    def trained(self) -> frozenset[TensorRef]:
        """The variables, in no order."""
        return frozenset(self.variables)

    @cached_property
    def holders(self) -> frozenset[str]:
        """The operations that hold their gradients."""
        held = map(self.gradients.get, self.variables)
        return frozenset(map(_OP, filter(None, held)))


@dataclass(frozen=True, slots=True)
class MadeOperations:
    """Operations that were made one after the other, and what else was asked of names meanwhile."""

    names: tuple[str, ...]
    taken: TakenNames

    def drop_from(self, builder: Rebuilder) -> None:
        """Let them go, and the names that are nobody else's."""
        builder.drop(self.names, self.taken.own_scopes)


@dataclass(frozen=True, slots=True)
class VariableUpdate:
    """What was made for one variable. declared, gradient, kind: what it was made of; gradient is
    None where it cannot be taken again. done: those of its operations that finish it."""

    declared: Operation
    gradient: TensorRef | None
    kind: TensorType | None
    made: MadeOperations
    slots: tuple[str, ...]
    initial: dict[str, np.ndarray]
    done: tuple[str, ...]


NOTHING_MADE = VariableUpdate(  # of nothing that there is, so that it is nobody's
    Operation("", ""), None, None, MadeOperations((), TakenNames((), (), (), True)), (), {}, ()
)


@dataclass(frozen=True, eq=False)
class UpdateRecord:
    """How updates were made. graph: where; base: upon which graph; scope: of all of them; of: the
    optimizer, and what all variables share; first: what was made before any update; last: what
    was made after all; initial: what new variables start with; updates: all that there is to tell
    of them; given: see there, None where more than that was."""

    graph: Graph
    base: Graph
    scope: str
    of: Key
    first: MadeOperations
    by_variable: Mapping[str, VariableUpdate]
    last: MadeOperations
    initial: Mapping[str, np.ndarray]
    updates: Updates
    given: Given | None

    def are_apart(self, variables: Collection[str]) -> bool:
        """Whether none of these, and of those that were updated then, lies in a scope that is
        called as another: then the update of the one would lie in the scope of the other's."""
        more = {*variables} - self.by_variable.keys()
        return not _are_nested({*self.by_variable, *more}) if more else self._are_apart

    @cached_property
    def _are_apart(self) -> bool:
        return not _are_nested(self.by_variable)

    def rebuild(self, base: Graph, name: str) -> Rebuilder | None:
        """A builder that goes on from these, upon what their base is now, in a scope `name`; None
        where that cannot be."""
        builder = self._builder(base, name)
        if builder is not None:
            self.first.drop_from(builder)
            self.last.drop_from(builder)
        return builder

    def repeat(self, base: Graph, name: str, given: Given) -> Graph | None:
        """The same updates upon what their base is now, without making them; None where any of them
        might come out otherwise."""
        if self.given is None or not given.is_as(self.given):
            return None
        builder = self._builder(base, name)
        if builder is None or not self._stay(builder, given):
            return None
        return builder.finish(self.updates.order, NOT_AT_ALL)

    def _builder(self, base: Graph, name: str) -> Rebuilder | None:
        known = base is self.base or known_changes(self.base, base) is not None
        if not known or names_of(base).unique(name) != self.scope:
            return None
        return rebuild_upon(base, self.graph, self.base)

    def _stay(self, builder: Rebuilder, given: Given) -> bool:
        """Whether the variables are declared as they were, of the gradients the same is known, and
        no name that was asked for is taken now or free that was not."""
        others, moved = builder.retyped, builder.moved_names
        if any(map(self.by_variable.__contains__, others)):
            return False
        then, now = self.base, builder.known
        held = filter(given.holders.__contains__, others)
        if not all(agree(infer_declared(then), now, name) for name in held):
            return False
        return moved.isdisjoint(self.updates.asked)


def _are_nested(variables: Iterable[str]) -> bool:
    """Whether one lies in a scope that is called as another."""
    names = {*map(str.lower, variables)}
    scopes = {name.rpartition("/")[0] for name in names}
    return not names.isdisjoint(scopes.union(*map(parents, scopes)))
