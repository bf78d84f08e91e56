"""Examples of whole networks: digits in two ways, names and reuse, summaries."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, gradient, value
from tests.support.oracle import array, case
from tests.support.spirals import spirals

GROUP = "Networks"

DIGITS = Path(__file__).parents[2] / "assets" / "data" / "digits.npz"
BATCH = 40  # digits that travel in a document
LOOSE = {"rtol": 1e-4}  # sums in another order, over several steps


def _digits() -> tuple[np.ndarray, np.ndarray]:
    """The first digits of the set, each pixel from 0 to 1, and their labels one-hot."""
    with np.load(DIGITS) as data:
        images, labels = data["images"][:BATCH], data["labels"][:BATCH]
    return images.astype(np.float32) / 16, np.eye(10, dtype=np.float32)[labels]


def softmax_digits() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    images, labels = _digits()
    d = Drawing()
    x = d.fed("images", images.reshape(BATCH, 64), shape=(None, 64))
    wanted = d.fed("labels", labels, shape=(None, 10))
    with d.g.scope("softmax"):
        weights = d.variable("weights", np.zeros((64, 10)))
        bias = d.variable("bias", np.zeros(10))
        product = d.g.one("MatMul", x, weights, name="product")
        logits = d.g.one("BiasAdd", product, bias, name="logits")
    _judged(d, logits, wanted)
    return d.document(
        "Digits by softmax regression",
        f"""
        Real handwritten digits, one matrix, softmax cross-entropy: learning from {BATCH} of them.

        1. Press F5 a few times and watch `loss` fall and `accuracy` rise.
        2. Select `softmax/weights`; under **Tensor** its gradient has a column for each digit. A
        negative element makes that pixel count more for that digit in the next run.

        The digits are those of E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
        CC BY 4.0.
        """,
        of="loss",
        wrt="softmax/weights softmax/bias",
        collapsed="accuracy_of",
        fetches="accuracy",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.5}),),
        expectations=(
            value(
                "loss", 2.302585, "With zero weights the loss is ln 10: all digits are as likely."
            ),
            equal('sum(abs(grad["softmax/weights"]))', 10.613125, "The first gradient's size."),
            value("loss", 0.77126795, "After 20 runs the loss is a third.", run=19),
            value("accuracy", 0.95, "95 % of the digits are right by then.", run=19),
        ),
    )


def digits_in_batches() -> Document:
    """Numbers: `tests/core/host/test_digits_in_batches.py` computes them in NumPy alone."""
    d = Drawing()
    x = d.fed("images", np.zeros((1, 64)), shape=(None, 64))
    wanted = d.fed("labels", np.zeros((1, 10)), shape=(None, 10))
    with d.g.scope("softmax"):
        weights = d.variable("weights", np.zeros((64, 10)))
        bias = d.variable("bias", np.zeros(10))
        product = d.g.one("MatMul", x, weights, name="product")
        logits = d.g.one("BiasAdd", product, bias, name="logits")
    _judged(d, logits, wanted)
    columns = {
        "images:0": "@digits:images | scale(1/16)",
        "labels:0": "@digits:labels | one_hot(10)",
    }
    return d.document(
        "Digits, batch by batch",
        """
        All 1,797 digits of the set, 32 of them in each run, in another order in each epoch. A fifth
        is held back, to see whether what is learnt holds for digits that were never seen.

        1. Press **Train** (Ctrl+F5) and watch `loss` fall, and below it the loss on the digits that
        are held back, after each epoch.
        2. Click a spike of the curve: the debugger stands in that run, and **Data** lists the rows
        that it was fed. Step back from there as from any run.
        3. In **Data**, make batches of 8, or hold back half, and train again.

        The digits are those of E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
        CC BY 4.0.
        """,
        of="loss",
        wrt="softmax/weights softmax/bias",
        collapsed="accuracy_of",
        fetches="accuracy",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.5}),),
        expectations=(
            value(
                "loss", 2.302585, "With zero weights the loss is ln 10: all digits are as likely."
            ),
            value("loss", 0.62791748, "The last batch of the first epoch.", run=44),
            value("loss", 0.58344714, "And that of the second one.", run=89),
        ),
    ).with_(data=Dataset(columns, shuffle=7, validate=0.2, epochs=5))


def two_spirals() -> Document:
    """Numbers: `tests/core/host/test_decision_surface.py` computes them in NumPy alone."""
    return spirals(
        epochs=200,
        note="""
        Points of two spirals, one in the other: no line parts them, and a network of two layers of
        16 tanh units finds a boundary that winds between them.

        1. Bring **Classes** to the front (View > Panels) and press **Train** (Ctrl+F5): the plane
        is coloured by the class that the network says, and is drawn anew as it learns.
        2. Points with a ring are wrong. Click one, and **Data** shows its row.
        3. Click the curve of `loss` early on, and the plane is that of that step.
        """,
        expectations=(value("loss", 0.84614496, "The first batch, with the first weights."),),
    )


def name_scopes() -> Document:
    """Numbers: TensorFlow's, `layers_reuse_dense` (tied_grad_bias)."""
    d = Drawing()
    x = d.fed("x", np.full((2, 10), 0.1))
    with d.g.scope("test"), d.g.scope("dense"):
        kernel, bias = d.variable("kernel", np.ones((10, 10))), d.variable("bias", np.zeros(10))
    for scope in ("test", "test_1"):
        with d.g.scope(f"{scope}/dense", exact=True):
            product = d.g.one("MatMul", x, kernel, name="MatMul")
            d.g.one("BiasAdd", product, bias, name="BiasAdd")
    added = d.g.one(
        "AddV2", d.g.get("test/dense/BiasAdd"), d.g.get("test_1/dense/BiasAdd"), name="both"
    )
    d.sum(added, "loss")
    seen = case("layers_reuse_dense")["tied_grad_bias (2 towers x 2 rows)"]
    return d.document(
        "Name scopes, and one layer used twice",
        """
        The same dense layer is applied twice; the second time it reuses the first one's weights.

        Operations get a scope of their own each time (`test/dense/MatMul`,
        `test_1/dense/MatMul`); variables made by get_variable keep one name. So there is one
        `test/dense/kernel`, read in two places, and its gradient is the sum of both.

        1. Select a node and press H: its scope becomes one box. H again opens it.
        2. Press F5 and look at the gradient of `test/dense/bias`: 2 layers · 2 rows = 4.
        """,
        """
        . test/dense/kernel test/dense/MatMul test/dense/BiasAdd both loss
        x . test/dense/bias . axes

        . . test_1/dense/MatMul test_1/dense/BiasAdd
        """,
        of="loss",
        wrt="test/dense/kernel test/dense/bias",
        fetches="test/dense/BiasAdd test_1/dense/BiasAdd",
        expectations=(
            equal('x["test/dense/BiasAdd"]', 'x["test_1/dense/BiasAdd"]', "Both give the same."),
            gradient("test/dense/bias", array(seen), "The bias hears from two layers."),
        ),
    )


