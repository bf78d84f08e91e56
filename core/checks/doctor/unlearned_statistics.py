"""Batch normalisation that is trained with averages which nobody has ever made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.graph.model import Operation

_SCALE, _MEAN, _VARIANCE = 1, 3, 4  # inputs of a FusedBatchNorm


def find_unlearned_statistics(x: Examined) -> Iterator[Finding]:
    """Of those in inference mode whose scale is trained here: one whose averages came from a
    checkpoint is fine-tuned, and frozen on purpose."""
    for op in x.forward:
        if op.type.startswith("FusedBatchNorm") and op.attrs.get("is_training") is False:
            scale = x.variable_read(op, _SCALE)
            if scale and op.name in x.behind_losses and x.moved.get(scale):
                mean, variance = x.variable_read(op, _MEAN), x.variable_read(op, _VARIANCE)
                if _is_new(x, mean, 0) and _is_new(x, variance, 1):
                    yield _finding(op, mean, variance, scale)


def _is_new(x: Examined, name: str, value: float) -> bool:
    """Whether it begins with that in every element, and nothing ever changes it."""
    initial = x.program.initial.get(name)
    return initial is not None and not x.moved.get(name) and bool(np.all(initial == value))


def _finding(op: Operation, mean: str, variance: str, scale: str) -> Finding:
    text = (
        f"{op.name} normalises in inference mode (is_training is false) while {scale} is trained, "
        f"with {mean}, all 0, and {variance}, all 1, which nothing changes: it divides by 1, and "
        "normalises nothing"
    )
    fix = "set is_training while it is trained, or restore the averages from a checkpoint"
    return Finding(op.name, text, fix)
