"""What a number format does to a result, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradstep.core.checks.precision.gradient_underflow import LossScale
from gradstep.core.checks.precision.precision_report import PrecisionReport
from gradstep.core.name_list import name_list

_NAMED = 6  # operations, and gradients


def headline(found: PrecisionReport) -> str:
    """How large the error is."""
    start = f"{_count(found.operations)} in {found.format}"
    many = found.operations != 1
    if not math.isfinite(found.norm):
        return f"{found.target} is not finite in float32 either; why says why."
    if not math.isfinite(found.error):
        return f"{start} {'make' if many else 'makes'} {found.target} infinite or NaN."
    if not found.error:
        return f"{start} {'leave' if many else 'leaves'} {found.target} as it is in float32."
    part = f" ({found.error / found.norm:.2g} of it)" if found.norm else ""
    return f"{start} {'move' if many else 'moves'} {found.target} by {found.error:.3g}{part}."


def overflowing(found: PrecisionReport) -> str:
    """What had to stay in float32 for a finite result; "" for nothing."""
    if not found.overflows:
        return ""
    verb = "overflows" if len(found.overflows) == 1 else "overflow"
    names = name_list(found.overflows, _NAMED)
    return f"{names} {verb}, and stayed in float32: the rest is of the others."


def advice(found: PrecisionReport) -> Iterator[str]:
    """What has to stay in float32, what training comes to, the loss scale, and the remark."""
    if found.error and math.isfinite(found.error):
        yield _kept(found)
    if found.losses:
        yield from _training(found)
    if found.scale is not None:
        yield _scale(found.scale)
    if found.remark:
        yield found.remark


def _kept(found: PrecisionReport) -> str:
    if not found.kept:
        return "Nothing has to stay in float32."
    stay = "stays" if len(found.kept) == 1 else "stay"
    left = f"{found.kept_error:.2g} of {found.error:.3g} is left"
    return f"Enough where {name_list(found.kept, _NAMED)} {stay} in float32: {left}."


def _training(found: PrecisionReport) -> Iterator[str]:
    plain, short, mixed = (found.losses[name] for name in ("float32", found.format, "kept"))
    yield (
        f"Loss after {len(plain)} update{'s' if len(plain) > 1 else ''}: {plain[-1]:.6g} in "
        f"float32, {short[-1]:.6g} in {found.format}, {mixed[-1]:.6g} with those in float32."
    )
    for name, losses in ((f"In {found.format}", short), ("With those in float32", mixed)):
        if len(losses) < len(plain):
            yield f"{name} it is not finite in update {len(losses)}."


def _scale(scale: LossScale) -> str:
    lossy = [one for one in scale.gradients if one.lost]
    if not lossy:
        return "No gradient is too small for float16."
    named = name_list([f"{one.name} ({one.lost:.2g} of it)" for one in lossy], _NAMED)
    left = max(one.lost_scaled for one in lossy)
    then = f"at most {left:.2g} of one" if left else "nothing"
    return (
        f"float16 takes small elements of {len(lossy)} of {len(scale.gradients)} gradients for 0: "
        f"of {named}. With the loss times {scale.scale:g}, {then} is lost."
    )


def _count(number: int) -> str:
    return "1 operation" if number == 1 else f"{number} operations"
