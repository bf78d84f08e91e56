"""What JAX drew at random: the very numbers, since keys and their generator are not here."""

from __future__ import annotations

from typing import Any

from gradstep.core.lowering.lax.lax_operands import scalar, tensor
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.replayed_numbers import replayed
from gradstep.core.ops.build.builder import Tensor, call

_DRAWN = "the numbers that JAX drew from its keys are constants here"


@lower("random", differs=_DRAWN, draws=True)
def drawn(site: Site) -> Tensor:
    """All that was made of random keys alone; the variant says what was asked for."""
    if (recorded := replayed(site)) is None:
        raise UnloweredError("what it drew was not recorded")
    return recorded


@lower("random_gamma", differs=_DRAWN, draws=True)
def gamma(site: Site, x: Any, log_space: bool = False) -> Tensor:
    """What was drawn of the gamma distribution of shape `x`, or its logarithm. It changes with the
    shape as the number does up to which the same share of the distribution lies."""
    shape, made = tensor(site, x), drawn(site)
    number = call("Exp", made) if log_space else made
    power = call("Mul", call("Sub", shape, scalar(shape, 1)), call("Log", number))
    density = call("Exp", call("Sub", call("Sub", power, number), call("Lgamma", shape)))
    share = call("Neg", call("IgammaGradA", shape, number))
    slope = call("RealDiv", share, call("Mul", density, number) if log_space else density)
    slope = call("SelectV2", call("IsFinite", slope), slope, scalar(shape, 0))
    moved = call("Sub", shape, call("StopGradient", shape))
    return call("AddV2", made, call("Mul", moved, call("StopGradient", slope)))
