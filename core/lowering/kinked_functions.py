"""Functions with a kink or a step, with the gradient that PyTorch and JAX give: not always ours."""

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


def flat(value: Tensor, *of: Any) -> Tensor:
    """`value`, from which zeros come back to the tensors among `of`, which broadcast to its shape,
    where TensorFlow's op has no gradient, or makes NaN of a slope that is none."""
    found = call("StopGradient", value)
    for x in of:
        if isinstance(x, Tensor) and x.dtype is value.dtype:
            found = call("SelectV2", np.False_, x, found)
    return found


def power(site: Site, a: Any, b: Any) -> Tensor:
    """a to the power of b, of one element type; one of them may be a number. Where b is 0, nothing
    but zeros comes back to a, and of 0 to the 0 to both; TensorFlow's op gives NaN where a is 0."""
    if not isinstance(a, Tensor):
        return call("Pow", a if isinstance(b, Tensor) else site.constant(a), b)
    if not isinstance(b, Tensor) and not np.any(b):
        return flat(call("Pow", a, b), a)
    if not _meet(site, a, b):
        return call("Pow", a, b)
    zero = call("LogicalAnd", call("Equal", a, scalar(a, 0)), call("Equal", b, scalar(a, 0)))
    return call("Pow", call("SelectV2", zero, scalar(a, 1), a), b)


def angle(site: Site, y: Tensor, x: Tensor) -> Tensor:
    """atan2(y, x), whose gradient is 0 where both are, and NaN in TensorFlow's op."""
    found = call("Atan2", y, x)
    if not _meet(site, y, x):
        return found
    zero = call("LogicalAnd", call("Equal", y, scalar(y, 0)), call("Equal", x, scalar(x, 0)))
    elsewhere = call("Atan2", y, call("SelectV2", zero, scalar(x, 1), x))
    return call("SelectV2", zero, call("StopGradient", found), elsewhere)


def times_log(site: Site, x: Tensor, y: Tensor) -> Tensor:
    """x log y, and 0 where x is, unless y is NaN. What comes back to x is 0 where x is 0 and y not
    above it, or infinite, and NaN comes back to y where both are 0."""
    zero = call("Equal", x, scalar(x, 0))
    no_slope = call("LogicalOr", call("LessEqual", y, scalar(x, 0)), call("IsInf", y))
    none = call("LogicalAnd", zero, no_slope)
    found = call("Mul", x, call("Log", call("SelectV2", none, scalar(x, 1), y)))
    if not _meet(site, x, y):
        return found
    both = call("LogicalAnd", zero, call("Equal", y, scalar(x, 0)))
    root = call("Pow", call("SelectV2", both, y, scalar(x, 1)), scalar(x, 0.5))
    steep = call("Mul", root, scalar(x, 0))  # 0, of a slope that is 0 times infinity
    return call("AddV2", found, call("SelectV2", both, steep, scalar(x, 0)))


def _meet(site: Site, a: Tensor, b: Any) -> bool:
    """Whether two floats were 0 in one place, or may be."""
    if not a.dtype.is_floating:
        return False
    x, y = _known(site, a), _known(site, b)
    return x is None or y is None or bool(np.any((x == 0) & (y == 0)))


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
