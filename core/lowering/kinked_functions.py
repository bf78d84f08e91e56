"""Functions with a kink, with the gradient there that PyTorch and JAX give, which is not ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.lowering.lowering_table import Site
from gradstep.core.lowering.plain_operands import scalar
from gradstep.core.ops.build.builder import Tensor, call


def relu(site: Site, x: Tensor) -> Tensor:
    """Theirs is 0 where x is not positive, even if NaN comes back, where TensorFlow's op gives NaN:
    where that happened, it is the op that gives 0, too."""
    came = site.output().gradient
    if came is not None and not np.isfinite(came).all():
        return call("Maximum", np.zeros((), x.dtype.numpy), x)
    return call("Relu", x)


def larger(site: Site, a: Any, b: Any) -> Tensor:
    """The larger of two, of one element type; one of them may be a number."""
    return _extreme(site, "Maximum", "Greater", a, b)


def smaller(site: Site, a: Any, b: Any) -> Tensor:
    return _extreme(site, "Minimum", "Less", a, b)


def _extreme(site: Site, type: str, wins: str, a: Any, b: Any) -> Tensor:
    """Of equal numbers they halve the gradient, where TensorFlow's op gives all of it to the first:
    where equal numbers met, or may, it is their mean."""
    x, y = _known(site, a), _known(site, b)
    a = a if isinstance(a, Tensor) else site.constant(a)
    differ = x is not None and y is not None and not np.equal(x, y).any()
    if differ or not a.dtype.is_floating:
        return call(type, a, b)
    half = scalar(a, 0.5)
    mean = call("AddV2", call("Mul", a, half), call("Mul", b, half))
    return call("SelectV2", call(wins, a, b), a, call("SelectV2", call(wins, b, a), b, mean))


def _known(site: Site, x: Any) -> Any:
    """What an operand was when the framework ran; a number is what it is."""
    return site.value_of(x) if isinstance(x, Tensor) else x
