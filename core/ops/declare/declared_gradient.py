"""The gradient that an op declares: its rule, and what differentiation has to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

GradientRule = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Defect:
    """What TensorFlow's gradient of an op gets wrong, and Gradstep gives as TensorFlow does.

    input: by which the gradient is wrong; order: 1, or 2 where only the gradient differentiated
    again is; gives: what it is there; why: how that comes, as the end of "TensorFlow does the same,
    for…"; source: where TensorFlow says or does so, and what was recorded.
    """

    input: str
    why: str
    source: str
    order: int = 1
    gives: float = 0.0


@dataclass(frozen=True, slots=True)
class Gradient:
    """What an op declares as its gradient where the rule alone does not say it.

    rule:           `rule(op, *grads)` that builds ops; None where reverse mode itself knows how.
    takes_slices:   it takes IndexedSlices for its gradient; others get the whole tensor.
    defects:        where TensorFlow's gradient is not what finite differences give.
    differentiable: false where no gradient flows on purpose, whatever the rule says to who asks.
    stepped:        its result goes in flat steps after its one input, with that one's type and
                    shape: a straight-through estimator takes Identity's gradient in its place.
    """

    rule: GradientRule | None = None
    takes_slices: bool = False
    defects: tuple[Defect, ...] = ()
    differentiable: bool = True
    stepped: bool = False


def _give_none(op: Any, *grads: Any) -> list[None]:
    return [None] * len(op.inputs)


# A deliberate "no gradient": every input gets None; TensorFlow's NotDifferentiable.
NOT_DIFFERENTIABLE = Gradient(_give_none, differentiable=False)
# The same of what rounds its input.
ROUNDING = Gradient(_give_none, differentiable=False, stepped=True)
# Nothing is declared: asking is a LookupError, as it is in TensorFlow.
UNDECLARED = Gradient(differentiable=False)
