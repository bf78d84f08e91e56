"""Batch normalisation in inference mode, with averages of nothing, or of a checkpoint."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CODE = "unlearned-statistics"


def normalised(training: bool = False, mean: float = 0, trained: bool = True) -> Document:
    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2, 1, 1, 3])
        scale, offset, average, spread = (
            b.variable(name, shape=[3]) for name in ("scale", "offset", "mean", "variance")
        )
        given = () if training else (average, spread)
        none = [] if given else [b.constant(np.zeros(0, np.float32), name=n) for n in ("m", "s")]
        y = b.op(
            "FusedBatchNormV3", x, scale, offset, *given, *none, is_training=training, name="bn"
        )[0]
        tf.reduce_sum(tf.square(y, name="square"), name="loss")

    start = {"scale": np.ones(3), "offset": np.zeros(3)}
    start |= {"mean": np.full(3, mean), "variance": np.ones(3)}
    sgd = (Optimizer("GradientDescent", {"learning_rate": 0.1}),) if trained else ()
    feeds = {"x": np.ones((2, 1, 1, 3))}
    return drawn(draw, "loss", ["scale"], initial=start, feeds=feeds, optimizers=sgd)


def test_averages_that_nobody_made_normalise_nothing() -> None:
    (found,) = findings(normalised(), CODE)
    assert found.node == "bn"
    assert "while scale is trained, with mean, all 0, and variance, all 1" in found.text


@pytest.mark.parametrize("how", [{"training": True}, {"mean": 0.5}, {"trained": False}])
def test_training_mode_a_checkpoint_and_mere_inference_are_left_alone(
    how: dict[str, float],
) -> None:
    assert not findings(normalised(**how), CODE)  # type: ignore[arg-type]
