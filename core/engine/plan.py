"""From a graph and what is wanted of it to the ordered steps of one run.

Only what the fetches and targets need is kept. Variables are in single-assignment form: an
update makes a new version, and a reader gets the version that is current at its place in the
order. A ref variable's aliases (its own output, an Identity of it, the result of an Assign) have
no value of their own; they stand for the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from core.engine.groups import Group, group_steps
from core.engine.resolve import Resolver, Step, Value, Variable
from core.errors import GradstepError
from core.graph.dtypes import TensorType
from core.graph.model import Graph, TensorRef, unknown_name
from core.ops.infer import Inference, infer


@dataclass(frozen=True, slots=True)
class Blocked:
    """Steps `start` to `stop`, elementwise on one shape, that may run block by block together."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Plan:
    """One run, ready to be laid out in memory.

    steps:     in the order of execution, which is that of creation.
    values:    every array that a run makes or starts with; Step.reads and .writes index it.
    tensors:   where each tensor is: the index of its value, or the variable it stands for.
    variables: those the steps touch, by the name of their storage.
    versions:  variable -> its values in order, the one at the run's start first.
    failures:  steps that cannot run, found before running -> why.
    blocked:   runs of steps that the fast layout may take block by block.
    """

    graph: Graph
    steps: tuple[Step, ...]
    values: tuple[Value, ...]
    tensors: Mapping[TensorRef, int | str]
    variables: Mapping[str, Variable]
    versions: Mapping[str, tuple[int, ...]]
    failures: Mapping[int, GradstepError]
    fetches: tuple[TensorRef, ...]
    targets: tuple[str, ...]
    blocked: tuple[Blocked, ...] = ()

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The steps in maximal runs of one phase and origin; a forward step is a group."""
        return group_steps([step.op for step in self.steps])

    @cached_property
    def step_of(self) -> Mapping[str, int]:
        """The step that executes each operation."""
        return {step.op.name: step.index for step in self.steps}

    def newest(self, variable: str, step: int | None = None) -> int:
        """The value that `variable` has once `step` steps are done (by default all)."""
        versions = self.versions[variable]
        if step is None:
            return versions[-1]
        return next(v for v in reversed(versions) if self.values[v].step < step)


def compile_plan(
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str] = (),
    fed: Iterable[TensorRef] | Mapping[TensorRef, TensorType] = (),
) -> Plan:
    """The plan that computes `fetches` and executes `targets`, given the tensors in `fed`.

    fed: with types, shapes follow from what is really fed; without, from the declarations.
    An operation that cannot run (unfed placeholder, shapes that do not fit, unknown type) fails
    when its step is reached, as in TensorFlow. Raises GradstepError for a name that is not there
    and for a cycle.
    """
    types = _fed_types(graph, fed)
    for name in (*targets, *(ref.op for ref in fetches)):
        if name not in graph:
            raise unknown_name(name, graph.operations)
    needed = _needed(graph, fetches, targets, types)
    resolver = Resolver(types)
    for name in graph.order:
        if name in needed:
            resolver.add(graph[name])
    for ref in fetches:
        _check_output(resolver, ref)
    return Plan(
        graph=graph,
        steps=tuple(resolver.steps),
        values=tuple(resolver.values),
        tensors=resolver.tensors,
        variables=resolver.variables,
        versions={name: tuple(ids) for name, ids in resolver.versions.items()},
        failures=resolver.failures,
        fetches=tuple(fetches),
        targets=tuple(targets),
    )


@lru_cache(maxsize=8)
def declared(graph: Graph) -> Inference:
    """The graph's static types, inferred once."""
    return infer(graph)


def _fed_types(
    graph: Graph, fed: Iterable[TensorRef] | Mapping[TensorRef, TensorType]
) -> Mapping[TensorRef, TensorType]:
    if isinstance(fed, Mapping):
        return fed
    known = declared(graph).types
    for ref in (fed := tuple(fed)):
        if ref not in known:
            raise GradstepError(f"there is no tensor '{ref}' to feed", kind="KeyError", node=ref.op)
    return {ref: known[ref] for ref in fed}


def _needed(
    graph: Graph,
    fetches: Iterable[TensorRef],
    targets: Iterable[str],
    fed: Mapping[TensorRef, TensorType],
) -> set[str]:
    """What must run. A feed cuts the wires that carry it, but no control dependency."""
    seen: set[str] = set()
    stack = [*targets, *(ref.op for ref in fetches if ref not in fed)]
    while stack:
        name = stack.pop()
        if name in seen or name not in graph:
            continue  # a wire from nowhere fails at its reader
        op = graph[name]
        if op.type == "Placeholder" and op.output() in fed:
            continue  # a fed placeholder is replaced by its feed, control dependencies included
        seen.add(name)
        stack.extend(ref.op for ref in op.inputs if ref is not None and ref not in fed)
        stack.extend(op.control_inputs)
    return seen


def _check_output(resolver: Resolver, ref: TensorRef) -> None:
    if ref in resolver.tensors or ref.op in resolver.broken:
        return
    raise GradstepError(
        f"operation '{ref.op}' has no output {ref.index}",
        kind="ValueError",
        node=ref.op,
        hint="run it as a target" if ref.index == 0 else "",
    )


__all__ = ["Group", "Plan", "Step", "Value", "Variable", "compile_plan", "declared"]
