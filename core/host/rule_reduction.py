"""The smallest document that shows that a gradient rule, such as an override, is a wrong one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.autodiff.check.wrapped_function import find_wrapped
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.node_checks import node_check
from gradstep.core.checks.reduction.reduction_search import Reduction
from gradstep.core.checks.reduction.reduction_symptom import Clues, WrongRule
from gradstep.core.checks.reduction.values_read import ValuesRead
from gradstep.core.checks.why.scratch_run import run_to_end, scratch_session
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import GradientTable, NodeCheck

Given = Mapping[TensorRef, np.ndarray]  # what variables hold, and what is fed


def reduced_rule(
    loaded: Loaded, backend: Backend, program: Program, given: Given, found: NodeCheck
) -> Document:
    """What shows the same as the check of an operation where these values are given, which a run
    beside makes of the document's program. Raises GradstepError."""
    derived, of = _arriving(program, found.node)
    wanted = [ref for ref in derived.gradients.values() if ref.op in program.graph]
    fetches = dict.fromkeys((*derived.of, *wanted))
    session = scratch_session(program.graph, fetches, given, program.functions, backend)
    run_to_end(session)
    values, name = ValuesRead(session, 0, derived.gradients), found.node

    def check(document: Document) -> list[NodeCheck]:
        smaller = Loaded(document, loaded.functions)
        evaluate = Evaluator(smaller.of_kind(CodeKind.PYFUNC))
        return [node_check(evaluate, situation(smaller, backend), name)]

    symptom, graph = WrongRule.of(found, check), program.forward
    wrapped = find_wrapped(graph, derived, graph[name]) if name in graph else None
    body = [] if wrapped is None else wrapped.body or []
    clues = Clues(
        name,
        kept=frozenset(op.name for op in body if op.inputs),
        asked=None if wrapped is None else frozenset(_arguments(graph[name], wrapped.results)),
    )
    small = Reduction(loaded.document, graph, symptom, clues, of, None, values).document()
    title = f"The smallest that shows: {found.gradient} is not the gradient of {name}"
    return small.with_(title=title, note=found.text)


def first_wrong_rule(table: GradientTable | None, node: str = "") -> NodeCheck:
    """Of a check; of one operation where it is named. Raises GradstepError where all are right."""
    nodes = [] if table is None else table.nodes
    wrong = (one for one in nodes if not one.agrees and node in ("", one.node))
    found = next(wrong, None)
    if found is None:
        whose = f"of {node} " if node else ""
        raise GradstepError(
            f"there is nothing wrong to be made smaller: no gradient rule {whose}differs from "
            "finite differences",
            kind="FailedPreconditionError",
        )
    return found


def _arguments(op: Operation, results: int) -> list[str]:
    return [ref.op for ref in op.inputs[results:] if ref is not None]


def _arriving(program: Program, name: str) -> tuple[Differentiation, TensorRef]:
    """What was differentiated, and an output of the operation at which a gradient arrives. Raises
    GradstepError where none does."""
    for one in program.derived:
        for ref in one.gradients:
            if ref.op == name:
                return one, ref
    raise GradstepError(
        f"no gradient arrives at {name}, so nothing shows that its rule is wrong",
        kind="FailedPreconditionError",
        node=name,
        hint="differentiate something behind it",
    )
