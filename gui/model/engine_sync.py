"""What of a document the engine runs by, and how breakpoints are told to it."""

from __future__ import annotations

from dataclasses import fields, replace

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document.document import Document
from gradstep.core.protocol.messages import BreakpointSpec, SetBreakpoints


def same_run(old: Document, new: Document) -> bool:
    """Whether two documents differ in nothing that the engine runs by."""
    return all(getattr(old, name) == getattr(new, name) for name in _RUN_BY)


_WORDS = ("view", "watches", "title", "note", "claim", "truth", "group", "expectations")
_RUN_BY = [f.name for f in fields(Document) if f.name not in _WORDS]


def same_but_breakpoints(old: Document, new: Document) -> bool:
    """Whether new breakpoints are all that the engine needs to hear of."""
    return same_run(replace(old, breakpoints=new.breakpoints), new)


def breakpoints_of(document: Document) -> SetBreakpoints:
    return SetBreakpoints(breakpoints=[_spec(b) for b in document.breakpoints])


def _spec(breakpoint_: Breakpoint) -> BreakpointSpec:
    return BreakpointSpec(
        target=breakpoint_.target,
        kind=breakpoint_.kind.value,
        condition=breakpoint_.condition,
        hits=breakpoint_.hits,
        exempt=sorted(breakpoint_.exempt),
        enabled=breakpoint_.enabled,
        log=breakpoint_.log,
    )
