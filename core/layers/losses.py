"""Blocks of `tf.losses`: one number for a batch, weighted and reduced."""

from __future__ import annotations

from typing import Any

from gradstep.core.layers.block_settings import choice, number, whole
from gradstep.core.layers.block_table import Build, Outputs, block, here
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_loss_weights import REDUCTIONS
from gradstep.core.ops.build.builder import Tensor

_ELEMENTS = "{}:float32[2,3] labels:float32[2,3] weights?:float32[2,1]"
_ROWS = "logits:float32[2,3] labels:{} weights?:float32[2]"
_PREDICTIONS, _LOGITS = _ELEMENTS.format("predictions"), _ELEMENTS.format("logits")
_REDUCTION = choice("what becomes of the losses; by default their weighted mean", *REDUCTIONS)
_SMOOTHING = number(0.0, "how much of each label is spread over the classes", least=0, below=1)

# function of tf.losses -> inputs, what it is, settings besides the reduction
_LOSSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mean_squared_error": (_PREDICTIONS, "The mean of (prediction - label)².", {}),
    "absolute_difference": (_PREDICTIONS, "The mean of |prediction - label|.", {}),
    "huber_loss": (
        _PREDICTIONS,
        "Quadratic for errors up to delta, linear beyond (Huber 1964).",
        {"delta": number(1.0, "where the square ends", least=0)},
    ),
    "hinge_loss": (_LOGITS, "The mean of max(0, 1 - (2 label - 1) logit), labels 0 or 1.", {}),
    "log_loss": (
        _PREDICTIONS,
        "The log loss of probabilities, kept finite by epsilon.",
        {"epsilon": number(1e-7, "what is added inside the logarithm", least=0)},
    ),
    "cosine_distance": (
        _PREDICTIONS,
        "1 - the product of vectors of length one.",
        {"axis": whole(1, "the axis of the vectors", least=-8)},
    ),
    "sigmoid_cross_entropy": (
        _LOGITS,
        "The mean loss of yes-or-no labels.",
        {"label_smoothing": _SMOOTHING},
    ),
    "softmax_cross_entropy": (
        _ROWS.format("float32[2,3]"),
        "The mean loss of one label distribution per row; labels get no gradient.",
        {"label_smoothing": _SMOOTHING},
    ),
    "sparse_softmax_cross_entropy": (
        _ROWS.format("int32[2]"),
        "The mean loss of one class number per row.",
        {},
    ),
}


def _called(function: str) -> Build:
    """Weights are a scalar, or have as many axes as the losses."""

    def build(predictions: Tensor, labels: Tensor, weights: Tensor | None, **how: Any) -> Outputs:
        given = {} if weights is None else {"weights": weights}
        return getattr(tf.losses, function)(labels, predictions, **given, **how, scope=here())

    return build


for _function, (_inputs, _doc, _settings) in _LOSSES.items():
    block(
        # A cross-entropy of tf.nn, for each row, is another block.
        f"{_function}_loss" if "cross_entropy" in _function else _function,
        _inputs,
        f"{_doc} Source: tf.losses.{_function}.",
        **_settings,
        reduction=_REDUCTION,
    )(_called(_function))

block(
    "mean_pairwise_squared_error",
    _PREDICTIONS,
    "How far differences between a row's elements are apart, squared. Source: "
    "tf.losses.mean_pairwise_squared_error.",
)(_called("mean_pairwise_squared_error"))
