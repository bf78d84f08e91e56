"""Common subexpressions: equal steps on equal values are done once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, rebuilt
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Constant

_LARGEST = 4096  # bytes of a constant that is compared by content


def merge_common(plan: Plan) -> Plan:
    """With one step in place of several that do the same to the same values."""
    seen: dict[Hashable, tuple[int, ...]] = {}
    instead: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        key = _key(step, instead) if is_pure(plan, step) and step.writes else None
        known = None if key is None else seen.setdefault(key, step.writes)
        if known is None or known is step.writes:
            kept.append(step)
        else:
            instead.update(zip(step.writes, known, strict=True))
    return rebuilt(plan, kept, instead) if instead else plan


def _key(step: Step, instead: dict[int, int]) -> Hashable | None:
    reads = tuple([instead.get(v, v) for v in step.reads])
    if not step.op.attrs:
        return (step.op.type, reads)
    try:
        attrs = tuple(sorted((k, _content(v)) for k, v in step.op.attrs.items() if k[0] != "_"))
        hash(attrs)
    except (TypeError, _TooLargeError):
        return None
    return (step.op.type, reads, attrs)


class _TooLargeError(Exception):
    """A constant that would take long to compare."""


def _content(value: Any) -> Any:
    if isinstance(value, Constant):
        array = value.array
        if array.dtype.hasobject or array.nbytes > _LARGEST:
            raise _TooLargeError
        return (array.dtype.str, array.shape, array.tobytes())
    if isinstance(value, float):
        return np.float64(value).tobytes()  # NaN is like itself, and -0.0 is not 0.0
    return str(value) if not isinstance(value, tuple) else tuple(map(_content, value))
