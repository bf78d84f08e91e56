"""What a notebook shows of a document: the canvas' picture, or else a table."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradstep
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.notebook import graph_picture

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


def test_the_picture_is_the_canvas_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is no display; it is drawn once."""
    monkeypatch.delenv("DISPLAY", raising=False)
    net = gradstep.open(EXAMPLES / "tutorial.gradstep")
    svg = net.svg()
    root = ElementTree.fromstring(svg)
    texts = {element.text for element in root.iter() if element.text}
    assert {"data", "loss", "AddV2", "[ 1. 2. ]"} <= {text.strip() for text in texts}
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    assert "<?xml" not in svg
    monkeypatch.setattr(graph_picture.subprocess, "run", None)
    html = net._repr_html_()
    assert svg in html
    assert "tutorial.gradstep (The tutorial network): 8 operations" in html


HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def hostile(tmp_path: Path) -> gradstep.Session:
    path = tmp_path / "hostile.gradstep"
    x, y = Operation("x", HOSTILE), Operation("y", "Neg", (TensorRef("x"),))
    graph = Graph.of([x, y, Operation("z", "Neg", (None,))])
    gradstep_file.save(path, Document(graph=graph, title=HOSTILE))
    return gradstep.open(path)


@pytest.mark.parametrize(
    "failing",
    [
        ["no-such-python"],
        ["python", "-c", "import sys; sys.exit('gradstep: no Qt here')"],
        ["python", "-c", "import os; os.abort()"],
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
    assert "<table>" in html
    assert "<td>y</td><td>Neg</td><td>x</td>" in html
    assert "<td>z</td><td>Neg</td><td>?</td>" in html
    assert "<script" not in html


def test_no_text_of_a_document_is_markup_in_the_picture(hostile: gradstep.Session) -> None:
    html = hostile._repr_html_()
    assert "<svg" in html
    assert "<script" not in html


def test_what_is_too_large_is_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "large.gradstep"
    many = (Operation(f"y{i}", "Neg", (TensorRef("x"),)) for i in range(3000))
    gradstep_file.save(path, Document(graph=Graph.of([Operation("x", "Const"), *many])))
    monkeypatch.setattr(graph_picture.subprocess, "run", None)
    html = gradstep.open(path)._repr_html_()
    assert "and 2,961 more" in html
