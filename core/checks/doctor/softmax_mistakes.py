"""Softmax and sigmoid where they are made already, and their logarithms made by hand."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Edge, Operation
from gradstep.core.program.classifier import find_logistic

_ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_LOGARITHMS = {"Softmax": "log_softmax", "Sigmoid": "log_sigmoid"}
_NORMALISERS = ("Softmax", "LogSoftmax")


def find_softmax_twice(x: Examined) -> Iterator[Finding]:
    """Probabilities that are taken for logits: by a softmax, or a cross-entropy that makes its
    own."""
    for op in x.forward:
        if op.type in (*_NORMALISERS, *_ENTROPIES):
            source = x.source(op)
            if source is not None and _gives_probabilities(source, op):
                yield _twice(x, op, source)
        else:
            logistic = find_logistic(x.graph, op)
            source = None if logistic is None else x.maker(logistic.logits)
            if source is not None and source.type == "Sigmoid":
                yield _twice(x, op, source)


def _gives_probabilities(source: Operation, reader: Operation) -> bool:
    """LogSoftmax is no mistake before an entropy: the softmax of it is the same again."""
    return source.type == "Softmax" or (source.type == "Sigmoid" and reader.type == "Softmax")


def _twice(x: Examined, op: Operation, source: Operation) -> Finding:
    what = "softmax" if op.type in (*_NORMALISERS, *_ENTROPIES) else "sigmoid"
    shape = x.shape(source.output())
    of = f" {Shape(shape)}" if shape else ""
    least = _least(shape[-1]) if shape and what == "softmax" else ""
    text = (
        f"{op.name} ({op.type}) makes a {what} of the probabilities{of} of {source.name} "
        f"({source.type}): numbers between 0 and 1 as logits{least}, so the loss cannot come near "
        "0 and its gradient is small"
    )
    reads = source.inputs[0]
    fix = f"give it {'the logits' if reads is None else reads.short}, and keep {source.name} for "
    at = next((k for k, ref in enumerate(op.inputs) if ref == source.output()), None)
    remedy = None
    if reads is not None and at is not None:
        remedy = Remedy("rewire", (str(Edge(op.name, at)), str(reads)))
    return Finding(op.name, text, fix + "predictions", remedy=remedy)


def _least(classes: int | None) -> str:
    """How sure the second one can be at best."""
    if classes is None or classes < 2:
        return ""
    best = 2.718281828 / (2.718281828 + classes - 1)
    return f" give no class of {classes} more than {100 * best:.0f} %"


def find_logarithms_by_hand(x: Examined) -> Iterator[Finding]:
    """log(softmax(x)) on the way to a loss, kept from 0 before perhaps. One that is kept from
    -Infinity afterwards, as PyTorch's binary cross-entropy does, is as good as it gets."""
    for op in x.forward:
        if op.type == "Log" and op.name in x.behind_losses and not _is_caught(x, op):
            source, guarded = _behind_log(x, op)
            if source is not None:
                yield _by_hand(op, source, guarded)


_GUARDS = frozenset({"Add", "AddV2", "Maximum", "ClipByValue"})
_CATCHES = frozenset({"Maximum", "ClipByValue", "Select", "SelectV2"})


def _is_caught(x: Examined, op: Operation) -> bool:
    """PyTorch's own is made of a plain logarithm here, and known by its scope."""
    if op.scope.rpartition("/")[2].startswith("binary_cross_entropy"):
        return True
    return any(x.graph[edge.op].type in _CATCHES for edge in x.graph.consumers[op.name])


def _behind_log(x: Examined, op: Operation) -> tuple[Operation | None, bool]:
    """The softmax whose logarithm it is, and whether something keeps that from 0."""
    source, guarded = x.source(op), False
    while source is not None and source.type in _GUARDS:
        source, guarded = x.source(source), True
    return (source if source is not None and source.type in _LOGARITHMS else None), guarded


def _by_hand(op: Operation, source: Operation, guarded: bool) -> Finding:
    fused = _LOGARITHMS[source.type]
    if guarded:
        comes = (
            "what keeps it from log(0) caps the loss, and where a probability is smaller than that "
            "hardly anything is learned from the row that is most wrong"
        )
    else:
        where = "a logit below -104" if source.type == "Sigmoid" else "logits that are 104 apart"
        comes = (
            f"at {where} the probability is 0 in float32, its logarithm -Infinity and the gradient "
            "NaN"
        )
    text = f"{op.name} takes the logarithm of {source.name} ({source.type}) by hand: {comes}"
    logits = source.inputs[0]
    of = "" if logits is None else f" of {logits.short}"
    fix = f"use {fused}{of}, or a cross-entropy with logits"
    direct = source.type == "Softmax" and op.inputs[0] == source.output()
    remedy = Remedy("log_softmax", (op.name, source.name)) if direct else None
    return Finding(op.name, text, fix, "info" if guarded else "warning", remedy)
