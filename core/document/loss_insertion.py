"""Adding a loss to a network that came without one: which fit what it gives, and its gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gradstep.core.document.block_insertion import add_block
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import add_operation
from gradstep.core.document.requests import every_request, trainable_variables
from gradstep.core.document.value_edits import set_attr
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.scopes import is_inside

_LABELS = "labels"


@dataclass(frozen=True)
class LossChoice:
    """A loss of what a network gives, `of`. block: its name; labels: the type of what is fed to it
    beside that; words: what it is, for people."""

    of: TensorRef
    block: str
    labels: TensorType
    words: str


def loss_choices(document: Document, types: Mapping[TensorRef, TensorType]) -> list[LossChoice]:
    """Those that fit the last tensor of floats that runs give. None where something is
    differentiated already, or there is nothing to train."""
    if every_request(document) or not trainable_variables(document.graph):
        return []
    floats = [r for r in document.fetches if r in types and types[r].dtype.is_floating]
    dims = types[floats[-1]].shape.dims if floats else None
    if dims is None:
        return []
    of, kind = floats[-1], types[floats[-1]]
    found = [LossChoice(of, "mean_squared_error", kind, "mean squared error")]
    if len(dims) in (2, 3) and dims[-1] != 1:  # rows, or rows of words, and classes
        numbers = TensorType(DType.INT64, Shape(dims[:-1]))
        words = "softmax cross-entropy, labels by number"
        found.insert(0, LossChoice(of, "sparse_softmax_cross_entropy_loss", numbers, words))
    return found


def add_loss(
    document: Document, choice: LossChoice, types: Mapping[TensorRef, TensorType]
) -> tuple[Document, str]:
    """The document with that loss, labels of ones, and the gradients of all that is trained; and
    the scope of the loss. Raises GradstepError where it does not fit after all."""
    made, labels = add_operation(document, "Placeholder", None, _LABELS)
    made = set_attr(made, labels, "dtype", choice.labels.dtype)
    made = set_attr(made, labels, "shape", choice.labels.shape)
    sources = [choice.of, TensorRef(labels)]
    known = {**types, TensorRef(labels): choice.labels}
    made, scope = add_block(made, choice.block, None, sources, known)
    loss = [op.output() for op in made.graph if is_inside(op.name, scope)][-1]
    request = replace(made.request, of=(loss,), wrt=trainable_variables(document.graph))
    return replace(made, request=request, fetches=(loss, *made.fetches)), scope
