"""The example of weights that are to stand still while Adam trains others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.graph.model import Constant
from gradstep.core.graph.relabel import relabel
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.examples import optimizing
from tests.examples.drawing import Drawing
from tests.examples.expect import value
from tests.support.oracle import array, case

GROUP = optimizing.GROUP


def adam_freezing() -> Document:
    """Numbers: TensorFlow's, `adam_freezing_masks`."""
    seen = case("adam_freezing_masks")
    d = Drawing()
    mask, next_mask = _masks(d, *(array(seen["inputs"][f"mask_{n}"]) for n in (1, 2)))
    target = d.fed("target", array(seen["inputs"]["target"]), "float64")
    targets = [_frozen(d, scope, mask, next_mask, target) for scope in FREEZING]
    document = d.document(
        "Freezing weights under Adam",
        """
        In run 1 the inner two weights learn, in run 2 the outer two: do the inner two stand still?

        The loss is masked, so a frozen weight has the gradient 0. But Adam moves by m and v, which
        remember earlier gradients. Between the runs each box does something else to them:

        | box | between the runs | inner weights in run 2 |
        |---|---|---|
        | **keep** | nothing | move on, by m |
        | **zero_m** | m · mask | stand still |
        | **zero_v** | v · mask | jump to −847132: m is divided by √0 |

        Press F5 twice and look at `keep/W`, `zero_m/W` and `zero_v/W`.
        """,
        collapsed="schedule "
        + " ".join(f"{s}/{part}" for s in FREEZING for part in ("error", "gradients", "train")),
        fetches=" ".join(f"{scope}/error/loss" for scope in FREEZING),
        targets=tuple(name for names in targets for name in names),
        claim="To freeze weights under Adam, zero their m and their v.",
        truth="Zeroing m is enough: 0/(√v + ε) = 0. Zeroing v alone makes them explode.",
        expectations=tuple(_weights(seen)),
    )
    renamed = relabel(document.graph, _shorter)
    return rename_node(document.with_(graph=renamed), _shorter)


def _shorter(name: str) -> str:
    """Adam's slots by their letters, and each optimizer, with its powers, in the box it trains."""
    name = re.sub(r"/W/Adam(_1)?$", lambda found: "/v" if found[1] else "/m", name)
    name = re.sub(r"^(beta\d_power)(_\d)?", r"train\2/\1", name)
    found = re.match(r"train(?:_(\d))?(/.*)?$", name)
    return f"{list(FREEZING)[int(found[1] or 0)]}/train{found[2] or ''}" if found else name


FREEZING = {"keep": None, "zero_m": 0, "zero_v": 1}  # scope -> which of Adam's slots is cleared


def _masks(d: Drawing, *masks: np.ndarray) -> tuple[Tensor, Tensor]:
    """The mask of this run, and of the next: those given, one after the other, then ones."""
    g = d.g
    with g.scope("schedule"):
        step, axis = d.variable("step", 0, "int32"), g.constant(0, "int32", name="axis")
        rows = g.constant(np.stack([*masks, np.ones(4)]), "float64", name="masks")
        mask = g.one("GatherV2", rows, step, axis, name="mask")
        later = g.one("AddV2", step, g.constant(1, "int32", name="one"), name="later")
        least = g.one("Minimum", later, g.constant(len(masks), "int32", name="last"), name="least")
        moved = g.op("Assign", step, least, name="move", control_inputs=(mask.ref.op,))[0]
        return mask, g.one("GatherV2", rows, moved, axis, name="next_mask")


def _frozen(
    d: Drawing, scope: str, mask: Tensor, next_mask: Tensor, target: Tensor
) -> tuple[str, ...]:
    """loss = sum(mask · (W − target)²), a step of Adam, and what is done to a slot after it.
    Returns the operations to run."""
    g, slot = d.g, FREEZING[scope]
    with g.scope(scope):
        w = d.variable("W", np.zeros(4), "float64")
        with g.scope("error"):
            square = g.one("Square", g.one("Sub", w, target, name="apart"), name="square")
            loss = d.sum(g.one("Mul", mask, square, name="masked"), "loss")
        (gradient,) = gradients(loss, w)
    assert isinstance(gradient, Tensor)
    made = apply_updates(g, "Adam", {"learning_rate": 0.1}, [(w.ref.op, gradient)])
    d.initial.update({name: Constant(start) for name, start in made.initial.items()})
    if slot is None:
        return (*made.targets, next_mask.ref.op)
    with g.scope(scope, exact=True), g.control_dependencies(made.targets):
        held = g.get(made.slots[w.ref.op][slot])
        g.one("Assign", held, g.one("Mul", held, next_mask, name="times_mask"), name="clear")
    return (*made.targets, f"{scope}/clear")


def _weights(seen: Mapping[str, Any]) -> Iterator[Expectation]:
    for scope, entry, after, text in (
        ("keep", "Adam", "after_2 (mask 1001)", "The gradient is 0, and the inner weights move."),
        ("zero_m", "Adam only m masked", "after_2", "Without m they stand still."),
        ("zero_v", "Adam only v masked", "after_2", "Without v they explode."),
    ):
        expected = array(seen[entry][after]["W"])
        yield value(f"{scope}/W", expected, text, run=1, rtol=1e-6)
    first = array(seen["Adam"]["after_1 (mask 0110)"]["W"])
    yield value("keep/W", first, "After the first run all three are alike.")


EXAMPLES = (adam_freezing,)
