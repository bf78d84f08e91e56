"""Examples of training: which variables, how fast, and by which optimizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Expectation
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, holds, value
from tests.support.oracle import array, case

GROUP = "Optimizers"


def minimizing(type: str, of: str, wrt: str, rate: float, name: str, **rest: Any) -> Optimizer:
    """An optimizer of its own loss and variables (names, separated by spaces)."""
    return Optimizer(type, {"learning_rate": rate}, _refs(of), _refs(wrt), name=name, **rest)


def _refs(names: str) -> tuple[TensorRef, ...]:
    return tuple(TensorRef.parse(name) for name in names.split())


def two_networks() -> Document:
    """Numbers: TensorFlow's, `several_networks_one_graph`."""
    seen = case("several_networks_one_graph")
    d = Drawing()
    x, t = _given(d, seen["inputs"])
    for net in ("A", "B"):
        with d.g.scope(f"Net_{net}"):
            y = _linear(d, x, *(array(v) for v in seen["init"][net]))
            _squared_error(d, y, t)
    return d.document(
        "Two networks in one graph, two optimizers",
        """
        Each network has a loss and an optimizer of its own; neither touches the other's variables.

        Net_A learns by gradient descent, Net_B by Adam. Each optimizer gets the variables of its
        network (var_list), and each run trains both.

        1. Press F10 through the update phase: `Net_A/w` first, then `Net_B/w`.
        2. Graph > Optimizers…: take the mark from **Runs execute it** of one, and run again: that
        network stands still.
        """,
        """
        . Net_A/w Net_A/product Net_A/y Net_A/square Net_A/loss
        . . Net_A/b . Net_A/axes
        x . . t

        . Net_B/w Net_B/product Net_B/y Net_B/square Net_B/loss
        . . Net_B/b . Net_B/axes
        """,
        of="Net_A/loss",
        wrt="Net_A/w Net_A/b",
        fetches="Net_A/loss Net_B/loss",
        optimizers=(
            minimizing("GradientDescent", "Net_A/loss", "Net_A/w Net_A/b", 0.1, "train_A"),
            minimizing("Adam", "Net_B/loss", "Net_B/w Net_B/b", 0.01, "train_B"),
        ),
        claim="Several networks cannot be trained in one graph: each needs a graph and a session.",
        truth="An optimizer changes only the variables of its `var_list`.",
        expectations=(
            *_after(seen["after_train_A"]["A"], "Net_A", "One step of gradient descent."),
            value("Net_B/w", array(seen["after_train_B"]["B"][0]), "One step of Adam."),
            holds(
                'abs(x["Net_B/b"]) <= 0.01',
                "Its bias is right from the start. What is left of its gradient is rounding, which "
                "Adam divides by its own size: a step, but none longer than the rate.",
            ),
        ),
    )


def var_list() -> Document:
    """Numbers: TensorFlow's, `several_networks_one_graph` (after_joint_loss_var_list_A)."""
    seen = case("several_networks_one_graph")
    before = seen["after_train_B"]
    d = Drawing()
    x, t = _given(d, seen["inputs"])
    parts = []
    for net in ("A", "B"):
        with d.g.scope(f"Net_{net}"):
            parts.append(_linear(d, x, *(array(v) for v in before[net])))
    _squared_error(d, d.g.one("AddV2", *parts, name="both"), t)
    return d.document(
        "var_list: training only a part",
        """
        Two networks add up to one answer, and the optimizer may change only one of them.

        Gradients reach both, as F10 through the backward pass shows; but var_list names Net_A
        only, so `Net_B/w` and `Net_B/b` stay as they are.
        """,
        """
        . Net_A/w Net_A/product Net_A/y
        . . Net_A/b . both square loss
        x . . . t axes

        . Net_B/w Net_B/product Net_B/y
        . . Net_B/b
        """,
        of="loss",
        wrt="Net_A/w Net_A/b Net_B/w Net_B/b",
        optimizers=(minimizing("GradientDescent", "loss", "Net_A/w Net_A/b", 0.1, ""),),
        expectations=(
            *_after(seen["after_joint_loss_var_list_A"]["A"], "Net_A", "Net_A has learned."),
            *_after(before["B"], "Net_B", "Net_B has a gradient, and keeps its values."),
            holds('abs(grad["Net_B/b"]) > 0.1', "Its gradient is not zero."),
        ),
    )


