"""The plan of one iteration of a loop, which every iteration runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gradstep.core.engine.plan.execution_plan import Plan, assemble
from gradstep.core.engine.plan.fed_types import Outputs, RunTypes
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import Resolver
from gradstep.core.engine.plan.steps import PlanValue, Step, Variable, has_place
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.loop_types import IterationTypes, iteration_types

Handles = Mapping[str, tuple[str, Variable]]  # argument -> the variable around that it stands for


@dataclass(frozen=True, eq=False)
class Iteration:
    """plan:    first what the condition needs, then the rest.
    split:   steps of the former.
    cond:    its value.
    carried: the value of each loop variable as the iteration starts.
    results: the value that each has in the next one.
    started: arguments that the iteration starts with as it does with variables -> number of the
             input: those that are carried round, and what has no place of its own in memory.
    fed:     other arguments -> number of the input.
    shared:  variables that the run around has, too, in the order in which the step reads them.
    written: those of them that the iteration writes to, likewise.
    """

    loop: Loop
    plan: Plan
    split: int
    cond: int
    carried: tuple[int, ...]
    results: tuple[int, ...]
    started: Mapping[str, int]
    fed: Mapping[TensorRef, int]
    shared: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def calls_python(self) -> bool:
        """Whether a user's function runs in it."""
        return any(step.calls_python for step in self.plan.steps)

    @cached_property
    def started_captures(self) -> frozenset[int]:
        """Captures that an iteration starts with as it does with variables."""
        names = self.started.keys() - {*self.loop.variables}
        return frozenset(self.plan.versions[name][0] for name in names)

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables of `shared`, as the run around has them."""
        of = self.plan.variables
        return {n: of[n] if of[n].op else replace(of[n], anew=True) for n in self.shared}


_Key = tuple[tuple[TensorType, ...], tuple[tuple[str, str, TensorType], ...]]
_KNOWN = "iterations"  # kept with the graph, which they know: so they go when it goes


def compile_body(
    loop: Loop,
    kinds: Sequence[TensorType],
    sources: Sequence[int | str],
    variables: Mapping[str, Variable],
) -> Iteration:
    """The iteration of `loop` on inputs of these types. sources: what the inputs are, values or
    variables around. Raises GradstepError for types that do not fit."""
    types, handles = iteration_types(loop, kinds), _handles_among(loop, sources, variables)
    known: dict[_Key, Iteration] = loop.graph.__dict__.setdefault(_KNOWN, {})
    key = types.arguments, tuple((name, storage, v.type) for name, (storage, v) in handles.items())
    found = known.get(key)
    if found is None:
        found = known[key] = _compiled(loop, types, handles)
    return found


def _compiled(loop: Loop, types: IterationTypes, handles: Handles) -> Iteration:
    resolver = _IterationResolver(loop, types, handles)
    wanted = (loop.cond.op, *(ref.op for ref in loop.results))
    needed = Needed(loop.graph, {TensorRef(name): None for name in loop.arguments}, wanted)
    first = loop.graph.ancestors([loop.cond.op])
    every = needed.operations
    before = [op for op in every if op.name in first]
    after = [op for op in every if op.name not in first]
    for op in (*before, *after):
        if op.name not in resolver.given:
            resolver.add(op)
    plan = assemble(loop.graph, needed, resolver, (loop.cond, *loop.results), ())
    own = {*resolver.started, *(n for n, v in plan.variables.items() if v.anew)}
    shared = tuple(name for name in plan.versions if name not in own)
    return Iteration(
        loop=loop,
        plan=plan,
        split=sum(step.op.name in first for step in plan.steps),
        cond=value_of(plan, loop.cond),
        carried=tuple(plan.versions[name][0] for name in loop.variables),
        results=tuple(value_of(plan, ref) for ref in loop.results),
        started=resolver.started,
        fed=resolver.outside,
        shared=shared,
        written=tuple(name for name in shared if len(plan.versions[name]) > 1),
    )


def trace_of(step: Step) -> int:
    """The value that holds what is kept of the iterations of the loop that `step` runs."""
    assert step.iteration is not None
    return step.writes[len(step.iteration.loop.variables)]


def value_of(plan: Plan, ref: TensorRef) -> int:
    """The value that tensor `ref` of an iteration is at its end. Raises GradstepError where no
    operation of it gives one."""
    where = plan.tensors.get(ref)
    if where is None:
        raise GradstepError(
            f"an iteration does not give '{ref.short}'",
            kind="ValueError",
            node=ref.op,
            hint="look at what leads there: an assignment to what is no variable gives nothing",
        )
    return plan.newest(where) if isinstance(where, str) else where


class _IterationResolver(Resolver):
    """See Resolver. The arguments of the loop are there beforehand."""

    def __init__(self, loop: Loop, types: IterationTypes, handles: Handles) -> None:
        self.loop = loop
        self.given = frozenset(loop.arguments)
        kinds = dict(zip(loop.arguments, types.arguments, strict=True))
        numbers = {name: number for number, name in enumerate(loop.arguments)}
        placed = [n for n in loop.captures if n not in handles and has_place(PlanValue(kinds[n]))]
        self.outside = {TensorRef(name): numbers[name] for name in placed}
        fed = {TensorRef(name): kinds[name] for name in placed}
        super().__init__(RunTypes(types.inference, fed), compile_body)
        rest = [n for n in loop.arguments if n not in handles and TensorRef(n) not in self.outside]
        self.started = {name: numbers[name] for name in rest}
        for name in rest:
            self._store(name, Variable(name, kinds[name], resource=True))
            self.where[name] = (self.versions[name][0],)
        for name, (storage, variable) in handles.items():
            if storage not in self.variables:
                self._store(storage, variable)
            self.where[name] = (storage,)

    def _store(self, name: str, variable: Variable) -> None:
        """What is made anew in every run is not made anew in every iteration, where the run around
        has it, too."""
        shared = not variable.op or variable.op not in self.loop.graph
        super()._store(name, replace(variable, anew=False) if shared else variable)

    def _resolve(self, op: Operation, definition: OpDef | None, outputs: Outputs) -> Step:
        switches = definition is not None and definition.branch == "switch"
        if switches and op.inputs[1] == self.loop.cond:
            return self._passed(op, definition)
        return super()._resolve(op, definition, outputs)

    def _passed(self, op: Operation, definition: OpDef | None) -> Step:
        """A loop's own Switch: what comes after it runs where the condition holds, and then its
        second output is the value."""
        source = self._source(op.inputs[0])
        self._stand(op, (source, source))
        return Step(op, definition, (), (), False)


def _handles_among(
    loop: Loop, sources: Sequence[int | str], variables: Mapping[str, Variable]
) -> Handles:
    """The captures that are variables and not their values."""
    found = {}
    for name, source in zip(loop.arguments, sources, strict=True):
        kind = infer_declared(loop.graph).types[TensorRef(name)]
        if (kind.ref or kind.dtype is DType.RESOURCE) and isinstance(source, str):
            found[name] = (source, variables[source])
    return found
