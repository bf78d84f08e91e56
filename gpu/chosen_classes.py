"""Which class each row of a tensor chooses, on both devices, and how many choose another one."""

from __future__ import annotations

import numpy as np

from gradstep.gpu.lockstep import Turn

_CHOICES = frozenset(("ArgMax",))
_SCORES = frozenset(("Softmax", "LogSoftmax"))
_LOSSES = frozenset(  # their first input holds scores
    ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
)


def changed_classes(turn: Turn) -> dict[str, float]:
    """classes: how many there are; classes_changed: how many are others on the right. Empty for
    operations that choose none, and where a side has no result."""
    left, right = _classes(turn, 0), _classes(turn, 1)
    if left is None or right is None or left.shape != right.shape or not left.size:
        return {}
    changed = float(np.count_nonzero(left != right))
    return {"classes": float(left.size), "classes_changed": changed}


def _classes(turn: Turn, side: int) -> np.ndarray | None:
    outputs = (turn.left, turn.right)[side].outputs
    inputs = (turn.inputs, turn.inputs_right)[side]
    if turn.op.type in _CHOICES and outputs:
        return outputs[0]
    if turn.op.type in _SCORES and outputs:
        return _largest(outputs[0])
    if turn.op.type in _LOSSES and inputs and inputs[0] is not None:
        return _largest(inputs[0])
    return None


def _largest(scores: np.ndarray) -> np.ndarray | None:
    """The place of the largest in each row; a NaN is the largest."""
    if scores.ndim < 1 or not scores.size:
        return None
    return np.asarray(scores.argmax(axis=-1))
