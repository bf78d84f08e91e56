"""Gradient checks in words: what is wrong with an override, and what the numbers support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.autodiff.check.finite_differences import NumericGradient, agree
from gradstep.core.autodiff.check.op_gradcheck import LocalCheck
from gradstep.core.graph.number_kinds import kind_of


def suggest(check: LocalCheck, count: int, cotangent: np.ndarray) -> str:
    """A gradient tuple that the numbers support, `(grad, grad, None)`; "" when none is simple.

    count: how many inputs the operation has; cotangent: the gradient that arrived at it.
    """
    words = [_recognise(check.numeric.get(i), cotangent) for i in range(count)]
    if "" in words:
        return ""
    return words[0] if count == 1 else f"({', '.join(words)})"


def find_repeated_factor(
    check: LocalCheck, names: Sequence[str], inputs: Sequence[np.ndarray], cotangent: np.ndarray
) -> str:
    """Name of an input by which the override multiplies `grad` where it should not; "" if none."""
    for wrong in check.wrong_inputs:
        result = check.results[wrong]
        for name, value in zip(names, inputs, strict=True):
            if result is not None and _same(result, cotangent, value):
                return name
    return ""


def explain_check(check: LocalCheck, arriving: str, factor: str, fix: str, unlike: str = "") -> str:
    """What is wrong, in sentences. arriving: the gradient that arrives, in notation, which the
    writer of an override may have missed; "" for a native rule. unlike: one of
    those, for which other one it was checked, and why."""
    if check.agrees:
        return f"The gradient '{check.gradient}' agrees with finite differences at {check.node}."
    already = f", grad is already {arriving}." if arriving else ":"
    sentences = [f"At {check.node}{already}", *([unlike] if unlike else [])]
    if factor:
        sentences.append(f"Multiplying by {factor} again counts it twice.")
    else:
        wrong = ", ".join(str(i) for i in check.wrong_inputs)
        plural = "s" if len(check.wrong_inputs) > 1 else ""
        sentences.append(
            f"What '{check.gradient}' returns for input{plural} {wrong} is not what finite "
            "differences of this operation give."
        )
    if fix:
        sentences.append(f"The numbers support {fix}.")
    return " ".join(sentences)


def _recognise(numeric: NumericGradient | None, cotangent: np.ndarray) -> str:
    if numeric is None or agree(np.zeros_like(numeric.value), numeric).all():
        return "None"
    if numeric.value.shape != cotangent.shape:
        return ""
    if agree(cotangent, numeric).all():
        return "grad"
    return "-grad" if agree(-cotangent, numeric).all() else ""


def _same(result: np.ndarray, cotangent: np.ndarray, factor: np.ndarray) -> bool:
    if kind_of(factor.dtype) != "f" or not factor.shape == cotangent.shape == result.shape:
        return False
    trivial = np.allclose(factor, 1.0)
    return not trivial and np.allclose(result, cotangent * factor, rtol=1e-4, atol=1e-9)
