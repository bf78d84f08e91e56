"""Complex numbers in NumPy's order: by the real part, then by the imaginary one."""

from __future__ import annotations

from collections.abc import Callable

import torch

Compute = Callable[..., torch.Tensor]


def ordered(strict: Compute, real: Compute) -> Compute:
    """A comparison of numbers that are real or complex. real: that of real ones; strict: the same
    without equality."""

    def compare(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not (x.is_complex() or y.is_complex()):
            return real(x, y)
        tied = (x.real == y.real) & real(x.imag, y.imag)
        return strict(x.real, y.real) | tied

    return compare


def extreme(before: Compute, real: Compute) -> Compute:
    """The larger or the smaller of two. before: whether the first one is; real: that of real
    ones. What is not a number is passed on."""

    def choose(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not (x.is_complex() or y.is_complex()):
            return real(x, y)
        return torch.where(before(x, y) | torch.isnan(x), x, y)

    return choose


LESS = ordered(torch.lt, torch.lt)
LESS_EQUAL = ordered(torch.lt, torch.le)
GREATER = ordered(torch.gt, torch.gt)
GREATER_EQUAL = ordered(torch.gt, torch.ge)
MAXIMUM = extreme(GREATER_EQUAL, torch.maximum)
MINIMUM = extreme(LESS_EQUAL, torch.minimum)
