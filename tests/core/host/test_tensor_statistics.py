"""Statistics are those of the elements, whatever is among them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.host.tensor_statistics import summarize

_SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324]
_NUMBERS = st.lists(st.sampled_from(_SPECIAL) | st.floats(-1e3, 1e3), max_size=9)


def _norm(numbers: list[float]) -> float:
    """NaN where one is, and not infinite beside it, as math.hypot has it."""
    return math.nan if any(map(math.isnan, numbers)) else math.hypot(*numbers)


@given(_NUMBERS)
def test_of_any_numbers(numbers: list[float]) -> None:
    found = summarize(np.array(numbers, np.float64))
    finite = [x for x in numbers if math.isfinite(x)]
    assert found is not None
    assert (found.nans, found.infs) == (
        sum(map(math.isnan, numbers)),
        sum(map(math.isinf, numbers)),
    )
    assert found.zeros == numbers.count(0.0)
    assert (found.norm is None) == (not numbers)
    assert found.norm == pytest.approx(_norm(numbers), nan_ok=True) or not numbers
    if not finite:
        assert found.minimum is found.maximum is found.mean is None
        return
    assert (found.minimum, found.maximum) == (min(finite), max(finite))
    assert found.mean is not None
    if math.isfinite(sum(map(abs, finite))):  # in whatever order they are added
        assert found.mean == pytest.approx(sum(finite) / len(finite), rel=1e-9, abs=1e-9)


def test_one_complex_number_may_be_both() -> None:
    found = summarize(np.array([complex(math.nan, math.inf), 3 + 4j], np.complex64))
    assert found is not None
    assert (found.nans, found.infs, found.maximum) == (1, 1, 5.0)
    assert found.norm is not None
    assert math.isnan(found.norm)


def test_a_modulus_too_large_is_infinite_and_its_number_is_not() -> None:
    found = summarize(np.array([complex(3e38, 3e38)], np.complex64))
    assert found is not None
    assert (found.nans, found.infs, found.maximum) == (0, 0, math.inf)
