"""Kernels in all their forms: which of them are NumPy's alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.table import lookup


def _twice(xp: Any, x: Any) -> Any:
    return x + x


def _calls(xp: Any, x: Any, *, out: Any, room: Any) -> Any:
    yield np.add, x, x, out


def test_what_is_made_of_calls_is_numpys_alone() -> None:
    kernel = Kernels(_twice, calls=_calls)
    assert kernel.only_numpy
    assert replace(kernel, plain=lambda xp, x: 2 * x).only_numpy
    assert not Kernels(_twice, out=lambda xp, x, *, out: out, calls=_calls).only_numpy
    assert not Kernels(_twice).only_numpy
    assert not ufunc("tanh").only_numpy


def test_a_resource_variables_step_is_no_other() -> None:
    for name in ("ApplyAdam", "ApplyGradientDescent"):
        plain, resource = lookup(name).kernel, lookup(f"Resource{name}").kernel
        assert plain.only_numpy == resource.only_numpy
