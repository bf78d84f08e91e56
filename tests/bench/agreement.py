"""Whether all implementations of a workload compute the same: asked before any is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.bench.program import Numbers

# Relative. Adam's epsilon stands elsewhere in PyTorch, which moves parameters with tiny gradients
# by a little more.
TOLERANCE = {"loss": 5e-4, "moved": 5e-3, "value": 1e-5, "gradient": 1e-4}


def disagreement(reference: Sequence[Numbers], other: Sequence[Numbers]) -> str:
    """Where the numbers of two programs differ, step by step; empty when they agree."""
    if len(reference) != len(other):
        return f"{len(other)} steps in place of {len(reference)}"
    for step, (wanted, found) in enumerate(zip(reference, other, strict=True), start=1):
        text = _difference(wanted, found)
        if text:
            return f"step {step}: {text}"
    return ""


def _difference(wanted: Mapping[str, float], found: Mapping[str, float]) -> str:
    if wanted.keys() != found.keys():
        return f"{', '.join(found)} in place of {', '.join(wanted)}"
    for name, number in wanted.items():
        if not abs(found[name] - number) <= TOLERANCE[name] * abs(number):  # NaN is no agreement
            return f"{name} is {found[name]:.7g}, not {number:.7g}"
    return ""
