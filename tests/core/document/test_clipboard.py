"""Copy and paste of parts of a document."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.block_insertion import add_block
from gradstep.core.document.clipboard import paste, piece
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import duplicate_operations, rename_operation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.trust.example_index import EXAMPLES


def test_a_piece_keeps_its_wires_and_values_under_free_names() -> None:
    document = read(EXAMPLES / "tutorial.gradstep")
    part = piece(document, ["c", "d", "e"])
    assert part.graph["e"].inputs == (TensorRef("c"), None), "what comes from elsewhere is open"
    once, added = paste(document, part)
    assert added == ["c_1", "d_1", "e_1"]
    assert once.graph["d_1"].inputs == (None, TensorRef("c_1"))
    assert np.array_equal(once.initial["c_1"].array, document.initial["c"].array)
    twice, more = paste(once, part)
    assert more == ["c_2", "d_2", "e_2"]
    places = np.array([*twice.view.positions.values()])
    near = np.abs(places[:, None] - places[None]) < (172, 60)
    assert near.all(axis=2).sum() == len(places), "nothing lies on anything"
    assert [*twice.graph.operations][: len(document.graph)] == [*document.graph.operations]


def test_a_loop_goes_as_a_whole() -> None:
    document = read(EXAMPLES / "while_loop.gradstep")
    with pytest.raises(GradstepError, match="copied with its loop"):
        piece(document, ["while/Mul"])
    copied, added = paste(document, piece(document, ["while/While", "x"]))
    assert added == ["x_1", "while/While_1"]
    assert "while/Mul_1" in copied.graph["while/While_1"].attrs["loop"].graph


def test_a_block_that_is_copied_is_another_box() -> None:
    """Wherever from: duplicated, pasted beside itself, pasted into an empty document."""
    document, _ = add_block(Document(), "dense", (0, 0))
    document = rename_operation(document, "dense/inputs", "x")
    names = [op.name for op in document.graph if op.name != "x"]
    doubled, copies = duplicate_operations(document, names)
    assert set(copies.values()) == {name.replace("dense", "dense_1") for name in names}
    assert doubled.view.collapsed == {"dense", "dense_1"}
    again, added = paste(doubled, piece(doubled, names))
    assert added == [name.replace("dense", "dense_2") for name in names]
    assert again.view.collapsed == {"dense", "dense_1", "dense_2"}
    alone, added = paste(Document(), piece(document, names))
    assert added == names
    assert alone.view.collapsed == {"dense"}
    _, copies = duplicate_operations(document, ["dense/MatMul"])
    assert copies == {"dense/MatMul": "dense/MatMul_1"}
    assert [p.code for p in infer(again.graph).problems] == ["unconnected"], "the pasted one"
