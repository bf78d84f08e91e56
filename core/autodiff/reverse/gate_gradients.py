"""TensorFlow's `gate_gradients`: none of an operation's gradients goes on before all are there."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.ops.build.builder import GraphBuilder, Tensor


def gate(builder: GraphBuilder, gradients: list[Contribution | None]) -> list[Contribution | None]:
    """The gradients, each behind the operations that make the others: a `tuple`, in TensorFlow's
    names. A single one has nothing to wait for."""
    made = [g.dense.op for g in gradients if g is not None]
    if len(made) < 2:
        return gradients
    with builder.scope("tuple"):
        together = builder.unique("group_deps")
        builder.op("NoOp", name="group_deps", control_inputs=tuple(dict.fromkeys(made)))
        return [g and _wait(builder, together, g) for g in gradients]


def _wait(builder: GraphBuilder, name: str, gradient: Contribution) -> Contribution:
    dense = Tensor(builder, gradient.dense)
    (late,) = builder.op("Identity", dense, name="control_dependency", control_inputs=(name,))
    return Contribution(late.ref, gradient.rows)