def summaries() -> Document:
    """Numbers: TensorFlow's, `summaries`."""
    d = Drawing()
    w = d.variable("w", [1, -2, 3, 0.5])
    with d.g.scope("summaries"):
        axis = d.g.constant(0, "int32", name="axis")
        mean = d.g.one("Mean", w, axis, name="mean")
        square = d.g.one("SquaredDifference", w, mean, name="square")
        stddev = d.g.one("Sqrt", d.g.one("Mean", square, axis, name="variance"), name="stddev")
        numbers = {"mean": mean, "stddev": stddev}
        numbers |= {
            type.lower(): d.g.one(type, w, axis, name=type.lower()) for type in ("Max", "Min")
        }
        made = [_summary(d, "ScalarSummary", name, x) for name, x in numbers.items()]
        made.append(_summary(d, "HistogramSummary", "histogram", w))
    merged = d.g.one("MergeSummary", *made, name="merged")
    recorded = {
        entry["tag"]: entry for entry in case("summaries")["merged"] if "simple_value" in entry
    }
    return d.document(
        "Summaries for TensorBoard",
        """
        Mean, deviation, extremes and a histogram of a variable, merged into one record.

        A summary is an operation whose value is a string: the record as TensorBoard reads it, byte
        for byte. Nothing runs it unless it is fetched; merging makes that one fetch.

        Press F10 and watch the numbers, then the strings; `merged` is all of them in a row.
        `gradstep train summaries.gradstep --steps 3 --logdir logs` writes a file for TensorBoard.
        """,
        fetches=str(merged.ref),
        collapsed="summaries/tags",
        expectations=tuple(
            value(f"summaries/{name}", array(recorded[f"summaries/{name}_1"]["simple_value"]), text)
            for name, text in (
                ("mean", "The mean."),
                ("stddev", "The standard deviation, of the four numbers themselves."),
                ("max", "The largest."),
                ("min", "The smallest."),
            )
        ),
    )


