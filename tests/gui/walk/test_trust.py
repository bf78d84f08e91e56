"""A document from elsewhere: none of its Python runs before the user has read and trusted it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native import gradstep_file

pytestmark = pytest.mark.xvfb


@pytest.fixture
def trace(tmp_path, monkeypatch) -> Path:
    """A file that the document's Python leaves behind, if it ever runs in the engine."""
    monkeypatch.setenv("GRADSTEP_TRACE", str(tmp_path / "trace"))
    return tmp_path / "trace"


def make_document(path: Path, tutorial: Path) -> None:
    """The tutorial with `e` as a Python function that leaves a trace: on import, and when it is
    called."""
    document = document_edits.to_pyfunc(gradstep_file.load(tutorial), "e", [TensorRef("d")])
    token = document.graph["e"].attrs["token"]
    touch = "open(os.environ['GRADSTEP_TRACE'], 'a').close()"
    source = f"import os\n\n{touch}\n\ndef forward(c, k, d):\n    {touch}\n    return c + k\n"
    item = CodeItem(token, CodeKind.PYFUNC, source)
    gradstep_file.save(path, document_edits.set_code(document, item))


def test_nothing_runs_until_it_is_trusted(trace, user, examples, tmp_path) -> None:
    path = tmp_path / "elsewhere.gradstep"
    make_document(path, examples / "tutorial.gradstep")
    user.open(path)
    assert "does not run until you trust it" in user.text("banner.restricted.text")
    assert user.text("status.trust") == "restricted: Python does not run"
    user.key("F5")
    assert user.workspace.stop.node == "e"
    assert "problem" in user.says("e")
    assert not trace.exists()
    user.take_picture("restricted")

    user.click("banner.restricted.review")
    token = user.workspace.document.graph["e"].attrs["token"]
    assert "GRADSTEP_TRACE" in user.text(f"trust_dialog.{token}")
    user.take_picture("trust")
    user.click("trust_dialog.cancel")
    user.key("F5")
    assert not trace.exists()

    user.click("inspector.error.trust")
    user.click("trust_dialog.full")
    assert not user.sees("banner.restricted.text")
    assert user.text("status.trust") == "document trusted"
    user.key("F5")
    assert trace.exists()
    assert user.workspace.stop.reason == "end"
    assert np.allclose(user.value("e"), [0.11, 0.09])
