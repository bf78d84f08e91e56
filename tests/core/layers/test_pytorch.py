"""Blocks agree with PyTorch, forward and backward: with what it gave once, and with it itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.environments import NotAvailableError, python_of
from tests.core.layers.pytorch_cases import CASES, RECORDED, Arrays, drawn, grouped, ours, theirs
from tests.support.rounding import Rounding, assert_rounded_alike

RECORDS = grouped(dict(np.load(RECORDED)))


# The longest sums and deepest blocks there are: attention and recurrent cells over a few steps, and
# back. Of numbers around 1.
BLOCK = Rounding(terms=64, steps=4, size=1.0)


def assert_agree(name: str, arrays: Arrays, expected: Arrays) -> None:
    found = ours(name, arrays)
    assert {key for key in found if key.startswith("out")} == {
        key for key in expected if key.startswith("out")
    }
    for key in {*found, *expected}:
        theirs_ = expected.get(key)
        mine = found.get(key, np.zeros(()))
        wanted = np.zeros_like(mine) if theirs_ is None else theirs_  # no gradient: all zero
        assert_rounded_alike(mine, wanted, BLOCK, f"{name}: {key}")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    record = RECORDS[name]
    wanted = {key: a for key, a in record.items() if key.startswith(("out", "grad"))}
    assert any(key.startswith("grad") for key in wanted)
    assert_agree(name, record, wanted)


def test_as_it_is_now() -> None:
    """On other random inputs."""
    try:
        python = python_of("torch", may_install=False)
    except NotAvailableError as error:
        pytest.skip(str(error))
    given = {name: drawn(name, seed=2) for name in CASES}
    found = theirs(python, given)
    for name in CASES:
        assert_agree(name, given[name], found[name])
