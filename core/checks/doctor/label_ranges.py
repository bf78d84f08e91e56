"""Labels that are no class: one-hot rows of zeros, which no loss complains about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import share
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.graph.model import Operation, TensorRef

_SPARSE = "SparseSoftmaxCrossEntropyWithLogits"


def find_labels_out_of_range(x: Examined) -> Iterator[Finding]:
    """Of what is fed, or is a constant: -1 stands for no class on purpose, where one-hot rows are
    made of it."""
    for op in x.forward:
        if op.type not in ("OneHot", _SPARSE) or op.name not in x.behind_losses:
            continue
        at, classes = (0, _depth(x, op)) if op.type == "OneHot" else (1, _width(x, op))
        ref, labels = _labels(x, op, at)
        if labels is None or classes is None or ref is None:
            continue
        least = -1 if op.type == "OneHot" else 0
        wrong = labels[(labels < least) | (labels >= classes)]
        if wrong.size:
            yield _finding(op, ref, classes, labels, wrong)


def _depth(x: Examined, op: Operation) -> int | None:
    depth = x.constant(op.inputs[1]) if len(op.inputs) > 1 else None
    return None if depth is None or depth.size != 1 else int(depth.reshape(-1)[0])


def _width(x: Examined, op: Operation) -> int | None:
    shape = x.shape(op.inputs[0])
    return shape[-1] if shape else None


def _labels(x: Examined, op: Operation, index: int) -> tuple[TensorRef | None, np.ndarray | None]:
    """What an input is fed, behind what only passes it on, and what that is."""
    source = x.source(op, index)
    while source is not None and source.type == "Cast":
        source = x.source(source)
    if source is None:
        return None, None
    ref = source.output()
    value = x.program.feeds.get(ref)
    held = x.constant(ref) if value is None else value
    return ref, None if held is None or held.dtype.kind not in "iuf" else held


def _finding(
    op: Operation, ref: TensorRef, classes: int, labels: np.ndarray, wrong: np.ndarray
) -> Finding:
    lie = f"{share(wrong.size, labels.size)} of the labels in {ref.short}"
    first = wrong.reshape(-1)[0]
    text = f"{lie} are no class of the {classes} that {op.name} has, 0 to {classes - 1}: {first:g} "
    if op.type == _SPARSE:
        text += "fails on a CPU, and gives a loss of NaN on a GPU"
    else:
        text += "gives a row of zeros there, of which a cross-entropy is 0 whatever is predicted"
    fix = f"count classes from 0, or let there be {int(labels.max()) + 1}"
    return Finding(op.name, text, fix)
