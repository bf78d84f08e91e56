"""What a why is answered with, whether it was asked of a gradient or of a value."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

State = Literal["none", "zero", "nan", "inf", "ok"]


@dataclass(frozen=True, slots=True)
class Link:
    """One of the things that led to a value. node: the forward operation that it belongs to, or the
    variable; op: the operation itself; operand: the tensor to blame, "" for none; run, position:
    where the debugger stands once it is done, as `run_to` takes it; iterations: of loops, the
    outermost first; text: what it did."""

    node: str
    op: str
    cause: str
    index: tuple[int, ...] | None
    operand: str = ""
    phase: str = "forward"
    run: int | None = None
    position: str = ""
    iterations: tuple[tuple[int, str], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """cause: stable word for the reason, "" when ok. Of None: "unconnected", "assigned", "stopped",
           "not_differentiable", "override", "untaken" (a branch), "broken" (what cannot run),
           "waiting" (not computed yet). Of NaN, infinity and zero: "untaken", or one of those of
           values. Of a gradient that is "ok": "exploding", "vanishing", "fitted" where the loss is
           next to its minimum, or "fed", where a feed cuts the way.
    node:  where it happens (a forward operation); index: in which element, if one can be named.
    text:  what it is, why, and what to do, in plain sentences.
    path:  operations from what is explained back to `node`, or to `wrt` when ok.
    chain: what happened one after the other, the first of them what the rest of this says.
    """

    state: State
    cause: str
    node: str | None = None
    _: KW_ONLY
    text: str
    index: tuple[int, ...] | None = None
    path: tuple[str, ...] = ()
    chain: tuple[Link, ...] = ()
