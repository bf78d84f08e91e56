"""Where a run should stop: at which operation, scope, type, line, gradient or phase, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BreakpointKind(StrEnum):
    """What a breakpoint's target names."""

    OP = "op"  # before the operation runs forward
    GRADIENT = "gradient"  # before the gradient of the operation is computed
    SCOPE = "scope"
    TYPE = "type"
    PHASE = "phase"
    LINE = "line"  # before what a line of the traced program asked for: "net.py:81"
    WRITE = "write"  # after each step that writes the variable


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """condition: an expression over the step's values ("isnan(value)"), empty for always;
    hits: stop only from this hit on; exempt: operations at which it never stops. log: it does not
    stop, but writes this text, with the values of the expressions in its braces; "" for one that
    stops."""

    target: str
    kind: BreakpointKind = BreakpointKind.OP
    condition: str = ""
    hits: int = 1
    exempt: frozenset[str] = frozenset()
    enabled: bool = True
    log: str = ""
