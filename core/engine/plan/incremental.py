"""Compiling again after an edit: what has not changed since the plan before is taken over from it.

A step is taken over as it is when its operation is the same object and what it reads are the same
values; then its values keep their indexes, and whoever laid out the plan before can go on using
their places and their bound calls. An operation that has changed keeps the values that are still
of the same type, so that its readers can stay, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from gradstep.core.engine.plan.fed_types import Outputs
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import CompileBody, Resolver, Whereabouts
from gradstep.core.engine.plan.steps import PlanValue, Step, Variable, makes_constants
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef, find

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan

_NAME = attrgetter("op.name")


class IncrementalResolver(Resolver):
    """See Resolver. What comes out means the same as without the plan before; only the numbers of
    values differ, and there are values that no step makes.

    retired: steps of plans before, by operation, that have no part in this one.
    """

    def __init__(self, previous: Plan, compile_body: CompileBody) -> None:
        self._spare: list[int] = []  # values that the operation at hand had in the plan before
        super().__init__(previous.types.after(), compile_body)
        self._previous = previous
        self.branches = previous.branches
        self._same = True  # whether the operation at hand gives tensors of the same types
        self._before = dict(zip(map(_NAME, previous.steps), previous.steps, strict=True))
        self.retired = dict(previous.retired)
        self.values = [*previous.values]
        self.where = dict(previous.tensors.of)
        self._changed: set[str] = set()  # operations whose readers have to be looked at
        # What these used to read, and what may be overtaken by another version of a variable.
        self._watched: set[int] = set()
        self._watched.update(*(v for v in previous.versions.values() if len(v) > 1))

    def take(self, needed: Needed) -> None:
        """Append the steps that execute what is needed."""
        self._retire(self._before.keys() - needed.counts.keys())
        self._retire(self._before.keys() & needed.missing)
        for name in needed.missing:
            self.types.forget(name)  # it may have been known before anybody asked for it
            self._note_change(name, self._previous.tensors.of.get(name))
        before, watched, steps = self._before, self._watched, self.steps
        for op in needed.operations:
            old = before.get(op.name)
            if old is None or old.op is not op:
                self.add(op)
            elif old.plain and watched.isdisjoint(old.reads):
                steps.append(old)
            elif not self._keep(old):
                self.add(op)

    def add(self, op: Operation) -> None:
        old = self._before.get(op.name) or self.retired.pop(op.name, None)
        definition = find(op.type)
        there = self._vacate(op.name)
        self._spare = [*self._values_of(old, op, definition, there)]
        self._same = True
        step = self._step(op, definition)
        if not self._same or self.where.get(op.name) != there:
            self._note_change(op.name, there)
        # A step that fails is bound to why: it is never the same as one that fails otherwise.
        fails = op.name in self.failures or op.name in self._previous.failures
        self.steps.append(step if old is None or fails or not _equal(step, old) else old)

    def _note_change(self, name: str, there: Whereabouts | None) -> None:
        """What `name` gives is not what it gave before, which was there."""
        self._changed.add(name)
        for place in there or ():
            if isinstance(place, int):
                self._watched.add(place)
            elif place is not None:
                self._watched.update(self._previous.versions.get(place, ()))

    def _values_of(
        self, old: Step | None, op: Operation, definition: OpDef | None, there: Whereabouts | None
    ) -> Iterator[int]:
        """What `op` may go on using of what it had. A constant is made before the first run, and
        its readers are bound to it: it needs a place of its own, and leaves none. What lies where
        another value does has no place of its own either."""
        if old is None or makes_constants(op, definition) or not self._lies_apart(old, op):
            return
        if not makes_constants(old.op, old.definition):
            yield from old.writes
            if not old.writes and op.name not in self._fed:
                yield from (x for x in there or () if isinstance(x, int))

    def _lies_apart(self, old: Step, op: Operation) -> bool:
        """Whether what `old` made is no other value's bytes, or those of what `op` reads still."""
        if not old.keeps_bytes or self.values[old.reads[0]].variable:
            return True
        definition, ref = find(op.type), op.inputs[0] if op.inputs else None
        if ref is None or definition is None or not definition.memory.keeps_bytes:
            return False
        there = self.where.get(ref.op, ())
        return ref.index < len(there) and there[ref.index] == old.reads[0]

    def _retire(self, names: Iterable[str]) -> None:
        """Forget these operations. Nobody who is needed asks for them."""
        for name in names:
            self.retired[name] = self._before[name]
            self.types.forget(name)
            self._vacate(name)

    def _vacate(self, name: str) -> Whereabouts | None:
        """Where the outputs of `name` were; from here on, only what is fed of them is there."""
        there = self.where.pop(name, None)
        if name in self._fed:
            self.where[name] = self._fed[name]
        return there

    def _keep(self, step: Step) -> bool:
        """Append `step` as it is, if it can be."""
        changed, op = self._changed, step.op
        if changed and not changed.isdisjoint([ref.op for ref in op.inputs if ref is not None]):
            return False
        definition = step.definition
        if definition is None or op.name in self._previous.failures:
            return False
        if step.iteration or (definition.makes_versions and not definition.state.writes):
            return False  # it has to declare its state again
        values, versions = self.values, self.versions
        for read in step.reads:
            variable = values[read].variable
            if variable and versions[variable][-1] != read:
                return False
        if definition.kernel.plain is None and not self._declared_again(op.name):
            return False
        for made in step.writes:
            variable = values[made].variable
            if variable:
                versions[variable].append(made)
        self.steps.append(step)
        return True

    def _declared_again(self, name: str) -> bool:
        """Take over the variable that operation `name` declares, if it is the one that does."""
        (storage,) = self.where.get(name) or ("",)
        if not isinstance(storage, str) or storage in self.variables:
            return False
        variable = self._previous.variables.get(storage)
        if variable is None or variable.op != name:
            return False
        self.variables[storage] = variable
        self.versions[storage] = [self._previous.versions[storage][0]]
        return True

    def _types(self, op: Operation) -> Outputs:
        outputs, self._same = self.types.anew(op)
        return outputs

    def _store(self, name: str, variable: Variable) -> None:
        self.variables[name] = variable
        there = self._previous.variables.get(name)
        if there is not None and there.type == variable.type:
            self.versions[name] = [self._previous.versions[name][0]]
        else:
            self._watched.update(self._previous.versions.get(name, ()))
            super()._store(name, variable)

    def _new_version(self, variable: str) -> int:
        self._watched.add(self.versions[variable][-1])  # who read it may have to read this one
        return super()._new_version(variable)

    def _value(self, value: PlanValue) -> int:
        for index in self._spare:
            if self.values[index] == value:
                self._spare.remove(index)
                return index
        return super()._value(value)


def _equal(a: Step, b: Step) -> bool:
    return a.op is b.op and (a.reads, a.writes, a.computes) == (b.reads, b.writes, b.computes)
