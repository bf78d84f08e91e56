"""Element types of results, held to what NumPy gives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.gpu.torch_device.promotion import common, kind, loop, summed

TYPES = [*map(np.dtype, "?bBhHiIlLefdFD"), BFLOAT16]
NUMBERS = (True, 2, 2.5, 2 + 1j)


def values(of: Any) -> Any:
    return np.ones(2, of) if isinstance(of, np.dtype) else of


@pytest.mark.parametrize("name", ["add", "true_divide", "less", "maximum", "power"])
def test_the_result_of_two_operands_is_numpys(name: str) -> None:
    function = getattr(np, name)
    tried = 0
    for a, b in itertools.chain(itertools.product(TYPES, TYPES), itertools.product(TYPES, NUMBERS)):
        kinds = tuple(kind(values(x)) for x in (a, b))
        try:
            wanted = function(values(a), values(b)).dtype
        except TypeError:
            with pytest.raises(TypeError):
                loop(name, kinds)
            continue
        takes, gives = loop(name, kinds)
        assert gives == wanted, (a, b)
        assert len(takes) == 2
        tried += 1
    assert tried > 200


def test_the_type_that_holds_them_all_is_wheres() -> None:
    for a, b in itertools.product(TYPES, NUMBERS):
        chosen = np.where(np.array([True, False]), values(a), b)
        assert common((kind(values(a)), kind(b))) == chosen.dtype, (a, b)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
def test_sums_widen_as_numpy_has_it(name: str) -> None:
    for dtype in TYPES:
        assert summed(name, dtype) == getattr(np, name)(np.ones(3, dtype)).dtype


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        kind([1, 2])
