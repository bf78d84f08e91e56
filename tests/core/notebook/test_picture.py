"""What a notebook shows of a document: the canvas' picture, or else a table."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradstep
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.notebook import graph_picture

TUTORIAL = Path(__file__).parents[3] / "assets" / "examples" / "tutorial.gradstep"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def hostile(tmp_path: Path) -> gradstep.Session:
    """The tutorial, with words that would be markup."""
    path, tutorial = tmp_path / "hostile.gradstep", read(TUTORIAL)
    odd = Operation(HOSTILE, HOSTILE, (TensorRef("c"), None))
    graph = Graph.of([*tutorial.graph, odd])
    gradstep_file.save(path, tutorial.with_(graph=graph, title=HOSTILE))
    return gradstep.open(path)


@pytest.mark.slow
def test_the_picture_is_the_canvas_own(
    monkeypatch: pytest.MonkeyPatch, hostile: gradstep.Session
) -> None:
    """Also where there is no display; it is drawn once, and no text in it is markup."""
    monkeypatch.delenv("DISPLAY", raising=False)
    svg = hostile.svg()
    root = ElementTree.fromstring(svg)
    texts = {element.text.strip() for element in root.iter() if element.text}
    assert {"data", "loss", "AddV2", "[ 1. 2. ]"} <= texts
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    assert "<?xml" not in svg
    monkeypatch.setattr(graph_picture.subprocess, "run", None)
    html = hostile._repr_html_()
    assert svg in html
    assert "hostile.gradstep" in html
    assert "<script" not in html


@pytest.mark.parametrize(
    "failing",
    [
        ["no-such-python"],
        [sys.executable, "-c", "import sys; sys.exit('gradstep: no Qt here')"],
        [sys.executable, "-c", "import os; os.abort()"],
    ],
)
def test_without_qt_there_is_a_table(
    monkeypatch: pytest.MonkeyPatch, hostile: gradstep.Session, failing: list[str]
) -> None:
    run = graph_picture.subprocess.run
    monkeypatch.setattr(graph_picture.subprocess, "run", lambda _, **how: run(failing, **how))
    with pytest.raises(gradstep.GradstepError, match="the graph could not be drawn") as raised:
        hostile.svg()
    assert raised.value.kind == "PictureError"
    html = hostile._repr_html_()
    assert "<td>a</td><td>Mul</td><td>d, e</td>" in html
    assert "<td>c, ?</td>" in html
    assert "<script" not in html


def test_what_is_too_large_is_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "large.gradstep"
    many = (Operation(f"y{i}", "Neg", (TensorRef("x"),)) for i in range(3000))
    gradstep_file.save(path, Document(graph=Graph.of([Operation("x", "Const"), *many])))
    monkeypatch.setattr(graph_picture.subprocess, "run", None)
    html = gradstep.open(path)._repr_html_()
    assert "and 2,961 more" in html
