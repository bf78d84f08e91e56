"""Kernels in all their forms: which of them are NumPy's alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.declare.ufunc import from_calls


def _twice(xp: Any, x: Any) -> Any:
    return x + x


def _calls(xp: Any, x: Any, *, out: Any, room: Any) -> Any:
    yield np.add, x, x, out


def test_what_is_made_of_calls_is_numpys_alone() -> None:
    kernel = Kernels(_twice, calls=_calls)
    assert kernel.only_numpy
    assert kernel.with_plain(lambda xp, x: 2 * x).only_numpy
    assert not Kernels(_twice, out=lambda xp, x, *, out: out, calls=_calls).only_numpy
    assert not Kernels(_twice).only_numpy
    of_any = Kernels(_twice, out=from_calls(_calls), calls=_calls)
    assert not of_any.only_numpy, "it says itself that its calls are those of any array library"
    assert not of_any.with_plain(lambda xp, x: 2 * x).only_numpy
    assert not ufunc("tanh").only_numpy


def test_a_resource_variables_step_is_no_other() -> None:
    for name in ("ApplyAdam", "ApplyGradientDescent"):
        plain, resource = lookup(name).kernel, lookup(f"Resource{name}").kernel
        assert plain.only_numpy == resource.only_numpy
