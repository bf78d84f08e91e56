"""Elements found: conditions on one element, the next and the previous, round and round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors import element_chunks
from gradstep.core.host.tensors.element_condition import parse_condition
from gradstep.core.host.tensors.element_search import Found, find

HERE = np.array([0, 0.66369, np.nan, np.inf, -3, 5, -np.inf, 5], np.float32)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("5", [5, 7]),
        ("0.66", [1]),
        ("0.664", [1]),
        ("0.67", []),
        ("nan", [2]),
        ("== nan", [2]),
        ("!= nan", [0, 1, 3, 4, 5, 6, 7]),
        ("isnan(value)", [2]),
        ("inf", [3]),
        ("-inf", [6]),
        ("> 3", [3, 5, 7]),
        ("value < 0", [4, 6]),
        ("0 < value < 1", [1]),
        ("abs(value) > 4 and isfinite(value)", [5, 7]),
        ("value == 0 or value == 5", [0, 5, 7]),
        ("not isfinite(value)", [2, 3, 6]),
        ("value == 0", [0]),
    ],
)
def test_a_condition_is_of_one_element(text: str, hits: list[int]) -> None:
    with np.errstate(all="ignore"):
        assert np.flatnonzero(parse_condition(text)(HERE)).tolist() == hits


@pytest.mark.parametrize("text", ["9007199254740993", "9007199254740993e0", "9223372036854775807"])
def test_whole_numbers_are_told_apart_where_floats_are_not(text: str) -> None:
    number = int(text.removesuffix("e0"))
    around = np.array([number - 1, number], np.int64)
    assert parse_condition(text)(around).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1e400", "no element can be that"),
        ("1e-99999", "no element can be that"),
        ("1e-999999999999999999999", "no element can be that"),
        ("", "nothing is asked for"),
        (">", "it is no condition"),
        ("value", "not true or false of an element"),
        ("norm(value) > 1", "norm() is not of one element"),
        ('x["loss:0"] > 1', "it may speak of `value`"),
        ("value > run", "it may speak of `value`"),
        ("weights > 1", "'weights' is not known"),
        ("value > (1, 2)", "cannot"),
        ("__import__('os')", "__import__() is not of one element"),
    ],
)
def test_what_is_no_condition_is_said(text: str, said: str) -> None:
    with pytest.raises(GradstepError) as failure:
        parse_condition(text)(HERE)
    assert said in failure.value.message


@given(
    arrays(np.int32, st.integers(0, 30), elements=st.integers(0, 3)),
    st.integers(-1, 30),
    st.booleans(),
)
def test_next_and_previous_go_round(array: np.ndarray, start: int, forward: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(element_chunks, "CHUNK", 8)
        found = find(array, "== 3", start, forward)
    hits = np.flatnonzero(array == 3).tolist()
    if not hits:
        assert found == Found()
        return
    if forward:
        expected = next((at for at in hits if at > start), hits[0])
    else:
        expected = next((at for at in reversed(hits) if at < start), hits[-1])
    assert found == Found(expected, hits.index(expected) + 1, len(hits))


def test_the_smallest_and_the_largest_are_finite() -> None:
    assert find(HERE, "min", -1, True) == Found(4, 1, 1)
    assert find(HERE, "max", -1, True) == Found(5, 1, 2)
    assert find(HERE, "max", 5, True) == Found(7, 2, 2)
    assert find(np.array([np.nan]), "max", -1, True) == Found()


def test_texts_are_not_compared() -> None:
    with pytest.raises(GradstepError, match="no numbers"):
        find(np.array([b"a"], object), "> 3", -1, True)