def _summary(d: Drawing, type: str, name: str, x: Tensor) -> Tensor:
    """The operation, and the tag that is its name."""
    own = d.g.unique(name)
    tag = d.g.constant(np.array(own, object), name=f"tags/{name}")
    return d.g.one(type, tag, x, name=f"{own}/")


def _judged(d: Drawing, logits: Tensor, wanted: Tensor) -> None:
    each = d.g.op("SoftmaxCrossEntropyWithLogits", logits, wanted, name="cross_entropy")[0]
    d.mean(each, "loss")
    with d.g.scope("accuracy_of"), d.g.as_default():
        right = tf.equal(tf.argmax(logits, 1), tf.argmax(wanted, 1), name="right")
        share = tf.cast(right, "float32")
        axis = d.g.constant(0, "int32", name="axis")
    d.g.one("Mean", share, axis, name="accuracy")


def cnn_digits() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    images, labels = _digits()
    rng = np.random.default_rng(5)
    d = Drawing()
    x = d.fed("images", images[..., None], shape=(None, 8, 8, 1))
    wanted = d.fed("labels", labels, shape=(None, 10))
    first = _convolution(d, rng, x, "conv1", 1, 6)
    second = _convolution(d, rng, first, "conv2", 6, 8)
    with d.g.scope("dense"):
        flat = d.g.one(
            "Reshape", second, d.g.constant([-1, 32], "int32", name="shape"), name="flat"
        )
        weights = d.variable("weights", rng.normal(0, 0.18, (32, 10)))
        product = d.g.one("MatMul", flat, weights, name="product")
        logits = d.g.one("BiasAdd", product, d.variable("bias", np.zeros(10)), name="logits")
    _judged(d, logits, wanted)
    parts = ("conv1", "conv2", "dense")
    return d.document(
        "Digits by a convolutional network",
        f"""
        Two convolutions with pooling and one dense layer learn {BATCH} handwritten digits.

        1. Press F5 twenty times and watch `loss` and `accuracy`.
        2. Select a box and press H to open it. Under **Tensor** look at what `conv1/relu` finds in
        the pictures, and at the gradient of `conv1/kernel`.

        The digits are those of E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
        CC BY 4.0.
        """,
        of="loss",
        wrt="conv1/kernel conv1/bias conv2/kernel conv2/bias dense/weights dense/bias",
        collapsed=" ".join((*parts, "accuracy_of")),
        fetches="accuracy",
        optimizers=(Optimizer("Adam", {"learning_rate": 0.02}),),
        expectations=(
            value("loss", 2.4175255, "The first loss, with random weights."),
            equal(
                'sum(abs(grad["conv1/kernel"]))', 1.4892728, "The first gradient's size.", **LOOSE
            ),
            value("loss", 1.3566355, "The loss after nine steps of Adam.", run=9, **LOOSE),
            value("accuracy", 0.975, "After twenty runs 39 of 40 digits are right.", run=19),
        ),
    )


def _convolution(
    d: Drawing, rng: np.random.Generator, x: Tensor, scope: str, channels: int, filters: int
) -> Tensor:
    """3 by 3, bias, relu, and the largest of every 2 by 2."""
    with d.g.scope(scope):
        kernel = d.variable(
            "kernel", rng.normal(0, (2 / (9 * channels)) ** 0.5, (3, 3, channels, filters))
        )
        bias = d.variable("bias", np.zeros(filters))
        found = d.g.one(
            "Conv2D", x, kernel, name="convolution", strides=(1, 1, 1, 1), padding="SAME"
        )
        relu = d.g.one("Relu", d.g.one("BiasAdd", found, bias, name="biased"), name="relu")
        size = (1, 2, 2, 1)
        return d.g.one("MaxPool", relu, name="pool", ksize=size, strides=size, padding="SAME")


EXAMPLES = (softmax_digits, digits_in_batches, two_spirals, cnn_digits, name_scopes, summaries)
