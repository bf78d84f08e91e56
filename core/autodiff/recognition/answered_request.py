"""The gradients that an imported graph holds, as a request that it has answered itself."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import TensorRef


@dataclass(frozen=True, slots=True)
class ImportedGradients:
    """One call of `tf.gradients` in the program that made the graph.

    scope: of its operations ("gradients"), which are of the backward phase and have the forward
           operation that they belong to as origin.
    of:    what it differentiated.
    wrt:   the variables that it differentiates by: those that are updated with it, and those that
           it has no gradient of; where nothing is updated, all that it has the gradient of, or
           else the placeholders.
    grad_ys: the gradient that the program gave to start with, as in a request.
    """

    scope: str
    of: tuple[TensorRef, ...]
    wrt: tuple[TensorRef, ...]
    grad_ys: tuple[TensorRef | None, ...] = ()

    @property
    def request(self) -> GradientRequest:
        """The request that it answers."""
        return GradientRequest(self.of, self.wrt, grad_ys=self.grad_ys)
