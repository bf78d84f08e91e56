"""Early stopping ends at the step at which the least loss is so many steps old."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.patience import Patience

LOSSES = st.lists(st.sampled_from([0.1, 0.2, 0.3, np.nan, np.inf]), max_size=30)


@given(losses=LOSSES, steps=st.integers(1, 5), first=st.integers(0, 9), twice=st.booleans())
def test_it_ends_when_the_least_is_too_old(
    losses: list[float], steps: int, first: int, twice: bool
) -> None:
    patience = Patience(steps)
    for number, loss in enumerate(losses):
        said = patience.ends(first + number, loss)
        if twice:
            assert patience.ends(first + number, loss) == said
        known = [x if x == x else np.inf for x in losses[: number + 1]]
        age = number - known.index(min(known))
        assert bool(said) == (age >= steps)
        if said:
            return


@pytest.mark.parametrize("loss", [1.0, np.nan])
def test_without_patience_it_never_ends(loss: float) -> None:
    patience = Patience(0)
    assert not any(patience.ends(step, loss) for step in range(99))
