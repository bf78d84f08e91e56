"""What a whole document answers: its gradients and its optimizer, derived as for the window."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.program.derive import derive
from tests.oracle.program import Program, Variable

# TensorFlow's sentence goes on with the variables and the loss as Python prints them.
NO_GRADIENTS = (
    "No gradients provided for any variable, check your graph for ops that do not support gradients"
)


def minimize(program: Program, loss: Tensor, variables: Sequence[Variable]) -> None:
    """Train `variables` in a document. Raises what the document shows as a problem."""
    request = GradientRequest((loss.ref,), tuple(v.handle.ref for v in variables))
    optimizer = Optimizer("GradientDescent", {"learning_rate": 0.1})
    document = Document(graph=program.builder.build(), request=request, optimizers=(optimizer,))
    for problem in derive(document, {}).problems:
        raise GradstepError(problem.text, kind="ValueError", node=problem.node)
