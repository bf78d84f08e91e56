"""Variables that a run reads although nothing has given them a value."""

from __future__ import annotations

from itertools import chain, filterfalse

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.init_run import assigns, init_run
from gradstep.core.engine.plan.steps import TAKE_EMPTY
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.build.variable import VARIABLES

_FED = "Placeholder"


def find_uninitialized(program: Program) -> list[Problem]:
    """A warning at each variable that has no value before the first run, and is read in it by an
    operation that wants one. With TensorFlow's words, and what initialises it."""
    graph = program.graph
    there = program.initial
    declared = chain.from_iterable(graph.by_type.get(type, ()) for type in VARIABLES)
    lacking = [*filterfalse(there.__contains__, declared)]
    if not lacking:
        return []  # nearly always so, and said in C
    given = init_run(graph, program.init).gives if program.init else frozenset[str]()
    missing = {*filterfalse(given.__contains__, lacking)}
    if not missing:
        return []
    empty = [*filter(missing.__contains__, graph.operations)]
    needed = graph.ancestors([*(ref.op for ref in program.fetches), *program.targets])
    return [
        _problem(program, graph[name])
        for name in empty
        if name in needed and _is_read_first(graph, graph[name], needed)
    ]


def find_captured(program: Program) -> list[Problem]:
    """A warning at each handle that is to be fed: what a tf.function has captured, whose variables
    its GraphDef does not have."""
    graph = program.forward
    fed = map(graph.operations.__getitem__, graph.by_type.get(_FED, ()))
    handles = {op.name for op in fed if op.attrs.get("dtype") is DType.RESOURCE}
    return [
        Problem(
            name,
            "captured",
            "it stands for a variable that a tf.function took from its surroundings; the GraphDef "
            "of a function does not have it",
            "write the graph of the frozen function instead (convert_variables_to_constants_v2)",
            severity="warning",
        )
        for name in filter(handles.__contains__, graph.operations if handles else ())
    ]


def _is_read_first(graph: Graph, variable: Operation, needed: set[str]) -> bool:
    """Whether some operation of the run reads it, and none assigns to it."""
    readers = [graph[edge.op] for edge in graph.consumers[variable.name] if edge.op in needed]
    return any(op.type not in TAKE_EMPTY for op in readers) and not any(map(assigns, readers))


def _problem(program: Program, variable: Operation) -> Problem:
    name = variable.name
    text = f"Attempting to use uninitialized value {name}"
    assigning = [
        edge.op
        for edge in program.graph.consumers[name]
        if edge.index == 0 and assigns(program.graph[edge.op])
    ]
    fix = f"give {name} an initial value"
    if assigning:
        fix = f"run {assigning[0]} first, or give {name} an initial value"
    if assigning and program.init:
        text += (
            f": '{program.init}' does not run {assigning[0]}, as an init operation does that was "
            "made before the variable (before an optimizer's slots, perhaps)"
        )
        fix = f"{fix}; in the program, make the init operation after the optimizer"
    return Problem(name, "uninitialised", text, fix, severity="warning")
