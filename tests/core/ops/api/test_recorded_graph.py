"""A GraphDef with gradients and updates made by TensorFlow, run over the kernels: softmax
regression on 12 digits, three steps."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.io.open_document import read
from tests.support import oracle
from tests.support.interpret import Interpreter
from tests.support.other_processors import other_processor
from tests.support.rounding import Rounding, assert_rounded_alike


def test_softmax_regression_learns_what_tensorflow_learnt() -> None:
    recorded = oracle.case("mnist_softmax_regression")
    x = oracle.array(recorded["inputs"]["x_uint8"]).astype(np.float32) / np.float32(255)
    labels = np.eye(10, dtype=np.float32)[oracle.array(recorded["inputs"]["labels"])]
    run = recorded["graph_file"]
    machine = Interpreter(read(oracle.CASES.parent / run["pb"]).graph)
    machine.run([], targets=[run["init"]])
    for number, step in enumerate(recorded["steps (batches of 4 rows, lr .5)"], 1):
        rows = slice(*step["batch rows"])
        machine.run([], {"x": x[rows], "y_": labels[rows]}, targets=[run["train_op"]])
        fetches = ["cross_entropy:0", "accuracy:0", "W:0", "b:0"]
        loss, accuracy, weights, bias = machine.run(fetches, {"x": x, "y_": labels})
        learnt = Rounding(terms=x.shape[1], steps=number, dtype=np.float32)
        assert_rounded_alike(loss, oracle.array(step["loss_all"]), learnt)
        np.testing.assert_array_equal(accuracy, oracle.array(step["accuracy_all"]))
        assert_rounded_alike(bias, oracle.array(step["b"]), learnt)
        total = np.abs(weights).sum(dtype=float)
        assert_rounded_alike(total, oracle.array(step["W_abs_sum"]), learnt)


@pytest.mark.parametrize("seed", range(3))
def test_and_learns_it_on_any_processor(seed: int) -> None:
    with other_processor(seed):
        test_softmax_regression_learns_what_tensorflow_learnt()
