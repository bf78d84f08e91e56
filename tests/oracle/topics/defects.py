"""Gradients that TensorFlow gets wrong: Gradstep gives the same, and its ops say so."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops.build.builder import call, call_many
from tests.oracle.program import Program
from tests.oracle.shorthand import total
from tests.oracle.table import Case, checks
from tests.support.rounding import Rounding


@checks("gradient_defects")
def cross_entropy_twice(case: Case) -> None:
    entry = "softmax cross-entropy"
    start = {key: case.given(entry, "inputs", key) for key in case.at(entry, "inputs")}
    with Program() as p:
        z, y = p.like("z", start["logits"]), p.like("y", start["labels"])
        weights = p.builder.constant(start["weights"])
        loss = call_many("SoftmaxCrossEntropyWithLogits", z, y)[0]
        first = gradients(loss, [z, y], [p.builder.constant(start["upstream"])])
        feeds = {z: start["logits"], y: start["labels"]}
        for name, slope in zip(("gz", "gy"), first, strict=True):
            case.gradient(p.run(slope, feeds), entry, name)
            for by, again in zip("zy", gradients(slope, [z, y], [weights]), strict=True):
                key = f"gradients({name}, {by}, weights)"
                # Softmax and the products around it, of numbers up to 5.
                near = Rounding(terms=3, steps=3, size=float(start["weights"].max()))
                case.gradient(p.run(again, feeds), entry, key, rounding=near)


@checks("gradient_defects")
def products_at_zero(case: Case) -> None:
    for entry, build in (
        ("cumprod", lambda x: call("Cumprod", x, 0)),
        ("reduce_prod", lambda x: total(x, "Prod")),
    ):
        start, weights = (case.given(entry, "inputs", key) for key in ("x", "weights"))
        with Program() as p:
            x, w = p.like("x", start), p.builder.constant(weights)
            y = build(x)
            slope = gradients(y, x, [w] if entry == "cumprod" else None)[0]
            again = gradients(slope, x, [w])[0]
            case.gradient(p.run(slope, {x: start}), entry, "g")
            case.gradient(p.run(again, {x: start}), entry, "gradients(g, x, weights)")
