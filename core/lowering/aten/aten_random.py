"""What PyTorch draws at random. What it drew is replayed; what no record has is drawn anew."""

from __future__ import annotations

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower, lower_as_given
from gradstep.core.lowering.aten.aten_tensors import cast, ints, scalar
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.replayed_numbers import replayed
from gradstep.core.ops.build.builder import Tensor, call

REPLAYED = (
    "the numbers that PyTorch drew are constants here: it has another generator; a .pt2 has none, "
    "and other ones are drawn in each run"
)
_DREW = {
    "rand": "RandomUniform",
    "rand_like": "RandomUniform",
    "randn": "RandomStandardNormal",
    "randn_like": "RandomStandardNormal",
}


@lower_as_given(
    "rand",
    "randn",
    "rand_like",
    "randn_like",
    "randint",
    "randint_like",
    "randperm",
    "bernoulli",
    "normal",
    "multinomial",
    "poisson",
    "normal_functional",
    "uniform",
    "exponential",
    "bernoulli.p",
    "normal.Tensor_Tensor",
    ignores=(
        "dtype",
        "memory_format",
        "n",
        "m",
        "size",
        "p",
        "low",
        "high",
        "generator",
        "mean",
        "std",
        "num_samples",
        "replacement",
        "from",
        "to",
        "lambd",
    ),
    differs=REPLAYED,
    draws=True,
)
def drawn(site: Site, self: Tensor | None = None) -> Tensor:
    if (recorded := replayed(site)) is not None:
        return recorded
    own = _DREW.get(site.node.op.split(".")[1])
    if own is None:
        raise UnloweredError("what it drew was not recorded")
    return call(
        own, ints(site.sizes()) if self is None else call("Shape", self), dtype=site.dtype()
    )


@lower_as_given(
    "rrelu_with_noise_functional",
    ignores=("noise", "lower", "upper", "generator", "training"),
    differs=REPLAYED,
    draws=True,
)
def rrelu(site: Site, self: Tensor) -> list[Tensor]:
    """The slopes are the very ones that PyTorch drew."""
    slopes = replayed(site, 1)
    if slopes is None:
        raise UnloweredError("what it drew was not recorded: write the trace with values=True")
    return [call("Mul", self, slopes), slopes]


@lower("native_dropout", differs=REPLAYED, draws=True)
def native_dropout(site: Site, input: Tensor, p: float, train: bool | None = True) -> list[Tensor]:
    """The mask is the very one that PyTorch drew."""
    if not train or p == 0:
        return [call("Identity", input), call("Fill", call("Shape", input), np.True_)]
    recorded = replayed(site, 1)
    mask = recorded if recorded is not None else kept_at_random(input, p)
    return [_scaled(input, mask, p), mask]


@lower("dropout", "feature_dropout", differs=REPLAYED, draws=True)
def dropout(site: Site, input: Tensor, p: float, train: bool) -> Tensor:
    """One that trains is in no trace, which has its mask."""
    if not train or p == 0:
        return call("Identity", input)
    if "feature" in site.node.op:
        raise UnloweredError("whole channels are dropped, and which was not recorded")
    return dropped(input, p)


@lower("alpha_dropout", ignores=("p",))
def alpha_dropout(site: Site, input: Tensor, train: bool) -> Tensor:
    if train:
        raise UnloweredError("a mask that was not recorded")
    return call("Identity", input)


def dropped(x: Tensor, p: float) -> Tensor:
    """Each element 0 with probability p, drawn in each run; else divided by 1 - p."""
    return _scaled(x, kept_at_random(x, p), p)


def kept_at_random(x: Tensor, p: float) -> Tensor:
    """bool, of the shape of x: True with probability 1 - p."""
    noise = call("RandomUniform", call("Shape", x), dtype=x.dtype)
    return call("GreaterEqual", noise, scalar(x, p))


def _scaled(x: Tensor, mask: Tensor, p: float) -> Tensor:
    scaled = call("Mul", x, scalar(x, 0 if p == 1 else 1 / (1 - p)))
    return call("Mul", scaled, cast(mask, x.dtype))
