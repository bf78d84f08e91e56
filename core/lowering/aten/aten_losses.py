"""Losses of PyTorch."""

from __future__ import annotations

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import cast, rank, scalar, size_at, transpose
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_REDUCTIONS = {0: "", 1: "Mean", 2: "Sum"}
_NO_INDEX = -100  # PyTorch's ignore_index by default
_SURE = 1e-12  # x (1 − x) of a probability that is as good as 0 or 1


def reduce_loss(x: Tensor, reduction: int) -> Tensor:
    """As PyTorch numbers them: none, mean, sum."""
    type = _REDUCTIONS[reduction]
    return call(type, x, np.arange(rank(x), dtype=np.int32)) if type else x


@lower("mse_loss")
def mse_loss(site: Site, self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    return reduce_loss(call("SquaredDifference", self, target), reduction)


@lower("l1_loss")
def l1_loss(site: Site, self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    return reduce_loss(call("Abs", call("Sub", self, target)), reduction)


@lower("smooth_l1_loss", "huber_loss")
def smooth_l1_loss(
    site: Site, self: Tensor, target: Tensor, reduction: int = 1, beta: float = 1, delta: float = 1
) -> Tensor:
    is_huber = "huber" in site.node.op
    width = delta if is_huber else beta
    apart = call("Abs", call("Sub", self, target))
    if width == 0:
        return reduce_loss(apart, reduction)
    near = call("Mul", call("Square", apart), scalar(self, 0.5 if is_huber else 0.5 / width))
    far = call("Sub", apart, scalar(self, 0.5 * width))
    far = call("Mul", far, scalar(self, width)) if is_huber else far
    is_near = call("Less", apart, scalar(self, width))
    return reduce_loss(call("SelectV2", is_near, near, far), reduction)


@lower("binary_cross_entropy_with_logits")
def bce_with_logits(
    site: Site,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """(1 − t) x + (1 + (p − 1) t) · softplus(−x)."""
    soft = call("Softplus", call("Neg", self))
    if pos_weight is not None:
        more = call("Mul", call("Sub", pos_weight, scalar(self, 1)), target)
        soft = call("Mul", soft, call("AddV2", more, scalar(self, 1)))
    rest = call("Mul", call("Sub", np.ones((), self.dtype.numpy), target), self)
    each = call("AddV2", rest, soft)
    return reduce_loss(each if weight is None else call("Mul", each, weight), reduction)


@lower("binary_cross_entropy")
def binary_cross_entropy(
    site: Site, self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    known = site.value_of(self)
    sure = known is None or bool((known * (1 - known) < _SURE).any())
    each = _of_sure(self, target) if sure else _between(target, call("Log", self), _log_not(self))
    return reduce_loss(each if weight is None else call("Mul", each, weight), reduction)


def _log_not(x: Tensor) -> Tensor:
    return call("Log1p", call("Neg", x))


def _between(target: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    one = np.ones((), target.dtype.numpy)
    both = call("AddV2", call("Mul", target, yes), call("Mul", call("Sub", one, target), no))
    return call("Neg", both)


def _of_sure(x: Tensor, target: Tensor) -> Tensor:
    """Where a probability is 0 or 1, PyTorch's logarithms end at −100, and its gradient is
    (x − t) / max(x (1 − x), 1e-12), which is not that of these."""
    fixed = call("StopGradient", x)
    logs = (call("Maximum", y, scalar(x, -100)) for y in (call("Log", fixed), _log_not(fixed)))
    exact = _between(target, *logs)
    spread = call("Mul", fixed, call("Sub", np.ones((), x.dtype.numpy), fixed))
    wide = call("Maximum", spread, scalar(x, _SURE))
    slope = call("RealDiv", call("Sub", fixed, call("StopGradient", target)), wide)
    return call("AddV2", exact, call("Mul", call("Sub", x, fixed), slope))


@lower("kl_div")
def kl_div(
    site: Site, self: Tensor, target: Tensor, reduction: int = 1, log_target: bool = False
) -> Tensor:
    if log_target:
        each = call("Mul", call("Exp", target), call("Sub", target, self))
    else:
        each = call("Sub", call("Xlogy", target, target), call("Mul", target, self))
    return reduce_loss(each, reduction)


@lower("cross_entropy_loss")
def cross_entropy(
    site: Site,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = 1,
    ignore_index: int = _NO_INDEX,
    label_smoothing: float = 0,
) -> Tensor:
    """Classes are axis 1; targets are classes, or probabilities of them."""
    logits = _classes_last(self)
    if target.dtype.is_floating:
        return _of_probabilities(site, logits, target, weight, reduction, label_smoothing)
    simple = weight is None and not label_smoothing and not _is_ignored(site, target, ignore_index)
    if simple:
        each, _ = site.builder.op("SparseSoftmaxCrossEntropyWithLogits", *_rows(logits, target))
        return reduce_loss(_like(site, each, target, reduction), reduction)
    if label_smoothing and (weight is not None):
        raise UnloweredError("cross-entropy with weights and smoothed labels")
    logs = call("LogSoftmax", logits)
    return _negative_likelihood(
        site, logs, target, weight, reduction, ignore_index, label_smoothing
    )


@lower("nll_loss", "nll_loss_nd", "nll_loss_forward", "nll_loss2d", "nll_loss2d_forward")
def nll_loss(
    site: Site,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = 1,
    ignore_index: int = _NO_INDEX,
) -> list[Tensor]:
    loss = _negative_likelihood(
        site, _classes_last(self), target, weight, reduction, ignore_index, 0
    )
    rest = range(1, len(site.node.outputs))
    return [loss, *(site.constant(site.recorded(i)) for i in rest)]


def _negative_likelihood(
    site: Site,
    logs: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    smoothing: float,
) -> Tensor:
    """Of log-probabilities [batch, …, classes]; the mean is that of the weights of what counts."""
    classes = size_at(logs, -1)
    counts = call("NotEqual", target, scalar(target, ignore_index))
    safe = call("SelectV2", counts, target, scalar(target, 0))
    hot = call("OneHot", safe, np.int32(classes), np.True_, np.False_)
    last = np.array([rank(logs) - 1], np.int32)
    # Chosen, not multiplied: those of other classes may be infinite.
    each = call("Neg", call("Sum", call("SelectV2", hot, logs, scalar(logs, 0)), last))
    if smoothing:
        evenly = call("Neg", call("Mean", logs, last))
        each = call(
            "AddV2",
            call("Mul", each, scalar(logs, 1 - smoothing)),
            call("Mul", evenly, scalar(logs, smoothing)),
        )
    share = cast(counts, logs.dtype)
    each = call("SelectV2", counts, each, scalar(logs, 0))
    if weight is not None:
        share = call("Mul", share, call("GatherV2", weight, safe, np.int32(0)))
        each = call("Mul", each, share)
    if reduction != 1:
        return reduce_loss(each, reduction)
    every = np.arange(rank(each), dtype=np.int32)
    total, of = call("Sum", each, every), call("Sum", share, every)
    known = site.value_of(target)
    if known is not None and (known != ignore_index).any():
        return call("RealDiv", total, of)
    # Of nothing it is NaN, and zeros come back, as nobody's loss is in it.
    some = call("Any", counts, every)
    found = call("RealDiv", total, call("SelectV2", some, of, scalar(logs, 1)))
    return call("SelectV2", some, found, scalar(logs, np.nan))


def _of_probabilities(
    site: Site,
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    smoothing: float,
) -> Tensor:
    """The mean is over the batch and what is behind it, not over classes."""
    wanted = _classes_last(target)
    if smoothing:
        share = smoothing / size_at(logits, -1)
        wanted = call(
            "AddV2", call("Mul", wanted, scalar(wanted, 1 - smoothing)), scalar(wanted, share)
        )
    logs = call("LogSoftmax", logits)
    logs = logs if weight is None else call("Mul", logs, weight)
    last = np.array([rank(logits) - 1], np.int32)
    return reduce_loss(call("Neg", call("Sum", call("Mul", wanted, logs), last)), reduction)


def _classes_last(x: Tensor) -> Tensor:
    count = rank(x)
    return x if count < 3 else transpose(x, [0, *range(2, count), 1])


def _rows(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """[all, classes] and [all], as the fused op takes them."""
    classes = size_at(logits, -1)
    if rank(logits) == 2:
        return logits, target
    flat = call("Reshape", logits, np.array([-1, classes], np.int32))
    return flat, call("Reshape", target, np.array([-1], np.int32))


def _like(site: Site, each: Tensor, target: Tensor, reduction: int) -> Tensor:
    """A loss for each target, in the targets' shape where they are given out so."""
    if reduction or rank(each) == rank(target):
        return each
    return call("Reshape", each, np.array([-1 if d is None else d for d in target.shape], np.int32))


def _is_ignored(site: Site, target: Tensor, index: int) -> bool:
    """Whether a target is not to count; those that were there when PyTorch ran are looked at."""
    known = site.value_of(target)
    return index != _NO_INDEX or known is None or bool((known == index).any())


@lower("soft_margin_loss")
def soft_margin_loss(site: Site, self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    return reduce_loss(call("Softplus", call("Neg", call("Mul", self, target))), reduction)


@lower("poisson_nll_loss")
def poisson_nll_loss(
    site: Site,
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: int = 1,
) -> Tensor:
    """full: with what Stirling's formula gives of targets above 1."""
    if log_input:
        each = call("Sub", call("Exp", input), call("Mul", target, input))
    else:
        logs = call("Log", call("AddV2", input, scalar(input, eps)))
        each = call("Sub", input, call("Mul", target, logs))
    if full:
        many = call("Greater", target, scalar(target, 1))
        safe = call("SelectV2", many, target, scalar(target, 2))
        rest = call("Sub", call("Mul", safe, call("Log", safe)), safe)
        root = call("Log", call("Mul", safe, scalar(safe, 2 * np.pi)))
        rest = call("AddV2", rest, call("Mul", root, scalar(safe, 0.5)))
        each = call("AddV2", each, call("SelectV2", many, rest, scalar(safe, 0)))
    return reduce_loss(each, reduction)
