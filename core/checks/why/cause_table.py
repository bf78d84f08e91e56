"""What can be wrong with a number, in words: the causes that explanations name.

Ops declare theirs by these names (`breaks`, `flat` and `vanishes` in core/ops/declare/table.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """says: what it comes from, as a clause; fix: what to do, "" where there is nothing."""

    says: str
    fix: str = ""


_ABOVE_ZERO = "keep {operand} above 0: write {operand} + 1e-7, or Maximum({operand}, 1e-7)"
_NOT_NEGATIVE = "keep {operand} above 0, as Maximum({operand}, 1e-7) does"
_DIVISOR = "keep {operand} away from 0, or use DivNoNan, which gives 0 there"
_SATURATED = (
    "make its input smaller (weights, scale, learning rate), or take the loss from the logits"
)

CAUSES = {
    # -- NaN and infinity ----------------------------------------------------------------------
    "log_of_zero": Cause("the logarithm of 0 is minus infinity", _ABOVE_ZERO),
    "log_of_negative": Cause("a negative number has no logarithm", _NOT_NEGATIVE),
    "root_of_negative": Cause("a negative number has no root", "keep {operand} at 0 or above"),
    "root_at_zero": Cause(
        "the slope of a root is infinite at 0", "add a small number under it, such as 1e-12"
    ),
    "division_by_zero": Cause("it is a division by 0", _DIVISOR),
    "zero_over_zero": Cause("it is 0 divided by 0", _DIVISOR),
    "infinity_over_infinity": Cause("it is infinity over infinity", "scale both down first"),
    "zero_to_negative_power": Cause(
        "0 to a negative power is infinite; the derivative of x to the y has the power y - 1",
        "keep {operand} away from 0",
    ),
    "negative_to_fraction": Cause(
        "a negative number has no power that is not whole", "keep {operand} at 0 or above"
    ),
    "outside_domain": Cause("the function is not defined there", "clip {operand} first"),
    "at_pole": Cause("the function is infinite there", "clip {operand} first"),
    "infinity_minus_infinity": Cause("it is infinity minus infinity"),
    "zero_times_infinity": Cause("it is 0 times infinity"),
    "infinities": Cause("it is made of infinities"),
    "overflow": Cause(
        "it overflows, the result is too large for {dtype} (at most {largest})",
        "scale down what comes in, or subtract the largest first, as LogSoftmax and the losses "
        "that take logits do",
    ),
    "undefined": Cause("it has no value there"),
    "empty": Cause("there are no elements to reduce", "keep empty batches out"),
    # -- zero ------------------------------------------------------------------------------------
    "zero_factor": Cause("{operand} is 0 there", "change {operand}, if it is not to be a mask"),
    "zero_weights": Cause(
        "{operand} is 0 there", "let {operand} begin with other numbers, such as small random ones"
    ),
    "not_chosen": Cause(
        "{operand} chooses another value there",
        "change {operand}, or let the gradient through on both sides",
    ),
    "not_extreme": Cause("it takes {operand} there"),
    "saturated": Cause("it is saturated, its slope is 0 to the last bit there", _SATURATED),
    "inactive": Cause(
        "it is inactive (a dead unit), as its input is not positive there",
        "use LeakyRelu, a smaller learning rate, or a larger bias to begin with",
    ),
    "clipped": Cause("its input is out of bounds there", "widen the bounds, or clip less"),
    "fitted": Cause("the prediction is the label to the last bit already"),
    "stationary": Cause("its slope is 0 there", "start from another value"),
    "flat": Cause("its gradient is 0 whatever comes in", "override it, if it is to learn"),
    "not_used": Cause("it takes other elements, and none of what leads there"),
    "underflow": Cause(
        "it underflows, the result is too small for {dtype} (at least {smallest})",
        "work with logarithms, or scale up what comes in",
    ),
    "cancelled": Cause("what is added up cancels"),
    "wrapped": Cause(
        "the result is too large for {dtype}, and the bits that it keeps are 0", "use a wider type"
    ),
    "rounded": Cause("it is rounded to 0", "round less, or multiply first"),
    "false": Cause("the comparison is false"),
    "at_zero": Cause("the function is 0 there"),
    "out_of_range": Cause(
        "{operand} is out of range, which gives 0 on this device", "keep {operand} in range"
    ),
    "no_iterations": Cause("it comes from the iterations of a loop, and there were none"),
    "last_iteration": Cause("no gradient comes back to it from behind the loop"),
    "untaken": Cause("it is in a branch that was not taken"),
    "override": Cause("the gradient '{override}' gives 0", "look at it, or use the native one"),
    "starts_at_zero": Cause("the gradient starts at 0", "give another grad_ys"),
    # -- both, of what nothing in the run has made: "w was fed" -----------------------------------
    "fed": Cause("was fed", "mend the feed"),
    "constant": Cause("is a constant"),
    "initial": Cause("begins with it", "give it another initial value"),
    "changed": Cause("was given it between two steps"),
    "lost": Cause("had it in a run that is not kept any more"),
    "nothing": Cause("has no value yet"),
}
