"""A loop run on given arrays, outside the memory of the plan that it is a step of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.autodiff.check.promote_float64 import fit_loops, widen_operation
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.loops.trace_retention import EVERYTHING
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.loop_body import Iteration, compile_body
from gradstep.core.engine.plan.steps import Step, Variable
from gradstep.core.engine.run.recording import Recording
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import LOOP, everywhere, loop_of
from gradstep.core.graph.model import Graph, Operation


def run_alone(
    backend: Backend, iteration: Iteration, inputs: Sequence[Any], functions: Functions
) -> tuple[Any, ...]:
    """What a step that runs `iteration` writes, from device arrays of what it reads (None for a
    variable without a value). Raises GradstepError located inside."""
    run = LoopRun(iteration, Recording(iteration.plan, backend, functions), EVERYTHING)
    count = len(inputs) - len(iteration.shared)
    shared = zip(iteration.shared, inputs[count:], strict=True)
    run.begin(inputs[:count], {name: x for name, x in shared if x is not None})
    error = run.finish()
    if error is not None:
        raise error
    variables = run.variables
    return (*run.results, run.trace, *(variables.get(name) for name in iteration.written))


def promote_iteration(plan: Plan, step: Step, inputs: Sequence[Any]) -> Iteration:
    """The iteration of a loop of `plan` in float64, for these inputs, which are that wide."""
    kinds = [_like(plan.values[i].type, x) for i, x in zip(step.reads, inputs, strict=True)]
    loop = loop_of(_wide(step.op, kinds))
    assert loop is not None
    sources = [plan.tensors[ref] for ref in step.op.inputs if ref is not None]
    storages = {source for source in sources if isinstance(source, str)}
    types = dict(zip(_names(plan, step), kinds, strict=True))
    variables = {name: _of(plan.variables[name], name, types) for name in storages}
    return compile_body(loop, kinds[: len(sources)], sources, variables)


def _like(kind: TensorType, array: Any) -> TensorType:
    dtype = getattr(array, "dtype", None)
    return kind if dtype is None or dtype.hasobject else replace(kind, dtype=DType.of(dtype))


def _names(plan: Plan, step: Step) -> list[str]:
    """The variable that each value the step reads is a version of; "" for others."""
    return [plan.values[index].variable for index in step.reads]


def _of(variable: Variable, name: str, types: Mapping[str, TensorType]) -> Variable:
    return replace(variable, type=types.get(name, variable.type))


def _wide(op: Operation, kinds: Sequence[TensorType]) -> Operation:
    """A While that takes inputs of these types."""
    loop = loop_of(op)
    assert loop is not None
    inner = everywhere(loop.graph, lambda part: Graph.of(widen_operation(o) for o in part))
    given = [
        Operation(f"{op.name}/given_{i}", "Placeholder", attrs={"dtype": kind.dtype})
        for i, (_, kind) in enumerate(zip(loop.arguments, kinds, strict=False))
    ]
    inputs = tuple(one.output() for one in given)
    whole = replace(op.with_attrs(**{LOOP: replace(loop, graph=inner)}), inputs=inputs)
    return fit_loops(Graph.of([*given, whole]))[op.name]
