"""Values in a line: of watches, queries, and what logpoints write."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.debug.value_words import value_text
from tests.support.each_case import each_of

F = np.float32


@each_of(
    ("value", "text"),
    [
        (F(0.25), "0.25"),
        (np.float64("nan"), "NaN"),
        (F("-inf"), "-Inf"),
        (True, "True"),
        (np.bool_(False), "False"),
        (np.int64(2**62), "4611686018427387904"),
        (F(-0.0), "0"),
        (np.full(9, -0.0), "[9]  all 0"),
        (1 + 2j, "(1+2j)"),
        ((2, 3), "(2, 3)"),
        (np.array([1.5, np.nan], F), "[1.5 NaN]"),
        (np.array([[1, 2]]), "[[1 2]]"),
        (np.zeros((0, 3)), "0×3 empty"),
        (np.arange(9.0), "[9]  0 to 8"),
        (np.full((3, 4), np.nan), "3×4  12 NaN"),
        (np.array([1, np.inf] * 5), "[10]  5 Inf, else all 1"),
    ],
)
def test_a_value_in_a_line(value: Any, text: str) -> None:
    assert value_text(value) == text
