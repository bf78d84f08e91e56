"""Ten small graphs of which the answer is known: what a comparison says of each, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import Comparison
from gradstep.gpu.devices import Devices

F, I32 = np.float32, np.int32
nan, inf = float("nan"), float("inf")
Built = tuple[GraphBuilder, np.ndarray, bool]


def ints(*values: Any) -> np.ndarray:
    return np.array(values, I32)


def gather(size: Sequence[int], *indices: int) -> Built:
    b = GraphBuilder()
    rows = np.random.default_rng(0).normal(size=size).astype(F)
    y = b.one("GatherV2", b.placeholder("x", shape=rows.shape), ints(*indices), I32(0), name="y")
    axes = np.arange(len(size), dtype=I32)
    b.one("Sum", b.one("Square", y, name="sq"), axes, name="loss")
    return b, rows, True


def scatter() -> Built:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(5,))
    y = b.one("ScatterNd", ints([0], [1], [1], [5], [1]), x, ints(4), name="y")
    b.one("Sum", b.one("Square", y), ints(0), name="loss")
    return b, np.arange(5, dtype=F), True


def softmax() -> Built:
    b = GraphBuilder()
    y = b.one("Softmax", b.placeholder("x", shape=(2, 4)), name="y")
    b.one("Sum", b.one("Log", y, name="logp"), ints(0, 1), name="loss")
    return b, np.array([[1, 2, 3, 4], [9, 0, -9, 5]], F), True


def long_sum() -> Built:
    b = GraphBuilder()
    b.one("Sum", b.one("Exp", b.placeholder("x", shape=(1000,)), name="e"), ints(0), name="loss")
    return b, np.random.default_rng(0).normal(size=1000).astype(F), True


def network() -> Built:
    rng, b = np.random.default_rng(0), GraphBuilder()
    w, w2 = rng.normal(size=(256, 64)).astype(F), rng.normal(size=(64, 10)).astype(F)
    h = b.one("Tanh", b.one("MatMul", b.placeholder("x", shape=(64, 256)), w, name="m1"), name="h")
    s = b.one("Softmax", b.one("MatMul", h, w2, name="m2"), name="s")
    b.one("ArgMax", s, I32(1), name="class")
    b.one("Mean", b.one("Log", s, name="l"), ints(0, 1), name="loss")
    return b, rng.normal(size=(64, 256)).astype(F), True


def convolution() -> Built:
    rng, b = np.random.default_rng(0), GraphBuilder()
    x, w = b.placeholder("x", shape=(2, 16, 16, 3)), rng.normal(size=(3, 3, 3, 8)).astype(F)
    y = b.one("Conv2D", x, w, strides=[1, 1, 1, 1], padding="SAME", name="y")
    b.one("Sum", b.one("Relu", y, name="r"), ints(0, 1, 2, 3), name="loss")
    return b, rng.normal(size=(2, 16, 16, 3)).astype(F), True


def argmax() -> Built:
    b = GraphBuilder()
    b.one("ArgMax", b.placeholder("x", shape=(3, 4)), I32(1), name="loss")
    return b, np.array([[1, nan, 3, 2], [2, 5, 1, 0], [0, 1, 2, 3]], F), False


def cast() -> Built:
    b = GraphBuilder()
    y = b.one("Cast", b.placeholder("x", shape=(5,)), DstT=DType.INT32, name="y")
    b.one("AddV2", y, I32(1), name="loss")
    return b, np.array([1, nan, inf, -1e10, 3e9], F), False


def segments() -> Built:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(4,))
    y = b.one("UnsortedSegmentSum", x, ints(0, -1, 2, 1), I32(3), name="y")
    b.one("Sum", b.one("Square", y), ints(0), name="loss")
    return b, np.array([1, 2, 3, 4], F), True


def compared(make: Callable[[], Built], device: str) -> Comparison:
    builder, x, differentiates = make()
    request = GradientRequest.to("loss", "x") if differentiates else GradientRequest()
    document = Document(
        builder.build(),
        feeds={"x": Constant(x)},
        fetches=(TensorRef("loss"),),
        request=request,
    )
    return Devices().compare(derive(document), "cpu", device)


RAISES = (
    "Semantics, not rounding. First divergence: y ({}): an index out of range {} (cpu fails: {}). "
    "1 of {} nodes differs. Of what was asked for, loss and the gradient of x cannot be compared."
)


@pytest.mark.parametrize(
    ("make", "device", "start"),
    [
        (
            lambda: gather([3], 0, 3, -1),
            "emulate:tf-gpu",
            RAISES.format("GatherV2", "gives 0", "indices[1] = 3 is not in [0, 3)", 17),
        ),
        (
            scatter,
            "emulate:onnxruntime-cuda",
            RAISES.format(
                "ScatterNd",
                "is clamped to the nearest row",
                "indices[3] = [5] does not index into shape [4]",
                16,
            ),
        ),
        (
            lambda: gather([4, 3], 1, 1, 2, 7),
            "emulate:jax",
            RAISES.format(
                "GatherV2", "is clamped to the nearest row", "indices[3] = 7 is not in [0, 4)", 17
            ),
        ),
        (
            softmax,
            "emulate:tf-gpu",
            "No node makes a difference by the rules that are emulated. Not emulated: the order of "
            "sums in loss (8 terms) and gradients/y_grad/Sum (4 terms); the last bits of y and "
            "logp.",
        ),
        (
            long_sum,
            "emulate:tf-gpu",
            "No node makes a difference by the rules that are emulated. Not emulated: the order of "
            "sums in loss (1,000 terms); the last bits of e.",
        ),
        (
            network,
            "emulate:tf-gpu",
            "Rounding: factors are rounded to TF32, 10 bits of fraction (m1, m2, "
            "gradients/m2_grad/MatMul and 1 more make up to # each). That explains all # nodes "
            "that differ, amplified #× at h and #× at @, and reaches # at @. # of 29 nodes differ. "
            "Of what was asked for: the gradient of x is off by # (# times its tolerance); loss is "
            "off by #",
        ),
        (
            convolution,
            "emulate:jax",
            "Rounding: factors are rounded to TF32, 10 bits of fraction (y and "
            "gradients/y_grad/Conv2DBackpropInput make up to # each). That explains all # nodes "
            "that differ",
        ),
        (
            argmax,
            "emulate:torch",
            "Semantics, not rounding. First divergence: loss (ArgMax): NaN counts as an extreme: "
            "the first is found. 1 of 3 nodes differs. Of what was asked for: loss has 1 of 3 "
            "elements that are others. 1 of 3 classes changes (loss).",
        ),
        (
            cast,
            "emulate:jax",
            "Semantics, not rounding. First divergence: y (Cast): what has no room becomes the "
            "nearest number, and NaN 0. That explains all 2 nodes that differ, and it reaches 0.5 "
            "at loss. 2 of 4 nodes differ. Of what was asked for: loss has 3 of 5 elements",
        ),
        (
            segments,
            "emulate:tf-gpu",
            "No node makes a difference by the rules that are emulated. Not emulated: the order of "
            "sums in loss (3 terms).",
        ),
    ],
)
def test_the_words(make: Callable[[], Built], device: str, start: str) -> None:
    """#: a number, which other processors may round otherwise; @: a node."""
    found = compared(make, device)
    pattern = re.escape(start).replace(r"\#", r"[\d.e+-]+").replace("@", r"[\w/]+")
    assert re.match(pattern, found.text), found.text
    assert found.text == " ".join(found.sentences)


def test_of_64_classes_none_changes_by_tf32() -> None:
    found = compared(network, "emulate:tf-gpu")
    assert any(sentence.startswith("0 of 64 classes change") for sentence in found.sentences)
    rows = {row.name: row for row in found.nodes}
    assert rows["h"].metrics["amplification"] == pytest.approx(3, abs=0.6)
    assert rows["m1"].kind == "rounding"
    assert rows["m1"].metrics["share"] < 1 < rows["h"].metrics["share"]
    assert rows["h"].detail is not None
    worst = rows["h"].detail.worst[0]
    assert worst.reference == pytest.approx(worst.left, rel=1e-4)  # float64 is on the CPU's side
    assert worst.right != pytest.approx(worst.left, rel=1e-4)
