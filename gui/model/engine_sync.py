"""What of a document the engine runs by, and how breakpoints are told to it."""

from __future__ import annotations

from dataclasses import fields

from gradstep.core.document.breakpoint_specs import spec_of
from gradstep.core.document.document import Document
from gradstep.core.document.unsaved_changes import differ
from gradstep.core.protocol.messages import SetBreakpoints


def same_run(old: Document, new: Document) -> bool:
    """Whether two documents differ in nothing that the engine runs by."""
    return not differ(new, old, _RUN_BY)


_WORDS = ("view", "branches", "watches", "title", "note", "claim", "truth", "group", "expectations")
_RUN_BY = [f.name for f in fields(Document) if f.name not in _WORDS]
_RUN_BY_BUT_BREAKPOINTS = [name for name in _RUN_BY if name != "breakpoints"]


def same_but_breakpoints(old: Document, new: Document) -> bool:
    """Whether new breakpoints are all that the engine needs to hear of."""
    return not differ(new, old, _RUN_BY_BUT_BREAKPOINTS)


def breakpoints_of(document: Document) -> SetBreakpoints:
    return SetBreakpoints(breakpoints=[spec_of(b) for b in document.breakpoints])
