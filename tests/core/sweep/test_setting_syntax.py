"""Settings as they are written: ranges, lists, and what is neither."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.sweep.setting_syntax import Setting, draw, parse_setting, split_values
from tests.support.each_case import each_of

POSITIVE = st.floats(1e-6, 1e6)


@given(POSITIVE, st.floats(2, 1e6), st.integers(2, 12), st.sampled_from(["log", "lin"]))
def test_a_range_is_evenly_spread_from_one_end_to_the_other(
    low: float, ratio: float, count: int, scale: str
) -> None:
    high = low * ratio
    found = [float(v) for v in parse_setting(f"x={low!r}:{high!r}:{scale}{count}").values]
    assert (found[0], found[-1]) == (pytest.approx(low, rel=1e-5), pytest.approx(high, rel=1e-5))
    assert len(found) == count
    on_scale = [math.log(v) for v in found] if scale == "log" else [v / high for v in found]
    gaps = [b - a for a, b in pairwise(on_scale)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps), abs=4e-5)  # six digits are written


@given(POSITIVE, POSITIVE, st.floats(0, 1))
def test_what_is_drawn_lies_in_the_range(low: float, high: float, share: float) -> None:
    for scale in ("log", "lin"):
        span = parse_setting(f"x={low}:{high}:{scale}").span
        assert span is not None
        number = float(draw(span, share))
        assert min(low, high) * (1 - 1e-5) <= number <= max(low, high) * (1 + 1e-5)


@given(
    st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), min_size=1)
)
def test_a_list_is_its_parts_once_each(parts: list[str]) -> None:
    assert split_values(",".join(parts)) == parts
    assert parse_setting("x=" + ",".join(parts)).values == tuple(dict.fromkeys(parts))


def test_commas_in_brackets_and_quotes_part_nothing() -> None:
    found = parse_setting("w=normal([4, 8], 0, 1),@f.csv:a,zeros(),'a,b',[1,2]")
    assert found.values == ("normal([4, 8], 0, 1)", "@f.csv:a", "zeros()", "'a,b'", "[1,2]")
    assert found.span is None


@each_of(
    ("text", "values"),
    [
        ("x=1:4:4", ("1", "2", "3", "4")),
        ("x=8:64:log4", ("8", "16", "32", "64")),
        ("x=0:1:lin5", ("0", "0.25", "0.5", "0.75", "1")),
        ("x=1e-4:1e-2:log3", ("0.0001", "0.001", "0.01")),
        ("x=2:1:3", ("2", "1.5", "1")),
        ("x=3:9:1", ("3",)),
        ("net/w:0=0.5", ("0.5",)),
    ],
)
def test_ranges_and_values(text: str, values: tuple[str, ...]) -> None:
    assert parse_setting(text).values == values


def test_a_range_without_a_number_of_values_is_for_drawing() -> None:
    found = parse_setting("x=1e-4:1:log")
    assert isinstance(found, Setting)
    assert (found.values, found.span and found.span.scale) == ((), "log")


def test_too_many_values_are_said_to_be_so() -> None:
    for text in ("x=1:2:lin1000000", f"x=1:2:{'9' * 5000}"):
        with pytest.raises(GradstepError, match="a range of too many values"):
            parse_setting(text)
    found = parse_setting("x=1:2:lin0000005")
    assert isinstance(found, Setting)
    assert len(found.values) == 5


@each_of("text", ["x", "=1", "x=", "x=1,,2", "x=0:1:log3", "x=-1:1:log", "x=1:2:log0", "a b=1"])
def test_what_is_no_setting_is_said(text: str) -> None:
    with pytest.raises(GradstepError) as caught:
        parse_setting(text)
    assert caught.value.kind == "UsageError"
    assert text in caught.value.message
