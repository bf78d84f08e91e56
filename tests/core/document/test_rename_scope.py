"""Renaming a scope: all that is in it, and all that the document says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.derive import derive
from tests.core.document.test_loop_edits import power

EXAMPLES = Path(__file__).parents[3] / "assets/examples"


@pytest.fixture
def scoped() -> Document:
    """The tutorial with `e`, `d` and `k` in scopes, and something said of each."""
    document = gradstep_file.load(EXAMPLES / "tutorial.gradstep")
    for old, new in (("e", "inner/e"), ("d", "inner/deep/d"), ("k", "inner/deep/k")):
        document = document_edits.rename_operation(document, old, new)
    document = document_edits.toggle_breakpoint(document, "inner/deep/d")
    document = document_edits.toggle_stop(document, Edge("inner/e", 1))
    document = document_edits.set_override(
        document, Override("Identity", "inner/e", OverrideKind.OP)
    )
    document = document_edits.set_override(
        document, Override("Identity", "inner", OverrideKind.SCOPE)
    )
    points = (
        Breakpoint("inner/deep", BreakpointKind.SCOPE),
        Breakpoint("inner", BreakpointKind.TYPE),
    )
    places = {**document.view.positions, "inner/": (1.0, 2.0), "inner/deep/": (3.0, 4.0)}
    view = replace(document.view, positions=places, collapsed=frozenset({"inner", "inner/deep"}))
    return document.with_(breakpoints=(*document.breakpoints, *points), view=view)


def test_everything_goes_along_and_comes_back(scoped: Document) -> None:
    renamed = document_edits.rename_scope(scoped, "inner", "bias/own")
    names = set(renamed.graph.operations)
    assert {"bias/own/e", "bias/own/deep/d", "bias/own/deep/k"} <= names
    assert not any(name.startswith("inner") for name in names)
    assert len(derive(renamed).problems) == len(derive(scoped).problems)
    assert {o.target for o in renamed.request.overrides} == {"bias/own", "bias/own/e"}
    assert renamed.request.stopped_edges == {Edge("bias/own/e", 1)}
    targets = {(b.target, b.kind) for b in renamed.breakpoints}
    assert ("bias/own/deep", BreakpointKind.SCOPE) in targets
    assert ("bias/own/deep/d", BreakpointKind.OP) in targets
    assert ("inner", BreakpointKind.TYPE) in targets, "an op type is no scope"
    assert renamed.view.collapsed == {"bias/own", "bias/own/deep"}
    assert renamed.view.positions["bias/own/deep/"] == (3.0, 4.0)
    assert renamed.initial.keys() >= {"bias/own/deep/k"}
    assert gradstep_file.to_bytes(
        document_edits.rename_scope(renamed, "bias/own", "inner")
    ) == gradstep_file.to_bytes(scoped)


@pytest.mark.parametrize("new", ["inner/deep/in", "INNER", "loss/of", "inner2"])
def test_it_may_go_anywhere_that_is_free(scoped: Document, new: str) -> None:
    renamed = document_edits.rename_scope(scoped, "inner", new)
    assert f"{new}/deep/d" in renamed.graph
    assert len(renamed.graph) == len(scoped.graph)


def test_it_may_go_into_one_of_its_own(scoped: Document) -> None:
    """Then one of its operations may be called as another one was."""
    document = document_edits.rename_operation(scoped, "inner/deep/k", "inner/k")
    document = document_edits.rename_operation(document, "inner/deep/d", "inner/deep/k")
    renamed = document_edits.rename_scope(document, "inner", "inner/deep").graph
    assert {"inner/deep/k", "inner/deep/deep/k"} <= {*renamed.operations}
    assert all(name == op.name for name, op in renamed.operations.items())
    types = [[op.type for op in graph] for graph in (document.graph, renamed)]
    assert types[0] == types[1]


def test_what_is_in_a_loop_goes_along_and_computes_the_same() -> None:
    document = document_edits.rename_scope(power(), "while", "thrice")
    assert "thrice/times" in {op.name for op in within(document.graph)}
    (found,) = Session(document.graph).run([TensorRef("loss")], {TensorRef("x"): np.float32(1)})
    (same,) = Session(power().graph).run([TensorRef("loss")], {TensorRef("x"): np.float32(1)})
    assert found == same


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("LOSS", "is taken"),
        ("other", "is taken"),
        ("a b", "not a valid"),
        ("", "not a valid"),
        ("_x", "not a valid"),
        ("x/", "not a valid"),
    ],
)
def test_a_bad_name_is_refused(scoped: Document, new: str, why: str) -> None:
    document = document_edits.rename_operation(scoped, "a", "Other/a")
    with pytest.raises(GradstepError, match=why):
        document_edits.rename_scope(document, "inner", new)


def test_there_has_to_be_such_a_scope(scoped: Document) -> None:
    with pytest.raises(GradstepError, match="no scope 'nowhere'"):
        document_edits.rename_scope(scoped, "nowhere", "x")
