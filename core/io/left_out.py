"""What a file of some format does not have of a document, in words: nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from gradstep.core.name_list import name_list

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.format_record import Format

_MOST = 4  # names that are said


def left_out(document: Document, found: Format) -> list[str]:
    """In words, what of `document` is not in a file of the format `found`."""
    keeps = found.keeps
    if keeps is None:
        return []
    return [words for part, say in PARTS.items() if part not in keeps and (words := say(document))]


def left_out_sentence(name: str, parts: Collection[str]) -> str:
    """The remark on the file `name`, which was written without these parts; "" for none."""
    return f"{name} is without {'; '.join(parts)}" if parts else ""


def _said(what: str, is_there: object) -> str:
    return what if is_there else ""


def _named(what: str, names: Collection[str]) -> str:
    """`what` of these; "" for none."""
    short = (f"'{name.removesuffix(':0')}'" for name in names)
    return f"{what} {name_list(short, _MOST)}" if names else ""


def _counted(things: Collection[object], one: str, many: str) -> str:
    return _said(f"{len(things)} {one if len(things) == 1 else many}", things)


def _optimizers(document: Document) -> str:
    types = [each.type for each in document.optimizers]
    return f"the optimizer {name_list(types, _MOST)}" if types else ""


def _devices(document: Document) -> str:
    return _named("the devices of", [op.name for op in document.graph if op.device])


def _feeds(document: Document) -> str:
    return _named("what is fed to", [n for n in document.feeds if n not in document.columns])


# Part -> words for what a document has of it; "" for nothing.
PARTS: Mapping[str, Callable[[Document], str]] = {
    "gradients": lambda d: _named("the gradients of", [ref.short for ref in d.request.of]),
    "overrides": lambda d: _counted(d.request.overrides, "override", "overrides"),
    "stops": lambda d: _counted(d.request.stopped_edges, "stopped wire", "stopped wires"),
    "initial": lambda d: _named("the initial values of", d.initial),
    "feeds": _feeds,
    "data": lambda d: _named("the data of", d.columns),
    "optimizers": _optimizers,
    "code": lambda d: _named("the Python of", d.code),
    "init": lambda d: _said(f"that '{d.init}' runs first", d.init),
    "fetches": lambda d: _named("what is fetched:", [ref.short for ref in d.fetches]),
    "targets": lambda d: _named("what is run:", d.targets),
    "threads": lambda d: _counted(d.threads, "thread", "threads"),
    "devices": _devices,
    "breakpoints": lambda d: _counted(d.breakpoints, "breakpoint", "breakpoints"),
    "watches": lambda d: _counted(d.watches, "watch", "watches"),
    "expectations": lambda d: _counted(d.expectations, "expectation", "expectations"),
    "recorded": lambda d: _said("what was recorded of it", d.recorded is not None),
    "branches": lambda d: _counted(d.branches, "branch of its runs", "branches of its runs"),
    "title": lambda d: _said("its title", d.title),
    "note": lambda d: _said("its note", d.note),
    "claim": lambda d: _said("the claim that it is about", d.claim or d.truth),
}
