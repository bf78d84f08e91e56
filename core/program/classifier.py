"""What a program classifies, told from its loss: the cross-entropy, its logits and its labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef

Kind = Literal["softmax", "sparse", "sigmoid"]
_KINDS: dict[str, Kind] = {
    "SoftmaxCrossEntropyWithLogits": "softmax",
    "SparseSoftmaxCrossEntropyWithLogits": "sparse",
}
_SUMS = ("Add", "AddV2")
_HINT = (
    "let the loss be a mean of softmax_cross_entropy_with_logits, of its sparse form, or of "
    "sigmoid_cross_entropy_with_logits"
)


@dataclass(frozen=True)
class Classifier:
    """labels: one number for each class ("softmax"), the number of the class ("sparse"), or 0 and 1
    ("sigmoid"); losses: what is lost by each row."""

    kind: Kind
    logits: TensorRef
    labels: TensorRef
    losses: TensorRef


def classifier_of(graph: Graph, losses: Iterable[TensorRef]) -> Classifier:
    """What these losses make a classifier of. Raises GradstepError where that cannot be told."""
    of = [ref for ref in losses if ref.op in graph]
    names = graph.ancestors(ref.op for ref in of)
    found = list(_cross_entropies(graph, names))
    if len(found) == 1:
        return found[0]
    what = " and ".join(ref.short for ref in of)
    if not of:
        raise _unknown("nothing is minimized, so there is no loss that tells the classes", _HINT)
    if not found:
        raise _unknown(f"no cross-entropy behind {what} tells outputs and labels", _HINT)
    several = ", ".join(one.losses.op for one in found)
    raise _unknown(f"several cross-entropies are behind {what}: {several}", "minimize one of them")


def _unknown(why: str, hint: str) -> GradstepError:
    return GradstepError(why, kind="FailedPreconditionError", hint=hint)


def _cross_entropies(graph: Graph, names: set[str]) -> Iterator[Classifier]:
    for name in graph.operations:
        if name not in names:
            continue
        op = graph[name]
        if op.type in _KINDS and len(op.inputs) == 2:
            logits, labels = op.inputs
            if logits is not None and labels is not None:
                yield Classifier(_KINDS[op.type], logits, labels, TensorRef(name))
        elif (found := find_logistic(graph, op)) is not None:
            yield found


def find_logistic(graph: Graph, op: Operation) -> Classifier | None:
    """`(max(x, 0) - x * z) + log1p(exp(-|x|))`, as TensorFlow and Gradstep write it."""
    if op.type not in _SUMS:
        return None
    linear, log = (_source(graph, op, index) for index in (0, 1))
    if linear is None or log is None or (linear.type, log.type) != ("Sub", "Log1p"):
        return None
    positive, product = (_source(graph, linear, index) for index in (0, 1))
    if product is None or product.type != "Mul" or positive is None:
        return None
    logits, labels = product.inputs
    if logits is None or labels is None or logits not in positive.inputs:
        return None
    return Classifier("sigmoid", logits, labels, op.output())


def _source(graph: Graph, op: Operation, index: int) -> Operation | None:
    ref = op.inputs[index] if index < len(op.inputs) else None
    return graph[ref.op] if ref is not None and ref.op in graph else None
