"""Conditions with a name: what people look for most often, as expressions of the one language.

Loads no NumPy: menus are filled from here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadyCondition:
    """word: what it is called in the console; title: in a menu; text: the expression, about `value`
    or `grad`, with numbers to be changed as one likes."""

    word: str
    title: str
    text: str


READY = (
    ReadyCondition("nan", "NaN", "isnan(value)"),
    ReadyCondition("inf", "Infinity", "isinf(value)"),
    ReadyCondition("broken", "NaN or infinity", "not all(isfinite(value))"),
    ReadyCondition("zero", "All zero", "size(value) > 0 and count(value) == 0"),
    ReadyCondition("zero_gradient", "Gradient all zero", "size(grad) > 0 and count(grad) == 0"),
    ReadyCondition("none", "No gradient: None", "isnone(grad)"),
    ReadyCondition("dead", "Dead units: more than half", "rank(value) > 1 and dead(value) > 0.5"),
    ReadyCondition("saturated", "Saturated: more than nine tenths", "saturated(value, 0, 1) > 0.9"),
    ReadyCondition("range", "Out of a range", "value < -100 or value > 100"),
    ReadyCondition("shape", "Another shape than before", "shape(value) != previous(shape(value))"),
    ReadyCondition(
        "grown", "10 times larger than before", "norm(value) > 10 * previous(norm(value))"
    ),
    ReadyCondition(
        "grown_gradient",
        "Gradient 10 times larger than before",
        "norm(grad) > 10 * previous(norm(grad))",
    ),
)


def condition_named(text: str) -> str:
    """The expression that a word stands for; any other text as it is."""
    return next((ready.text for ready in READY if ready.word == text.strip()), text)
