"""A variable that is filled again stays where it is, and what is others' is not written to."""

from __future__ import annotations

import numpy as np

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.variable_store import VariableStore


def store(**arrays: object) -> VariableStore:
    return VariableStore(NumpyBackend(), {n: np.asarray(a) for n, a in arrays.items()})


def test_the_same_array_gets_the_new_values() -> None:
    held = store(w=np.zeros(3, np.float32))
    before, version = held["w"], held.version
    given = np.ones(3, np.float32)
    held.refill("w", given)
    assert held["w"] is before
    assert held.version == version
    assert before.tolist() == [1, 1, 1]
    given[0] = 9
    assert before.tolist() == [1, 1, 1]


def test_what_does_not_fit_or_was_not_there_is_set() -> None:
    held = store(w=np.zeros(3, np.float32))
    before = held["w"]
    for array in (np.ones(2, np.float32), np.ones(2, np.int32), np.ones((2, 1), np.int32)):
        version = held.version
        held.refill("w", array)
        assert held.version > version
        np.testing.assert_array_equal(held["w"], array)
        assert held["w"].dtype == array.dtype
    held.refill("b", np.ones(1))
    assert held["b"].tolist() == [1]
    assert before.tolist() == [0, 0, 0]


def test_what_is_others_is_left_to_them() -> None:
    held, lent = store(), np.zeros(2, np.float32)
    held.hold("w", lent)
    held.refill("w", np.ones(2, np.float32))
    assert held["w"].tolist() == [1, 1]
    assert lent.tolist() == [0, 0]
    mine = held["w"]
    held.refill("w", np.full(2, 2, np.float32))
    assert held["w"] is mine


def test_what_is_others_is_copied_to_be_written_to() -> None:
    held, lent, kept = store(b=np.ones(1)), np.zeros(2, np.float32), np.zeros(1)
    lent.flags.writeable = False
    held.hold_all({"w": lent, "v": kept})
    own, version = held["b"], held.version
    held.own(["w", "b"])
    assert held.version > version  # whoever works on its arrays has to look again
    assert held["b"] is own
    assert held["v"] is kept
    held["w"][...] = 3
    assert lent.tolist() == [0, 0]
    mine, version = held["w"], held.version
    held.own(["w", "b"])
    assert held["w"] is mine
    assert held.version == version


def test_what_lies_side_by_side_is_its_own() -> None:
    held, lent = store(), np.ones(2, np.float32)
    held.hold_all({"w": lent, "v": lent})
    held.lay_side_by_side(["w", "v"])
    mine = held["w"]
    held.own(["w", "v"])
    assert held["w"] is mine
    held.refill("w", np.zeros(2, np.float32))
    assert held["w"] is mine
    assert lent.tolist() == [1, 1]
