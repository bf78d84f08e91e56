"""What a system does in a corner, in a few words, by its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradstep.core.ops.declare.system_rules import (
    DivideByZero,
    NanExtreme,
    NoRoom,
    OutOfRange,
    Rules,
    Shift,
)

Words = tuple[str, str]  # the field of Rules, whose source it is; and what the system does

_READ = {
    OutOfRange.RAISE: "fails",
    OutOfRange.ZERO: "gives 0",
    OutOfRange.WRAP: "wraps around",
    OutOfRange.CLAMP: "is clamped to the nearest row",
    OutOfRange.NAN: "gives NaN",
}
_WRITTEN = {**_READ, OutOfRange.ZERO: "is dropped", OutOfRange.NAN: "is dropped"}
_CASTS = {
    NoRoom.X86: "what has no room becomes the smallest number, or its low bits",
    NoRoom.XLA: "what has no room becomes the nearest number, and NaN 0",
    NoRoom.CUDA: "what has no room becomes the nearest number of 32 bits at least, and NaN 0",
    NoRoom.TORCH: "what has no room becomes the smallest number, or its low bits of 64",
    NoRoom.ONNXRUNTIME: "what has no room becomes the smallest number, or its low bits",
}
_OVER_ZERO = {
    DivideByZero.RAISE: "an integer over 0 fails",
    DivideByZero.ZERO: "an integer over 0 is 0, and so is what remains",
    DivideByZero.XLA: "an integer over 0 is -1, rounded down, and itself remains",
    DivideByZero.JAX: "an integer over 0 is -2, but 0 over 0 is -1, and 0 remains",
}
_SHIFTS = {
    Shift.CLAMP: "a shift beyond the width is by the width less 1, or by 0",
    Shift.OUT: "a shift beyond the width leaves 0, or the sign",
}


def words(corner: str, rules: Rules) -> Words | None:
    """None for a corner that has no rule of its own."""
    say = _SAY.get(corner)
    return None if say is None else say(rules)


def _segments(rules: Rules) -> Words:
    negative = _WRITTEN[rules.segment_negative]
    above = _WRITTEN[rules.scatter]
    if negative == above:
        return "scatter", f"a segment id out of range {above}"
    return "segment_negative", f"a segment id below 0 {negative}, one out of range {above}"


def _floor(rules: Rules) -> Words:
    if rules.mod_by_floor:
        return "mod_by_floor", "x % y is x - floor(x / y) · y"
    if rules.floor_by_remainder:
        return "floor_by_remainder", "x // y is found by way of the remainder"
    return "floor_by_remainder", "x // y is floor(x / y)"


def _nan_place(rules: Rules) -> Words:
    if rules.nan_in_extremes is NanExtreme.XLA:
        return "nan_in_extremes", "NaN loses its place to what comes after it"
    if rules.nan_is_found:
        return "nan_is_found", "NaN counts as an extreme: the first is found"
    return "nan_is_found", "NaN is passed over"


def _nan_extreme(rules: Rules) -> Words:
    passed = rules.nan_in_extremes is NanExtreme.XLA
    return "nan_in_extremes", "NaN is passed over" if passed else "NaN wins"


def _labels(rules: Rules) -> Words:
    field = "gather" if rules.labels is None else "labels"
    outcome = _READ[rules.labels or rules.gather]
    nan = rules.labels is None and rules.gather is not OutOfRange.RAISE
    return field, f"a label out of range {'gives NaN' if nan else outcome}"


def _classes(rules: Rules) -> Words:
    outside = f"a class out of range {_ROW_OF[rules.one_hot]}"
    return "one_hot", f"{outside}, and -1 the last" if rules.one_hot_from_end else outside


_ROW_OF = {**_READ, OutOfRange.ZERO: "is a row of 0"}
_SAY: Mapping[str, Callable[[Rules], Words]] = {
    "gather": lambda r: ("gather", f"an index out of range {_READ[r.gather]}"),
    "scatter": lambda r: ("scatter", f"an index out of range {_WRITTEN[r.scatter]}"),
    "segments": _segments,
    "one_hot": _classes,
    "labels": _labels,
    "no_room": lambda r: ("no_room", _CASTS[r.no_room]),
    "divide_by_zero": lambda r: ("divide_by_zero", _OVER_ZERO[r.divide_by_zero]),
    "shift_beyond": lambda r: ("shift_beyond", _SHIFTS[r.shift_beyond]),
    "float_floor": _floor,
    "nan_in_place": _nan_place,
    "nan_in_extremes": _nan_extreme,
    "sign_of_nan": lambda r: (
        "sign_of_nan_is_zero",
        f"the sign of NaN is {'0' if r.sign_of_nan_is_zero else 'NaN'}",
    ),
    "empty": lambda r: (
        "empty_extreme_fails",
        "an extreme of nothing " + ("fails" if r.empty_extreme_fails else "is infinite"),
    ),
}
