"""Garbage is looked for the more seldom the more there is, in a process that says so."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from gradstep.core import garbage_collection
from gradstep.core.garbage_collection import collect_rarely


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    threshold, callbacks = gc.get_threshold(), [*gc.callbacks]
    yield
    gc.callbacks[:] = callbacks
    gc.set_threshold(*threshold)


def test_the_more_there_is_the_more_is_made_before_garbage_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocks = [1_000_000]
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: blocks[0])
    for _ in range(2):  # who says it twice has said it once
        collect_rarely()
    assert gc.callbacks.count(garbage_collection._put_off_again) == 1
    seldom, *others = gc.get_threshold()
    assert seldom == 250_000
    for blocks[0], wanted in ((16_000_000, 2_000_000), (1_000_000, 250_000)):
        gc.collect()
        assert gc.get_threshold() == (wanted, *others)
