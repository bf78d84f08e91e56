"""What a conversion leaves out is said, and data is there as its first batch."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.data.first_batch import fed_once
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.format_table import format_written_as, formats
from gradstep.core.io.left_out import PARTS
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

# Fields of a document that are no part of their own: of the graph, or of how it is looked at.
# Packed rows are data's, and the request is three parts.
OF_OTHERS = {"graph", "imported", "functions", "view", "group", "packed", "request", "truth"}


def graph_of_rows() -> Graph:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[None])
        tf.reduce_sum(tf.square(x), name="loss")
    return builder.build()


def with_rows(column: str = "[[1], [2], [3], [4]]", **more: object) -> Document:
    """Its rows come in batches of two; the placeholder's own feed is something else."""
    return Document(
        graph_of_rows(),
        GradientRequest.to("loss", "x"),
        feeds={"x:0": Constant(np.float32([7, 7]))},
        data=Dataset({"x:0": column}, batch=2),
        fetches=(TensorRef("loss"),),
    ).with_(**more)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    rows = tmp_path / "rows.csv"
    rows.write_text("value\n1\n2\n3\n4\n")
    file = tmp_path / "rows.gradstep"
    made = with_rows(f"@{rows.as_posix()}", watches=("loss",))
    gradstep_file.save(file, made)
    return file


def test_a_script_of_a_document_with_data_has_the_first_batch(
    cli: Cli, document: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.numpy.py"
    result = cli("convert", document, out)
    assert result.status == 0
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(out.read_text(), "script", "exec"), {"__name__": "script"})
    assert "loss 5.0" in said.getvalue()  # 1 and 2, not the placeholder's own 7 and 7
    assert "rows.numpy.py is without the data of 'x' but for the first batch; 1 watch" in result.err
    assert "feeds = {tensor('x'): np.array([1.0, 2.0]" in cli("convert", document, "-").out


def test_what_a_graphdef_has_no_place_for_is_said(cli: Cli, document: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.pb"
    found = cli("convert", document, out, "--json")
    assert found.json == {
        "written": str(out),
        "left_out": [
            "the gradients of 'loss'",
            "the data of 'x'",
            "what is fetched: 'loss'",
            "1 watch",
        ],
    }
    assert "rows.pb is without the gradients of 'loss'; the data of 'x'" in found.err
    whole = cli("convert", document, tmp_path / "again.gradstep", "--json")
    assert (whole.json["left_out"], whole.err) == ([], "")
    drawn = cli("convert", document, tmp_path / "rows.dot")
    assert (drawn.status, drawn.err) == (0, "")


def test_data_that_cannot_be_read_is_said_and_what_is_fed_besides_written(
    cli: Cli, document: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").unlink()
    out = tmp_path / "rows.numpy.py"
    result = cli("convert", document, out)
    assert result.status == 0
    assert "without the data of 'x', which cannot be read: " in result.err
    assert "rows.csv" in result.err
    assert "x = np.array([7.0, 7.0]" in out.read_text()
    gradstep_file.save(document, gradstep_file.load(document).with_(feeds={}))
    result = cli("convert", document, out)
    assert result.status == 1
    assert "have its data read first" in result.err


def test_what_runs_execute_is_executed_by_a_script_for_tensorflow() -> None:
    builder = GraphBuilder()
    builder.one("AssignAdd", builder.variable("v"), 2.0, name="more")
    document = Document(
        builder.build(), initial={"v": Constant(np.float32(1))}, targets=("more",), note="Watch v."
    )
    script = to_bytes(document, ".py").decode()
    assert "    session.run([operation('more')], feeds)" in script
    assert "Watch v." in script


def test_every_field_of_a_document_has_words_and_every_format_says_what_it_keeps() -> None:
    fields = {field.name for field in dataclasses.fields(Document)}
    assert fields - OF_OTHERS <= PARTS.keys()
    for each in formats():
        assert {*(each.keeps or ())} <= PARTS.keys(), each.name
        whole = each.is_native or each.is_drawn or ".dot" in each.suffixes
        assert (each.keeps is None) == whole, each.name


def test_an_optimizer_is_left_out_of_a_script_for_numpy_alone() -> None:
    document = with_rows(data=None, optimizers=(Optimizer("Adam", {}),))
    lacks = {s: fed_once(document, format_written_as(s))[1] for s in (".py", ".numpy.py")}
    assert lacks == {".py": [], ".numpy.py": ["the optimizer Adam"]}
