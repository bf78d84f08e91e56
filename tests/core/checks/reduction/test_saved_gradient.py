"""A wrong gradient that TensorFlow saved, made small, as a script: held to what TensorFlow printed.

`GRADSTEP_TENSORFLOW=PYTHON pytest tests/core/checks/reduction/test_saved_gradient.py` has PYTHON,
which has TensorFlow, run the script anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.node_checks import node_checks
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.host.rule_reduction import first_wrong_rule, reduced_rule
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.user_code import functions_of
from gradstep.core.protocol.messages import GradientTable, NodeCheck

DATA = Path(__file__).parents[3] / "data" / "saved_models" / "wrong_gradient.zip"
# TensorFlow 2.21.0 on a CPU, 2026-11-27: what the function gives, its gradient, and differences.
PRINTED = {"value": 1.6497467, "gradient": 0.80790144, "differences": -0.05648956}
TENSORFLOW = os.environ.get("GRADSTEP_TENSORFLOW", "")


def loaded(document: Document) -> Loaded:
    functions, errors = functions_of(document.code.values(), True)
    assert not errors
    return Loaded(document, functions)


def checked(document: Document) -> list[NodeCheck]:
    here = situation(loaded(document), NumpyBackend())
    return node_checks(Evaluator({}), here, here.differentiated)[0]


@pytest.fixture
def small(tmp_path: Path) -> Document:
    with zipfile.ZipFile(DATA) as archive:
        archive.extractall(tmp_path)
    request = GradientRequest.to("loss", "hidden_w", "output_w")
    document = read(tmp_path / "network.ckpt.meta").with_(request=request)
    nodes = checked(document)
    table = GradientTable(rows=[], nodes=nodes, supports="neither", text="")
    assert [one.gradient[:13] for one in nodes if not one.agrees] == ["softplus_grad"]
    whole, backend = loaded(document), NumpyBackend()
    given, program = situation(whole, backend).given, derive(document, whole.functions)
    return reduced_rule(whole, backend, program, given, first_wrong_rule(table))


def test_the_function_stays_whole_and_is_asked_by_its_argument_alone(small: Document) -> None:
    assert len(small.graph) <= 10
    assert {op.type for op in small.graph} == {"Const", "Exp", "AddV2", "Log", "IdentityN"}
    assert [ref.op for ref in small.request.wrt] == ["hidden/product"]


def test_it_shows_what_tensorflow_printed(small: Document) -> None:
    (wrong,) = [one for one in checked(small) if not one.agrees]
    (tensor,) = wrong.tensors
    assert tensor.analytic == pytest.approx(PRINTED["gradient"], rel=1e-5)
    assert tensor.numeric == pytest.approx(PRINTED["differences"], rel=1e-3)
    text = to_bytes(small, ".py").decode()
    compile(text, "small.py", "exec")
    assert "differences(session," in text


@pytest.mark.skipif(not TENSORFLOW, reason="GRADSTEP_TENSORFLOW names no Python with TensorFlow")
def test_tensorflow_prints_it_still(small: Document, tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    script.write_bytes(to_bytes(small, ".py"))
    done = subprocess.run([TENSORFLOW, script], capture_output=True, text=True, check=True)
    found = [float(x) for x in re.findall(r"\[\[(-?\d[\d.e+-]*)\]\]", done.stdout)]
    assert found == pytest.approx([*PRINTED.values()], rel=1e-3)
