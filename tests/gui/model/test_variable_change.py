"""What an update changed is seen in the digits, and said when there is no room for them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.host.tensor_statistics import difference, differs, summarize
from gradstep.gui.model import number_text, variable_change
from gradstep.gui.model.value_cache import TensorValue, Update

FLOATS = st.floats(-1e4, 1e4, width=32)
SMALL = st.floats(1e-7, 1.0).flatmap(lambda x: st.sampled_from([x, -x]))


def updated(before: object, after: object) -> TensorValue:
    """What the engine would say of a variable, all of whose elements are here."""
    old, new = np.asarray(before), np.asarray(after)
    delta = summarize(difference(new, old)) if new.dtype.kind in "iufc" else None
    update = Update(0, old.reshape(-1), delta, int(differs(new, old).sum()))
    dtype, stats = str(new.dtype), summarize(new)
    return TensorValue("w:0", "known", dtype, new.shape, new.reshape(-1), stats, "", update)


def floats(*values: float) -> np.ndarray:
    return np.float32(values)


@given(st.lists(st.tuples(FLOATS, SMALL), min_size=1, max_size=4))
def test_the_largest_change_is_seen_in_the_digits(pairs: list[tuple[float, float]]) -> None:
    before = floats(*(x for x, _ in pairs))
    after = before + floats(*(d for _, d in pairs))
    value = updated(before, after)
    found = variable_change.of(value)
    assert found is not None
    if not (before != after).any():
        assert found.size == "unchanged"
        return
    largest = int(np.abs(after.astype(float) - before).argmax())
    assert found.before[largest] != found.after[largest]
    assert len(found.before) == len(found.after) == len(found.delta) == len(pairs)
    for text, old in zip(found.before, before.tolist(), strict=True):
        assert abs(float(text) - old) <= abs(after[largest] - before[largest])


@given(st.lists(FLOATS, min_size=1, max_size=6), st.data())
def test_a_difference_has_its_sign(values: list[float], data: st.DataObject) -> None:
    before = floats(*values)
    after = floats(*data.draw(st.permutations(values)))
    found = variable_change.of(updated(before, after))
    assert found is not None
    for text, delta in zip(found.delta, after.astype(float) - before, strict=False):
        assert {"+": 1.0, "-": -1.0}.get(text[0], 0.0) == np.sign(delta)


def test_as_many_decimals_as_the_change_needs() -> None:
    found = variable_change.of(updated(floats(0.06, -0.04), floats(0.059, -0.0388)))
    assert found is not None
    assert found.before == ["0.0600", "-0.0400"]
    assert found.after == ["0.0590", "-0.0388"]
    assert found.delta == ["-0.0010", "+0.0012"]
    assert found.size == "‖Δ‖ 0.00156, 2.21 % of the norm"


def test_no_more_digits_than_the_dtype_has() -> None:
    before = np.float32(1000.0)
    found = variable_change.of(updated(before, np.nextafter(before, np.float32(2000))))
    assert found is not None
    assert (found.before, found.after) == (["1000.00000"], ["1000.00006"])
    assert found.delta == ["+0.000061"]


def test_tiny_and_whole_and_wrong_numbers() -> None:
    tiny = variable_change.of(updated(floats(1e-9), floats(1.5e-9)))
    assert tiny is not None
    assert (tiny.before, tiny.after, tiny.delta) == (["1.000e-9"], ["1.500e-9"], ["+5.0e-10"])
    counted = variable_change.of(updated(np.int64(7), np.int64(8)))
    assert counted is not None
    assert (counted.before, counted.after, counted.delta) == (["7"], ["8"], ["+1"])
    wrong = variable_change.of(updated(floats(1.0, 2.0), floats(np.nan, 2.0)))
    assert wrong is not None
    assert wrong.after[0] == wrong.delta[0] == "NaN"


def test_words_where_there_are_no_differences() -> None:
    flags = variable_change.of(updated(np.array([True, False]), np.array([True, True])))
    assert flags is not None
    assert (flags.after, flags.delta, flags.size) == (
        ["True", "True"],
        [],
        "1 of 2 elements changed",
    )
    first = variable_change.of(TensorValue("w:0", "known", "float32", (), floats(1.0), None, "",
                                  Update(3, None, None, 1)))  # fmt: skip
    assert first is not None
    assert first.size == "first value"
    same = variable_change.of(updated(floats(1.0), floats(1.0)))
    assert same is not None
    assert same.size == "unchanged"
    assert variable_change.of(TensorValue("d:0", "known", "float32", (), floats(1.0))) is None


def test_a_row_has_all_elements_or_none() -> None:
    value = updated(floats(0.06, -0.04), floats(0.059, -0.0388))
    found = variable_change.of(value)
    assert found is not None
    assert variable_change.row(found.after, value, 19) == "[  0.0590 -0.0388 ]"
    assert variable_change.row(found.after, value, 18) == "[0.0590 -0.0388]"
    assert variable_change.row(found.after, value, 15) == ""
    matrix = updated(np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32))
    assert variable_change.row(["1"] * 4, matrix, 99) == "[[1 1][1 1]]"


def test_a_difference_is_not_written_as_none() -> None:
    found = variable_change.of(updated(floats(1.0, 1.0), floats(1.5, 1.0000001)))
    assert found is not None
    assert found.delta == ["+0.500", "+1.2e-7"]


def test_a_value_has_the_digits_of_what_is_shown_beside_it() -> None:
    value = updated(floats(0.05, 0.13), floats(0.04986, 0.13014))
    assert variable_change.brief(value, 32) == "[0.04986 0.13014]"


def test_what_is_updated_is_another_value() -> None:
    plain = updated(floats(1.0), floats(2.0))
    other = updated(floats(1.5), floats(2.0))
    assert plain.says_the_same_as(updated(floats(1.0), floats(2.0)))
    assert not plain.says_the_same_as(other)


def test_exponents_follow_rounding() -> None:
    assert [number_text.exponent(x) for x in (0.0009999, 0.00094, 1.0, 99.6)] == [-3, -4, 0, 2]