def _given(d: Drawing, inputs: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    return d.fed("x", array(inputs["x"])), d.fed("t", array(inputs["t"]))


def _linear(d: Drawing, x: Tensor, w: np.ndarray, b: np.ndarray) -> Tensor:
    product = d.g.one("MatMul", x, d.variable("w", w), name="product")
    return d.g.one("AddV2", product, d.variable("b", b), name="y")


def _squared_error(d: Drawing, y: Tensor, wanted: Tensor) -> Tensor:
    return d.mean(d.g.one("SquaredDifference", y, wanted, name="square"), "loss")


def _after(pair: list[Any], net: str, text: str) -> Iterator[Expectation]:
    for name, seen in zip("wb", pair, strict=True):
        yield value(f"{net}/{name}", array(seen), text)


RATES = {"sgd": "SGD grad*0.1", "adam": "Adam grad*0.1 (the tutorial recipe)"}


def learning_rates() -> Document:
    """Numbers: TensorFlow's, `optimizer_var_list_and_per_variable_lr`."""
    seen = case("optimizer_var_list_and_per_variable_lr")
    d = Drawing()
    for scope in ("sgd", "adam", "two"):
        with d.g.scope(scope):
            _towards_three(d)
    return d.document(
        "Learning rates for each variable",
        """
        One variable is to learn ten times slower. Scaling its gradient does that only without Adam.

        - **sgd**: gradient descent, with the gradient of `sgd/a` times 0.1. It moves a tenth.
        - **adam**: Adam, with the gradient of `adam/a` times 0.1. It moves just as far as
        `adam/b`: Adam divides by the size of the gradient.
        - **two**: two Adams with rates of their own, one for `two/a` and one for `two/b`.

        Press F5 and compare how far a and b have moved from [1, −2].
        """,
        """
        sgd/a sgd/a_error sgd/a_square sgd/a_loss sgd/loss
        sgd/three . sgd/axes
        sgd/b sgd/b_error sgd/b_square sgd/b_loss

        adam/a adam/a_error adam/a_square adam/a_loss adam/loss
        adam/three . adam/axes
        adam/b adam/b_error adam/b_square adam/b_loss

        two/a two/a_error two/a_square two/a_loss two/loss
        two/three . two/axes
        two/b two/b_error two/b_square two/b_loss
        """,
        of="sgd/loss adam/loss two/loss",
        wrt="sgd/a sgd/b adam/a adam/b two/a two/b",
        optimizers=(
            minimizing(
                "GradientDescent",
                "sgd/loss",
                "sgd/a sgd/b",
                0.01,
                "sgd_step",
                scales={"sgd/a": 0.1},
            ),
            minimizing(
                "Adam", "adam/loss", "adam/a adam/b", 0.01, "adam_step", scales={"adam/a": 0.1}
            ),
            minimizing("Adam", "two/loss", "two/a", 0.001, "slow"),
            minimizing("Adam", "two/loss", "two/b", 0.01, "fast"),
        ),
        claim="Multiplying a variable's gradient by 0.1 gives it a tenth of the learning rate.",
        truth="With gradient descent it does. Adam divides the gradient by its own size, so the "
        "factor cancels: use an optimizer for each rate.",
        expectations=(*_moved(seen), *_two_rates(seen["correct: two optimizers lr 1e-3 / 1e-2"])),
    )


def _towards_three(d: Drawing) -> None:
    """loss = sum((a − 3)²) + sum((b − 3)²)"""
    g = d.g
    three, axes = g.constant(3.0, "float64", name="three"), g.constant(0, "int32", name="axes")
    losses = []
    for name in "ab":
        x = d.variable(name, [1, -2], "float64")
        square = g.one(
            "Square", g.one("Sub", x, three, name=f"{name}_error"), name=f"{name}_square"
        )
        losses.append(g.one("Sum", square, axes, name=f"{name}_loss"))
    g.one("AddV2", *losses, name="loss")


def _moved(seen: Mapping[str, Any]) -> Iterator[Expectation]:
    texts = {
        "sgd": "Gradient descent: a moves a tenth as far.",
        "adam": "Adam: a moves as far as b.",
    }
    for scope, entry in RATES.items():
        first = seen[entry]["steps"][0]
        for name in "ab":
            yield value(f"{scope}/{name}", array(first[name]), texts[scope], rtol=1e-7, atol=0.0)
        ratio = array(first["moved_a/moved_b"])[0]
        what = f'(x["{scope}/a"] - 1) / (x["{scope}/b"] - 1)'
        yield equal(f"({what})[0]", ratio, f"{texts[scope]} The ratio is {ratio:.7f}.", rtol=1e-6)


def _two_rates(seen: Mapping[str, Any]) -> Iterator[Expectation]:
    for name in "ab":
        text = "Two Adams: a moves a tenth as far."
        yield value(f"two/{name}", array(seen[name]), text, rtol=1e-7, atol=0.0)


def data_parallel_towers() -> Document:
    """Numbers: TensorFlow's, `data_parallel_towers` (SGD)."""
    seen = case("data_parallel_towers")
    x, y, w = (array(seen["inputs"][name]) for name in "xyw")
    d = Drawing()
    whole = ("x", x), ("y", y)
    halves = [(("x", x[i : i + 2]), ("y", y[i : i + 2])) for i in (0, 2)]
    with d.g.scope("one"):
        shared = _weights_and_bias(d, w)
        with d.g.scope("tower"):
            _tower(d, *shared, *whole)
    for scope in ("added", "averaged"):
        with d.g.scope(scope):
            shared = _weights_and_bias(d, w)
            losses = []
            for number, rows in enumerate(halves):
                with d.g.scope(f"tower_{number}"):
                    losses.append(_tower(d, *shared, *rows))
            if scope == "averaged":
                half = d.g.constant(0.5, "float64", name="half")
                both = d.g.one("AddV2", *losses, name="both")
                d.g.one("Mul", both, half, name="loss")
    added = "added/tower_0/loss added/tower_1/loss"
    return d.document(
        "Two towers on two halves of a batch",
        """
        Each tower takes half of the batch; their gradients must be averaged, not added.

        - **one**: the whole batch in one network.
        - **added**: two towers with the same weights, and the sum of their gradients: since each
        loss is a mean over its half, that is twice the gradient of the whole batch.
        - **averaged**: the mean of the two losses: the same step as **one**.

        Press F5 and compare the three w. Select a tower and press H to open it.
        """,
        of=f"one/tower/loss {added} averaged/loss",
        wrt="one/w one/b added/w added/b averaged/w averaged/b",
        collapsed="one/tower "
        + " ".join(f"{s}/tower_{n}" for s in ("added", "averaged") for n in (0, 1)),
        optimizers=(
            minimizing("GradientDescent", "one/tower/loss", "one/w one/b", 0.1, "train_one"),
            minimizing("GradientDescent", added, "added/w added/b", 0.1, "train_added"),
            minimizing(
                "GradientDescent", "averaged/loss", "averaged/w averaged/b", 0.1, "train_averaged"
            ),
        ),
        claim="Adding up the gradients of N towers is the same as one step on the whole batch.",
        truth="It is N times that step (under gradient descent; Adam hardly notices). The mean of "
        "the towers' gradients is.",
        expectations=tuple(_stepped(seen["SGD"])),
    )


def _weights_and_bias(d: Drawing, w: np.ndarray) -> tuple[Tensor, Tensor]:
    return d.variable("w", w, "float64"), d.variable("b", np.zeros(2), "float64")


def _tower(d: Drawing, w: Tensor, b: Tensor, *rows: tuple[str, np.ndarray]) -> Tensor:
    x, wanted = (d.fed(name, array, "float64") for name, array in rows)
    y = d.g.one("AddV2", d.g.one("MatMul", x, w, name="product"), b, name="output")
    return _squared_error(d, y, wanted)


def _stepped(seen: Mapping[str, Any]) -> Iterator[Expectation]:
    for scope, entry, text in (
        ("one", "1 tower", "One step on the whole batch."),
        ("added", "2 towers (sum)", "Added up, the step is twice as long."),
        ("averaged", "1 tower", "Averaged, it is the same step."),
    ):
        for name in "wb":
            after = array(seen[entry]["after"][f"net/{name}:0"])
            yield value(f"{scope}/{name}", after, text, rtol=1e-9, atol=1e-12)


EXAMPLES = (two_networks, var_list, learning_rates, data_parallel_towers)
