"""What is different between two documents, as it is said to people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.diff_sentences import Change, Kind, changes
from gradstep.core.io.native.document_diff import differences
from tests.core.io.documents import documents
from tests.support.drawn_share import share

EXAMPLES = Path(__file__).parents[4] / "assets" / "examples"


def test_each_kind_of_change_is_named() -> None:
    before = gradstep_file.load(EXAMPLES / "tutorial.gradstep")
    after, _ = document_edits.add_operation(before, "Tanh", (0.0, 0.0), "new")
    after = document_edits.remove_operations(after, ["e"])
    after = document_edits.connect(after, TensorRef("c"), Edge("a", 0))
    after = document_edits.set_attr(
        after, "data", "shape", replace(before.graph["data"].attrs["shape"])
    )
    after = document_edits.move(after, {"d": (7.0, 7.0)})
    after = after.with_(
        note="other",
        feeds={"labels:0": Constant(np.float32(2.5)), "x:0": Constant(np.arange(9))},
        code={"f": CodeItem("f", CodeKind.PYFUNC, "def f(): pass")},
    )
    found = {(c.kind, c.what, c.name): c.details for c in changes(before, after)}
    assert found[Kind.ADDED, "node", "new"] == ("Tanh",)
    assert found[Kind.REMOVED, "node", "e"] == (before.graph["e"].type,)
    assert found[Kind.CHANGED, "node", "a"] == ("inputs: d, e → c, open",)
    assert found[Kind.ADDED, "feed", "x:0"] == ("int64[9]",)
    assert found[Kind.ADDED, "function", "f"] == ()
    assert found[Kind.CHANGED, "note", ""][0].endswith("→ 'other'")
    assert found[Kind.CHANGED, "places of nodes", ""] == ("1 moved",)


def test_values_are_shown_old_and_new() -> None:
    def fed(value: float) -> Document:
        return Document(feeds={"x:0": Constant(np.float32(value))})

    assert changes(fed(1.5), fed(2.0)) == [
        Change(Kind.CHANGED, "feed", "x:0", ("float32 1.5 → float32 2.0",))
    ]


@given(documents, documents)
@settings(max_examples=share(25))
@pytest.mark.slow
def test_nothing_is_left_unsaid(before: Document, after: Document) -> None:
    assert bool(changes(before, after)) == bool(differences(before, after))
    assert changes(before, before) == []
