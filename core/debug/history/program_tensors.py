"""Tensors of a program by the names that people write."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.run.feed_values import instead_of, missing_tensor
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.suggestions import instead
from gradstep.core.ops.typing.flatten_loops import flatten_loops


def find_tensor(program: Program, name: str) -> TensorRef:
    """The tensor called `name`, in loops too. Raises GradstepError (KeyError) for none."""
    ref = TensorRef.parse(name)
    anywhere(program.graph, ref.op)
    graph = flatten_loops(program.graph)
    if missing := missing_tensor(graph, ref):
        raise GradstepError(missing, kind="KeyError", node=ref.op, hint=instead_of(graph, ref))
    return ref


def find_gradients(program: Program, ref: TensorRef, of: str = "") -> Mapping[str, TensorRef]:
    """The tensors that hold the gradient with respect to `ref`, by what is differentiated, or of
    `of` alone; empty where no gradient flows there. Raises GradstepError (KeyError) where nothing
    called `of` is differentiated."""
    losses = program.losses
    if of and of not in losses:
        raise GradstepError(
            f"nothing called '{of}' is differentiated",
            kind="KeyError",
            hint=instead(of, losses) or "no gradients are asked for",
        )
    wanted = {of: losses[of]} if of else losses
    return {name: gradients[ref] for name, gradients in wanted.items() if ref in gradients}
