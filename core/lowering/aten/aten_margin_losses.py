"""Losses of PyTorch that want a margin between what belongs together and what does not."""

from __future__ import annotations

import numpy as np

from gradstep.core.lowering.aten.aten_distances import distance
from gradstep.core.lowering.aten.aten_losses import reduce_loss
from gradstep.core.lowering.aten.aten_reductions import reduced
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import add_axis, cast, rank, scalar, size_at
from gradstep.core.lowering.kinked_functions import smaller
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call

_NO_COSINE = 1e-12  # is added to squares of lengths


def _at_least_0(x: Tensor) -> Tensor:
    """What comes back to 0 itself passes, as PyTorch's clamp_min has it."""
    return call("Maximum", x, scalar(x, 0))


def _where(target: Tensor, holds: str, number: int, x: Tensor) -> Tensor:
    """`x` where the target is "Equal", or "NotEqual", to a number, and 0 elsewhere."""
    return call("SelectV2", call(holds, target, scalar(target, number)), x, scalar(x, 0))


@lower("triplet_margin_loss")
def triplet_margin_loss(
    site: Site,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = smaller(site, far, distance(positive, negative, p, eps))
    wanted = call("Sub", call("AddV2", near, scalar(near, margin)), far)
    return reduce_loss(_at_least_0(wanted), reduction)


@lower("cosine_embedding_loss")
def cosine_embedding_loss(
    site: Site,
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    reduction: int = 1,
) -> Tensor:
    axis = rank(target)

    def summed(a: Tensor, b: Tensor) -> Tensor:
        return reduced("Sum", call("Mul", a, b), axis, False)

    squares = [call("AddV2", summed(x, x), scalar(x, _NO_COSINE)) for x in (input1, input2)]
    cosine = call("RealDiv", summed(input1, input2), call("Sqrt", call("Mul", *squares)))
    alike = _where(target, "Equal", 1, call("Sub", np.ones((), cosine.dtype.numpy), cosine))
    other = _where(target, "Equal", -1, _at_least_0(call("Sub", cosine, scalar(cosine, margin))))
    return reduce_loss(call("AddV2", alike, other), reduction)


@lower("margin_ranking_loss")
def margin_ranking_loss(
    site: Site,
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    reduction: int = 1,
) -> Tensor:
    apart = call("Sub", input1, input2)
    signed = call("Mul", call("Neg", cast(target, apart.dtype)), apart)
    return reduce_loss(_at_least_0(call("AddV2", signed, scalar(signed, margin))), reduction)


@lower("hinge_embedding_loss")
def hinge_embedding_loss(
    site: Site, self: Tensor, target: Tensor, margin: float = 1, reduction: int = 1
) -> Tensor:
    short = _at_least_0(call("Sub", scalar(self, margin), self))
    parts = _where(target, "NotEqual", 1, short), _where(target, "NotEqual", -1, self)
    return reduce_loss(call("AddV2", *parts), reduction)


@lower("multi_margin_loss")
def multi_margin_loss(
    site: Site,
    self: Tensor,
    target: Tensor,
    p: float = 1,
    margin: float = 1,
    weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """Of every class but the wanted one, by how much it comes too near to that."""
    hot = _hot(target, size_at(self, -1))
    wanted = _summed(call("SelectV2", hot, self, scalar(self, 0)))
    short = call("Relu", call("AddV2", call("Sub", self, wanted), scalar(self, margin)))
    short = short if p == 1 else call("Square", short)
    each = call("SelectV2", hot, scalar(self, 0), short)
    if weight is not None:
        each = call("Mul", each, add_axis(call("GatherV2", weight, target, np.int32(0)), -1))
    return reduce_loss(_mean(each), reduction)


@lower("multilabel_margin_loss", "multilabel_margin_loss_forward")
def multilabel_margin_loss(
    site: Site, self: Tensor, target: Tensor, reduction: int = 1
) -> list[Tensor]:
    """Targets are classes, up to the first −1."""
    zero = scalar(target, 0)
    counts = call("Cumprod", call("SelectV2", call("Less", target, zero), zero,
                                  scalar(target, 1)), np.int32(rank(target) - 1))  # fmt: skip
    counts = add_axis(call("NotEqual", counts, zero), -1)  # [.., targets, 1]
    hot = call("LogicalAnd", _hot(target, size_at(self, -1)), counts)  # [.., targets, classes]
    row = add_axis(self, rank(self) - 1)
    wanted = _summed(call("SelectV2", hot, row, scalar(self, 0)))
    short = call("Relu", call("AddV2", call("Sub", row, wanted), scalar(self, 1)))
    others = call("LogicalNot", call("Any", hot, np.array([rank(self) - 1], np.int32),
                                     keep_dims=True))  # fmt: skip
    each = call("SelectV2", call("LogicalAnd", counts, others), short, scalar(self, 0))
    of_targets = call("Sum", each, np.array([rank(self) - 1], np.int32))
    loss = reduce_loss(_mean(of_targets), reduction)
    rest = range(1, len(site.node.outputs))
    return [loss, *(site.constant(site.recorded(i)) for i in rest)]


def _hot(target: Tensor, classes: int) -> Tensor:
    """Along a new last axis, where the class is."""
    return call("OneHot", target, np.int32(classes), np.True_, np.False_)


def _summed(x: Tensor) -> Tensor:
    """Over the last axis, which stays."""
    return reduced("Sum", x, rank(x) - 1, True)


def _mean(x: Tensor) -> Tensor:
    return reduced("Mean", x, rank(x) - 1, False)
