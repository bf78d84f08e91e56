"""The words that messages have for states, kinds and verdicts: what else a field says is refused.

They travel as they stand here. A comparison with a word that is none of them is a type error; that
these are the words of the engine's own enumerations, the type checker sees where messages are made.
The debugger's moves are names out of a table, as op types are, and no words of the protocol.
"""

from __future__ import annotations

from typing import Literal, get_args

from gradstep.core.graph.problems import Severity

__all__ = ["Severity"]

PhaseName = Literal["forward", "backward", "update"]
StopReason = Literal[
    "entry", "step", "breakpoint", "exception", "blocked", "pause", "goto", "end"
]  # "blocked": the next step waits for others, and can be tried again; "end": of a run
SessionCommand = Literal["list", "new", "duplicate", "delete", "switch", "copy"]
BreakpointTarget = Literal["op", "gradient", "scope", "type", "phase", "line", "write"]
WhichMoment = Literal["first", "next", "previous", "last", "every"]  # of those asked for
ThreadCondition = Literal["ready", "blocked", "deadlock", "finished", "failed"]

# "waiting": not computed yet at that step; "none": a gradient that does not exist; "dead": in a
# branch that was not taken; "dropped": of an iteration that is not kept any more.
ValueState = Literal["known", "waiting", "none", "dead", "dropped"]
ExplainedState = Literal["none", "zero", "nan", "inf", "ok"]
NonFinite = Literal["nan", "inf"]

DeviceKind = Literal["cpu", "torch", "gpu", "emulated", "recorded"]
HistoryKind = Literal["element", "norm", "mean", "minimum", "maximum"]  # of a tensor over steps
RunMode = Literal["recorded", "fast"]  # the layout that the debugger runs, or that of training

# "kink": one-sided differences part; "TensorFlow's": a known defect of its own.
CheckVerdict = Literal["ok", "kink", "float32 limit", "TensorFlow's", "wrong"]
VERDICTS: tuple[CheckVerdict, ...] = get_args(CheckVerdict)  # in order of concern
Supported = Literal["native", "override", "both", "neither"]
# Of one gradient, side by side: see gradstep.core.checks.gradients.request_variants.
VariantName = Literal[
    "native", "as it stands", "overrides only", "stops only", "numeric", "straight-through"
]
ExpectationWord = Literal["equals", "differs", "none", "holds", "fails"]

SideStatus = Literal["ok", "raised", "unavailable", "dead"]  # "unavailable": an input was
ComparedVerdict = Literal["equal", "close", "differs", "raises", "unavailable", "dead"]
DifferenceKind = Literal["semantics", "rounding", "unexplained"]
