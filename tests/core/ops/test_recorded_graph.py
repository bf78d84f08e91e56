"""A GraphDef with gradients and updates made by TensorFlow, run over the kernels: softmax
regression on 12 digits, three steps."""

from __future__ import annotations

import numpy as np

from core.io.open import read
from tests.support import oracle
from tests.support.interpret import Interpreter


def test_softmax_regression_learns_what_tensorflow_learnt() -> None:
    recorded = oracle.case("mnist_softmax_regression")
    x = oracle.array(recorded["inputs"]["x_uint8"]).astype(np.float32) / np.float32(255)
    labels = np.eye(10, dtype=np.float32)[oracle.array(recorded["inputs"]["labels"])]
    run = recorded["graph_file"]
    machine = Interpreter(read(oracle.CASES.parent / run["pb"]).graph)
    machine.run([], targets=[run["init"]])
    for step in recorded["steps (batches of 4 rows, lr .5)"]:
        rows = slice(*step["batch rows"])
        machine.run([], {"x": x[rows], "y_": labels[rows]}, targets=[run["train_op"]])
        fetches = ["cross_entropy:0", "accuracy:0", "W:0", "b:0"]
        loss, accuracy, weights, bias = machine.run(fetches, {"x": x, "y_": labels})
        np.testing.assert_allclose(loss, oracle.array(step["loss_all"]), rtol=1e-6)
        np.testing.assert_array_equal(accuracy, oracle.array(step["accuracy_all"]))
        np.testing.assert_allclose(bias, oracle.array(step["b"]), atol=3e-8)
        np.testing.assert_allclose(np.abs(weights).sum(dtype=float), step["W_abs_sum"]["data"])
