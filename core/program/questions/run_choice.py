"""What a run computes: the values that are asked for by name, or what the document itself runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.requests import whole_request
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.declare.table import find
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.program_errors import find_errors

Values = dict[str, "np.ndarray | None"]  # None: of an operation without outputs, or dead
NOT_COMPUTED = "not computed: in a branch that was not taken"


@dataclass(frozen=True, eq=False)
class RunChoice:
    """graph: what is needed of the program, or the document's own graph where that is all.
    initial: its variables' first values. names: what to give, tensors and operations. targets: what
    to run besides. lacks: where nothing is asked for, why the document asks for nothing. problems:
    what is wrong with the document, where it is all run, that its runs do without. asked: whether
    somebody asked for the names: then one that is dead is an error, as in TensorFlow."""

    graph: Graph
    initial: Mapping[str, np.ndarray]
    names: Sequence[str]
    targets: Sequence[str] = ()
    lacks: str = ""
    problems: Sequence[Problem] = ()
    asked: bool = True

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to run."""
        return not self.names and not self.targets


def _derived(loaded: Loaded) -> Program:
    from gradstep.core.program.derive import derive  # what the graph has alone does without

    return derive(loaded.document, loaded.functions)


def choose_run(
    loaded: Loaded, names: Sequence[str], program_of: Callable[[Loaded], Program] = _derived
) -> RunChoice:
    """What computes `names`; without any, what the document itself runs, updates included.
    program_of: derives its program, if that is needed. Raises GradstepError for a cycle."""
    document = loaded.document
    _ = document.graph.order  # a cycle is said first, whatever it keeps from running
    if names and all(TensorRef.parse(name).op in document.graph for name in names):
        return RunChoice(document.graph, loaded.initial(), names)
    program = program_of(loaded)
    if names:
        return RunChoice(program.graph, program.initial, names)
    asked = [ref for ref in whole_request(document).of if ref.op in program.graph]
    own = [ref.short for ref in document.fetches or asked]
    shown = own or [*program.targets]
    targets = program.targets if own else ()
    problems = find_errors(program)
    lacks = _left_out(program)
    return RunChoice(program.graph, program.initial, shown, targets, lacks, problems, asked=False)


def _left_out(program: Program) -> str:
    """The first thing that a program does without, and why."""
    wrong = next((p for p in program.problems if p.severity == "error"), None)
    return f"; {wrong.node or 'the document'} is left out: {wrong.text}" if wrong else ""


def run_once(session: Session, feeds: Mapping[TensorRef, Any], choice: RunChoice) -> Values:
    """The values of one run. Raises GradstepError."""
    tensors, operations = _parted(session, choice)
    run = session.run if choice.asked else session.values
    return _named(choice, tensors, run(tensors, feeds, operations))


def run_again(
    session: Session, feeds: Mapping[TensorRef, Any], choice: RunChoice
) -> Callable[[], Values]:
    """`run_once` on the same feeds again and again. Raises GradstepError for what cannot begin."""
    tensors, operations = _parted(session, choice)
    make = session.make_callable if choice.asked else session.make_values
    again = make(tensors, feeds, operations)
    return lambda: _named(choice, tensors, again())


def _parted(session: Session, choice: RunChoice) -> tuple[list[str], list[str]]:
    """The tensors to fetch, and the operations to run."""
    operations = [name for name in choice.names if runs_only(session.graph, name)]
    tensors = [name for name in choice.names if name not in operations]
    return tensors, [*operations, *choice.targets]


def _named(
    choice: RunChoice, tensors: Sequence[str], values: Sequence[np.ndarray | None]
) -> Values:
    found = dict(zip(tensors, values, strict=True))
    return {name: found.get(name) for name in choice.names}


def not_computed(graph: Graph, values: Values) -> list[str]:
    """The names of a run's values that were dead: their branch was not taken."""
    return [n for n, value in values.items() if value is None and not runs_only(graph, n)]


def runs_only(graph: Graph, name: str) -> bool:
    """Whether `name` is an operation without outputs, which is run but has no value."""
    op = graph.operations.get(TensorRef.parse(name).op)
    definition = None if op is None else find(op.type)
    return definition is not None and not definition.outputs
