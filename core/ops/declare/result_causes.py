"""What is to blame when an op's result is NaN, infinite or 0, or does not follow an input."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradstep.core.ops.declare.domain_limits import Breaks


@dataclass(frozen=True, slots=True)
class Causes:
    """Names from core/checks/why/cause_table.py, which has their words.

    breaks:   what is wrong where a result is NaN or infinite, though no operand is: its name -> a
              condition on the operands (core/ops/declare/domain_limits.py has ready ones). What
              none says has overflowed.
    flat:     what it is called where a result does not follow an input at all ("saturated"), if not
              that the slope is 0 there.
    vanishes: what, where a result is 0 of operands that are not ("underflow").
    """

    breaks: Breaks = field(default_factory=dict)
    flat: str = ""
    vanishes: str = ""
