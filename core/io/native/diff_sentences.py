"""What is different between two documents, in words, for people who must choose one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradstep.core.document.document import Document
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.io.native.document_diff import differences

LONG = 60  # characters of a value that are shown
_PARTS = {
    "request": "gradients asked for",
    "imported": "gradients of the imported graph",
    "optimizers": "optimizers",
    "data": "data",
    "breakpoints": "breakpoints",
    "watches": "watches",
    "init": "initial operation",
    "fetches": "fetches",
    "targets": "targets",
    "threads": "threads",
    "title": "title",
    "note": "note",
    "claim": "claim",
    "truth": "truth",
    "group": "group",
    "expectations": "expectations",
    "functions": "library of functions",
    "recorded": "recorded run",
    "branches": "branches of its runs",
    "collapsed": "folded scopes",
}
_ENTRIES = {
    "feeds": "feed",
    "initial": "initial value",
    "packed": "packed rows",
    "code": "function",
}


class Kind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Change:
    """what: "node", "feed", "function", …; name: whose; details: "axis: 0 → 1", one each."""

    kind: Kind
    what: str
    name: str = ""
    details: tuple[str, ...] = ()


def changes(before: Document, after: Document) -> list[Change]:
    """What `after` has otherwise than `before`, nodes first."""
    record = differences(before, after).record
    old, new = before.graph.operations, after.graph.operations
    found = [Change(Kind.REMOVED, "node", name, (old[name].type,)) for name in record.removed]
    for op in record.document.operations:
        if op.name in old:
            found.append(Change(Kind.CHANGED, "node", op.name, _node(old[op.name], new[op.name])))
        else:
            found.append(Change(Kind.ADDED, "node", op.name, (op.type,)))
    if record.order:
        found.append(Change(Kind.CHANGED, "order of the nodes"))
    for part, what in _ENTRIES.items():
        found.extend(_entries(what, getattr(before, part), getattr(after, part)))
    found.extend(
        Change(Kind.CHANGED, _PARTS[name], details=_part(before, after, name))
        for name in record.replaced
    )
    moved = {*record.view.positions, *record.dropped.get("positions", [])}
    moved -= old.keys() ^ new.keys()  # said already
    if moved:
        found.append(Change(Kind.CHANGED, "places of nodes", details=(f"{len(moved)} moved",)))
    return found


def _node(old: Operation, new: Operation) -> tuple[str, ...]:
    parts = {"type": (old.type, new.type), "device": (old.device, new.device)}
    found = [f"{n}: {_value(a)} → {_value(b)}" for n, (a, b) in parts.items() if a != b]
    if old.inputs != new.inputs:
        found.append(f"inputs: {_inputs(old)} → {_inputs(new)}")
    if old.control_inputs != new.control_inputs:
        before, after = (", ".join(op.control_inputs) or "none" for op in (old, new))
        found.append(f"waits for: {before} → {after}")
    for name in sorted({*old.attrs, *new.attrs}):
        a, b = (op.attrs.get(name, _ABSENT) for op in (old, new))
        if a != b or repr(a) != repr(b):
            found.append(f"{name}: {_value(a)} → {_value(b)}")
    return tuple(found)


_ABSENT = object()


def _inputs(op: Operation) -> str:
    return ", ".join("open" if ref is None else ref.short for ref in op.inputs) or "none"


def _entries(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        if name not in new:
            yield Change(Kind.REMOVED, what, name)
        elif name not in old:
            yield Change(Kind.ADDED, what, name, (_value(new[name]),) if what != "function" else ())
        elif old[name] != new[name]:
            yield Change(Kind.CHANGED, what, name, _entry(what, old[name], new[name]))


def _entry(what: str, old: Any, new: Any) -> tuple[str, ...]:
    if what != "function":
        return (f"{_value(old)} → {_value(new)}",)
    a, b = (item.source.splitlines() for item in (old, new))
    gone, came = (len(set(x) - set(y)) for x, y in ((a, b), (b, a)))
    return (f"{gone} lines removed, {came} lines added",)


def _part(before: Document, after: Document, name: str) -> tuple[str, ...]:
    if name == "collapsed":
        a, b = (len(document.view.collapsed) for document in (before, after))
        return (f"{a} → {b}",)
    a, b = getattr(before, name), getattr(after, name)
    if isinstance(a, tuple) and name not in ("fetches", "targets"):
        return (f"{len(a)} → {len(b)}",) if len(a) != len(b) else ()
    if isinstance(a, str):
        return (f"{_value(a)} → {_value(b)}",)
    if name in ("fetches", "targets"):
        return (f"{', '.join(map(str, a)) or 'none'} → {', '.join(map(str, b)) or 'none'}",)
    if name == "request":
        return tuple(_request(a, b))
    return ()


def _request(old: Any, new: Any) -> Iterator[str]:
    for name in old.__dataclass_fields__:
        a, b = getattr(old, name), getattr(new, name)
        if a != b:
            yield f"{name}: {_several(a)} → {_several(b)}"


def _several(value: Any) -> str:
    if not isinstance(value, tuple | frozenset):
        return str(value)
    texts = [getattr(item, "gradient", None) or str(item) for item in value]
    return _short(", ".join(sorted(texts) if isinstance(value, frozenset) else texts)) or "none"


def _value(value: Any) -> str:
    if value is _ABSENT:
        return "not there"
    if isinstance(value, Constant):
        array = value.array
        shape = str(list(array.shape)) if array.shape else ""
        if array.size > 8:
            return f"{array.dtype}{shape}"
        return _short(f"{array.dtype}{shape} {array.tolist()}")
    if isinstance(value, Loop):
        return f"a loop of {value}"
    if isinstance(value, str):
        return _short(f"'{value}'")
    return _short(str(value))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"
