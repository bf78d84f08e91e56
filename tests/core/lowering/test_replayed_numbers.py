"""What was drawn in the iterations of a loop is drawn in them again, and nothing else ever is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import inside, within
from gradstep.core.graph.model import Constant, Graph
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.traces.trace_archive import traces

RANDOM = {"RandomUniform", "RandomStandardNormal"}


@cache
def document_of(name: str) -> Document:
    return read(traces() / f"{name}.gstrace")


def loss(program: Program) -> float:
    session = Session(program.graph, initial=program.initial)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    return float(session.run(list(program.request.of), feeds)[0])


@pytest.mark.parametrize("name", ["loop_draws", "nested_loops"])
def test_each_iteration_draws_what_was_drawn_in_it(name: str) -> None:
    document = document_of(name)
    assert not [op.name for op in within(document.graph) if op.type in RANDOM]
    assert "draws other numbers" not in document.note
    assert document.recorded is not None
    program = derive(document)
    wanted = document.recorded.values[str(program.request.of[0])].array
    assert loss(program) == pytest.approx(float(wanted), rel=1e-5)
    assert loss(program) == loss(program)


def test_a_loop_that_goes_on_longer_is_refused() -> None:
    """What would be drawn there nobody knows."""
    longer = with_constant(document_of("loop_draws"), "while_loop/lt/Const", np.int64(6))
    with pytest.raises(GradstepError) as caught:
        loss(derive(longer))
    assert "draws random numbers in an iteration that there was not" in caught.value.message
    assert caught.value.node.startswith("while_loop/")


def test_one_that_ends_earlier_is_not() -> None:
    shorter = with_constant(document_of("loop_draws"), "while_loop/lt/Const", np.int64(3))
    assert np.isfinite(loss(derive(shorter)))


def test_a_branch_that_was_not_taken_in_that_iteration_is_refused() -> None:
    """Its dropout was drawn in even iterations alone."""
    odd = with_constant(document_of("loop_draws"), "while_loop/eq/Const", np.int64(1))
    with pytest.raises(
        GradstepError, match="native_dropout_1 draws random numbers in an iteration"
    ):
        loss(derive(odd))


def with_constant(document: Document, node: str, value: np.generic) -> Document:
    def one(graph: Graph) -> Graph:
        news = graph[node].with_attrs(value=Constant(np.asarray(value)))
        return replace(graph, operations={**graph.operations, node: news})

    return document.with_(graph=inside(document.graph, node, one))
