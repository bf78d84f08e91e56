"""An ONNX model in the real window: opened, stepped operator by operator, differentiated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.graph.model import TensorRef
from gradstep.gui.automation.driver import Driver
from tests.core.io.onnx.test_onnx_document import MLP
from tests.support import onnx_models as onnx


@pytest.mark.slow
def test_a_model_is_opened_and_stepped(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(onnx.model(MLP))
    driver.open(path)
    document = driver.workspace.document
    assert document.title == "net.onnx"
    assert "An ONNX model 'test', written by tests; operator set 20." in document.note
    assert {*document.view.collapsed} == {"layer1/Gemm", "Relu", "out"}
    assert document.fetches == (TensorRef("y"),)
    np.testing.assert_array_equal(document.initial["b"].array, np.ones(4))
