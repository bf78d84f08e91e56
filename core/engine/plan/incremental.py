"""Compiling again after an edit: what has not changed since the plan before is taken over from it.

A step is taken over as it is when its operation is the same object and what it reads are the same
values; then its values keep their indexes, and whoever laid out the plan before can go on using
their places and their bound calls. An operation that has changed keeps the values that are still
of the same type, so that its readers can stay, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any

from gradstep.core.engine.plan.fed_types import Outputs
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import CompileBody, Resolver, Whereabouts
from gradstep.core.engine.plan.steps import PlanValue, Step, Variable, makes_constants
from gradstep.core.engine.plan.touched_steps import TouchedSteps, Used, used_by
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.core.persistent.edited_sequence import Growing, replaced
from gradstep.core.persistent.overlaid_mapping import overlaid
from gradstep.core.persistent.shifted_places import shift_places

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan

MOST_TOUCHED = 0.25  # of the steps; beyond that all are looked at, one after the other


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
        self.retired = overlaid(previous.retired)
        self.values, self.taken = Growing(previous.values), previous.values
        self._arranged: Sequence[Step] | None = None  # all steps, where not all are looked at
        self.where = overlaid(previous.tensors.of)
        self.touched: TouchedSteps | None = None  # where not all steps are looked at
        self._changed: set[str] = set()  # operations whose readers have to be looked at
        # What these used to read, and what may be overtaken by another version of a variable;
        # besides what was overtaken in the plan before.
        self._watched: set[int] = set()
        self._overtaken = previous.overtaken

    def take(self, needed: Needed) -> None:
        """Append the steps that execute what is needed."""
        if not self._take_touched(needed):
            self._take_all(needed)

    def _take_touched(self, needed: Needed) -> bool:
        """The same, looking only at the steps that the edit may have touched; whether it can be
        told which they are."""
        previous, names = self._previous, needed.names
        visited = needed.entered.union(filter(needed.counts.__contains__, needed.changed))
        few = len(visited) + len(needed.left) <= MOST_TOUCHED * len(names)
        if not few or needed.missing or not previous.is_plain:
            return False
        if not all(_has_plain_state(needed.graph[name]) for name in visited):
            return False
        then = now = previous.step_of
        if names is not previous.needed.names:
            if not (needed.keeps_sequence or _keep_sequence(previous.needed.names, needed)):
                return False
            now = shift_places(names, then, needed.left, needed.entries)
        self.touched = touched = TouchedSteps(now, previous, needed)
        self.variables = overlaid(previous.variables)
        # To those that are not opened nobody adds.
        self.versions = overlaid(previous.versions)  # type: ignore[arg-type]
        for name in needed.left:
            step = previous.steps[then[name]]
            used = self._used(step)
            self._open(self._written_by(name, used), 0)
            touched.move(name, used, set())
            touched.note(name, step, None)
        self._retire(needed.left)
        touched.push(visited)
        looked_at = {place: self._look_at(needed.graph[names[place]]) for place in touched}
        arranged: Sequence[Any] = touched.arrange(previous.steps)
        self._arranged = replaced(arranged, looked_at)
        self._put_variables_in_order()
        return True

    @property
    def all_steps(self) -> Sequence[Step]:
        return super().all_steps if self._arranged is None else self._arranged

    def _look_at(self, op: Operation) -> Step:
        """The step of an operation that may have been touched."""
        assert self.touched is not None
        touched, previous = self.touched, self._previous
        old, place = self._step_before(op.name), touched.place
        used = set() if old is None else self._used(old)
        sources = (self.where.get(ref.op, ()) for ref in op.inputs if ref is not None)
        names = {x for x in chain(used, *sources) if isinstance(x, str) and x in previous.versions}
        self._open(self._written_by(op.name, used), place)
        read = names - touched.opened
        for name in read:
            self.versions[name] = self._versions_at(name, place)
        self._take_one(op)
        for name in read - touched.opened:
            self.versions[name] = previous.versions[name]  # type: ignore[assignment]
        step = self.steps.pop()
        touched.note(op.name, old, step)
        touched.move(op.name, used, self._used(step))
        return step

    def _are_as_before(self, reads: Sequence[int]) -> bool:
        return self._watched.isdisjoint(reads) and self._overtaken.isdisjoint(reads)

    def _step_before(self, name: str) -> Step | None:
        """What an operation was in the plan before."""
        place = self._previous.step_of.get(name)
        return None if place is None else self._previous.steps[place]

    def _used(self, step: Step) -> set[Used]:
        return used_by(step, self.values, self.where)

    def _written_by(self, name: str, used: Collection[Used]) -> Iterator[str]:
        """The variables that an operation, which deals with these, writes or declares: without it
        their versions are others. Who only reads them leaves them as they are."""
        variables = self._previous.variables
        names = (x for x in used if isinstance(x, str) and x in variables)
        return (x for x in names if (x,) in used or variables[x].op == name)

    def _versions_at(self, variable: str, place: int) -> list[int]:
        """Those that it has when step number `place` begins, as far as that is as before."""
        assert self.touched is not None
        first, *more = self._previous.versions[variable]
        places = self.touched.places
        writers = self.touched.users_before((variable,)) if more else ()
        early = (name for name in writers if places.get(name, place) < place)
        steps, step_of = self._previous.steps, self._previous.step_of
        made = {value for name in early for value in steps[step_of[name]].writes}
        return [first, *(value for value in more if value in made)]

    def _open(self, used: Iterable[Used | None], place: int) -> None:
        """Of the variables among these: forget what steps from `place` on do with them, and look at
        all of them again."""
        previous, touched = self._previous, self.touched
        assert touched is not None
        for name in used:
            if not isinstance(name, str) or name in touched.opened:
                continue
            touched.opened.add(name)
            if name not in previous.versions:
                continue
            touched.push_users(name)
            if touched.places.get(previous.variables[name].op, place) >= place:
                del self.variables[name], self.versions[name]
            else:
                self.versions[name] = self._versions_at(name, place)

    def _put_variables_in_order(self) -> None:
        """In that in which they are declared."""
        assert self.touched is not None
        if not self.touched.stored:
            return
        if list(self.variables) == list(self._previous.variables):
            return
        places, variables = self.touched.places, self.variables
        names = sorted(variables, key=lambda name: places[variables[name].op])
        self.variables = {name: variables[name] for name in names}
        self.versions = {name: self.versions[name] for name in names}

    def _take_all(self, needed: Needed) -> None:
        there = self._previous.step_of.keys()
        self._retire(there - needed.counts.keys())
        self._retire(there & needed.missing)
        for name in needed.missing:
            self.types.forget(name)  # it may have been known before anybody asked for it
            self._note_change(name, self._previous.tensors.of.get(name))
        for op in needed.operations:
            self._take_one(op)

    def _take_one(self, op: Operation) -> None:
        """Append the step of `op`: the one that there was, if it can be."""
        old = self._step_before(op.name)
        if old is None or old.op is not op:
            self.add(op)
        elif old.plain and self._are_as_before(old.reads):
            self.steps.append(old)
        elif not self._keep(old):
            self.add(op)

    def add(self, op: Operation) -> None:
        old = self._step_before(op.name) or self.retired.pop(op.name, None)
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
        if self.touched is not None:
            self._open(there or (), self.touched.place)
            for used in there or ():
                self.touched.push_users(-1 if used is None else used)
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
            self.retired[name] = self._previous.steps[self._previous.step_of[name]]
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
        self._store(storage, variable)
        return True

    def _types(self, op: Operation) -> Outputs:
        outputs, self._same = self.types.anew(op)
        return outputs

    def _store(self, name: str, variable: Variable) -> None:
        self.variables[name] = variable
        if self.touched is not None:
            self.touched.stored.add(name)
        there = self._previous.variables.get(name)
        if there is not None and there.type == variable.type:
            self.versions[name] = [self._previous.versions[name][0]]
        else:
            self._watched.update(self._previous.versions.get(name, ()))
            super()._store(name, variable)

    def _new_version(self, variable: str) -> int:
        if self.touched is not None:
            self._open((variable,), self.touched.place)
        self._watched.add(self.versions[variable][-1])  # who read it may have to read this one
        return super()._new_version(variable)

    def _value(self, value: PlanValue) -> int:
        for index in self._spare:
            if self.values[index] == value:
                self._spare.remove(index)
                return index
        return super()._value(value)


def _has_plain_state(op: Operation) -> bool:
    """Whether the variables that `op` makes are its own."""
    definition = find(op.type)
    shared = definition is not None and definition.state.per_run is not None
    return loop_of(op) is None and not shared and not op.attrs.get("shared_name")


def _keep_sequence(then: Sequence[str], needed: Needed) -> bool:
    """Whether operations that were needed before come in the order in which they came."""
    left, entered, now = needed.left, needed.entered, needed.names
    stay = filterfalse(left.__contains__, then)
    return [*stay] == [*filterfalse(entered.__contains__, now)]


def _equal(a: Step, b: Step) -> bool:
    return a.op is b.op and (a.reads, a.writes, a.computes) == (b.reads, b.writes, b.computes)
