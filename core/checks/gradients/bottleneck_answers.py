"""Answering FindBottlenecks: what all of one gradient passes, and the fewest wires that end it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.autodiff.explain.gradient_bottlenecks import bottlenecks
from gradstep.core.autodiff.explain.gradient_paths import find_reached
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import Bottlenecks


def find_bottlenecks(here: Situation, of: str, wrt: str) -> Bottlenecks:
    """Of d(of)/d(wrt); nothing where an operation on the way cannot run. Raises GradstepError for a
    wrong name, and for an operation whose gradient cannot be derived."""
    y, x = TensorRef.parse(of), TensorRef.parse(wrt)
    request = replace(here.request, of=(y,), wrt=(x,), grad_ys=())
    graph = here.needed(request)
    if {y.op, x.op} & broken_operations(graph, infer_declared(graph)).keys():
        return Bottlenecks(of=y.short, wrt=x.short, passes=[], cut=[])
    derived = here.held(y, x) or differentiate(graph, request, here.functions)
    found = bottlenecks(graph, derived, y, x)
    return Bottlenecks(
        of=y.short, wrt=x.short, passes=[*found.passes], cut=[str(edge) for edge in found.cut]
    )


def loss_for(here: Situation, wrt: str, losses: Sequence[TensorRef]) -> str:
    """The first of `losses` that `wrt` leads to. Raises GradstepError without any."""
    if not losses:
        raise GradstepError(
            "no gradient is asked for",
            kind="ValueError",
            hint="choose what to differentiate, and with respect to what",
        )
    return str(find_reached(here.graph, TensorRef.parse(wrt), losses))
