"""The difference between two documents as a record, and its application: only what changed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import compress, count, filterfalse
from math import isfinite
from typing import Any, Protocol

import msgspec
import numpy as np
from msgspec import field

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, View
from gradstep.core.document.node_positions import find_relocated, held
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import find_moved, known_changes, remember_edit
from gradstep.core.graph.changes import Changes, alike, find_others, keep_sequence
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import file_schema, npy
from gradstep.core.io.native.document_records import put_together, take_apart
from gradstep.core.io.native.zip_archive import Archive, pack
from gradstep.core.json_text import UNREADABLE, why_unreadable
from gradstep.core.persistent.edited_columns import Exchange
from gradstep.core.persistent.spliced_mapping import copied, spliced

KEYED = ("initial", "feeds", "packed", "code")  # parts that change entry by entry
_WHOLE = tuple(f.name for f in fields(Document) if f.name not in ("graph", "view", *KEYED))
_COLLAPSED = "collapsed"
_FEW = 64  # places, of which each is looked for by itself
_LONG = ("wrt", "stops", "stopped_edges", "overrides")  # of a request; may name most of a document
Point = tuple[float, float]
_MEMBER = "difference.json"


Buffer = bytes | bytearray | memoryview


class Coding(Protocol):
    """How a record becomes bytes: msgspec.json or msgspec.msgpack."""

    def encode(self, obj: DifferenceRecord, /) -> bytes: ...
    def decode(self, buf: Buffer, /, *, type: type[DifferenceRecord]) -> DifferenceRecord: ...


class DifferenceRecord(file_schema.Record):
    """document, view: what is new, and nothing else, as a file would hold it.

    removed:  operations that are gone.
    inserted: operation -> new ones that come right after it, in order; "" for the beginning. New
              ones that are not named here come last.
    order:    all operations, where those that stay have changed places; else empty.
    dropped:  "initial", "feeds", "packed", "code" or "positions" -> entries that are gone.
    replaced: other parts of the document that `document` and `view` hold as a whole.
    kept:     but of the request these fields are as they were.
    """

    document: file_schema.DocumentRecord
    view: file_schema.ViewRecord
    removed: list[str] = field(default_factory=list)
    inserted: dict[str, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    dropped: dict[str, list[str]] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Difference:
    """A record, and the buffers that it refers to by name: tensors as .npy, sources as text."""

    record: DifferenceRecord
    members: Mapping[str, bytes]

    def __bool__(self) -> bool:
        """Whether it changes anything."""
        return self.record != _NOTHING

    def to_bytes(self) -> bytes:
        """For a file. Raises GradstepError."""
        return pack({_MEMBER: _encode(msgspec.json, self.record), **self.members})

    def to_buffers(self) -> tuple[list[str], list[bytes]]:
        """For a message: the names of the members; the record, and then these members. Raises
        GradstepError."""
        return [*self.members], [_encode(msgspec.msgpack, self.record), *self.members.values()]

    @classmethod
    def from_buffers(cls, names: Sequence[str], buffers: Sequence[Buffer]) -> Difference:
        """The inverse of `to_buffers`. Raises GradstepError."""
        if len(buffers) != 1 + len(names):
            raise _misfit(f"{len(buffers)} buffers for {len(names)} members")
        record = _decode(msgspec.msgpack, buffers[0], "its record")
        return cls(record, dict(zip(names, map(bytes, buffers[1:]), strict=True)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Difference:
        """The inverse of `to_bytes`. Raises GradstepError."""
        archive = Archive(data, Budget.unlimited())
        record = _decode(msgspec.json, archive.raw(_MEMBER), _MEMBER)
        names = (name for name in archive if name not in (_MEMBER, "mimetype"))
        return cls(record, {name: archive.raw(name) for name in names})


def _encode(coding: Coding, record: DifferenceRecord) -> bytes:
    try:
        return coding.encode(record)
    except UnicodeEncodeError as error:
        raise GradstepError(f"a name cannot be saved as text: {error}", kind="FileError") from None


def _decode(coding: Coding, data: Buffer, what: str) -> DifferenceRecord:
    try:
        return coding.decode(data, type=DifferenceRecord)
    except UNREADABLE as error:
        raise GradstepError(
            f"{what} is not valid: {why_unreadable(error)}", kind="FileError"
        ) from None


def differences(before: Document, after: Document) -> Difference:
    """What makes `after` of `before`. Where they share operations, it costs what changed, and a
    look at each name. Raises GradstepError for what the format cannot hold."""
    old, new = before.graph.operations, after.graph.operations
    same = old is new
    others, removed = ((), []) if same else _others(before.graph, after.graph)
    put = {n: new[n] for n in others if n not in old or not alike(new[n], old[n])}
    parts: dict[str, Any] = {n: _changed(getattr(before, n), getattr(after, n)) for n in KEYED}
    places, nowhere = _placed(before.view, after.view)
    replaced = [n for n in _WHOLE if not _same(getattr(before, n), getattr(after, n))]
    folded = not _same(before.view.collapsed, after.view.collapsed)
    view = View(places, after.view.collapsed if folded else frozenset())
    parts.update((name, getattr(after, name)) for name in replaced)
    kept = _kept(before.request, after.request) if "request" in replaced else []
    if kept:
        parts["request"] = _with(after.request, GradientRequest(), kept)
    news = take_apart(Document(graph=Graph(put), view=view, **parts))
    dropped = {name: _gone(getattr(before, name), getattr(after, name)) for name in KEYED}
    dropped["positions"] = nowhere
    record = DifferenceRecord(
        document=news.document,
        view=news.view,
        removed=removed,
        dropped={name: gone for name, gone in dropped.items() if gone},
        replaced=[*replaced, _COLLAPSED] if folded else replaced,
        kept=kept,
    )
    if not same:
        _keep_order(record, before.graph, after.graph, {name for name in put if name not in old})
    return Difference(record, news.members)


def apply(before: Document, difference: Difference) -> Document:
    """What `differences(before, after)` was made of: its file is that of `after` to the last bit.
    What did not change is shared with `before`. Raises GradstepError where that was another one."""
    record = difference.record
    unknown = ({*record.replaced} - {*_WHOLE, _COLLAPSED}) | ({*record.kept} - {*_LONG})
    if unknown:
        raise _misfit(f"there is no part {min(unknown)!r}")
    news = put_together(record.document, record.view, _Members(difference.members))
    changes: dict[str, Any] = {n: getattr(news, n) for n in record.replaced if n != _COLLAPSED}
    if record.kept and "request" in changes:
        changes["request"] = _with(changes["request"], before.request, record.kept)
    for name in KEYED:
        gone, came = record.dropped.get(name, []), getattr(news, name)
        if gone or came:
            changes[name] = _merged(getattr(before, name), gone, came)
    return replace(
        before,
        graph=_graph(before.graph, record, news.graph.operations),
        view=_view(before.view, record, news.view),
        **changes,
    )


# -- the request -------------------------------------------------------------------------------


def _kept(before: GradientRequest, after: GradientRequest) -> list[str]:
    """Long fields that are not empty, and as they were."""
    return [n for n in _LONG if getattr(after, n) and _same(getattr(before, n), getattr(after, n))]


def _with(
    request: GradientRequest, other: GradientRequest, names: Sequence[str]
) -> GradientRequest:
    """`request` with these fields of another one."""
    return replace(request, **{name: getattr(other, name) for name in names})


# -- operations --------------------------------------------------------------------------------


def _others(before: Graph, after: Graph) -> tuple[Iterable[str], list[str]]:
    """The names in `after` that may stand for something else than in `before`, and those that are
    gone, each in order; by what one of the two remembers of the edit, if it does."""
    old, new = before.operations, after.operations
    known = known_changes(before, after)
    if known is None:
        return find_others(old, new), _gone(old, new)
    return _in_order(after, known.added | known.changed), _in_order(before, known.removed)


def _in_order(graph: Graph, names: frozenset[str]) -> list[str]:
    """Names of operations, as the graph has them."""
    return [*names] if len(names) < 2 else sorted(names, key=graph.places.__getitem__)


def _keep_order(record: DifferenceRecord, old: Graph, new: Graph, came: Set[str]) -> None:
    """came: what is new."""
    moved = find_moved(old, new)
    if moved is None and not keep_sequence(old.operations, new.operations):
        record.order = list(new.operations)
        return
    if not came:
        return
    names, after, before = new.names, "", -2
    places = compress(count(), map(came.__contains__, names))
    for place in places if moved is None else (place for _, place in moved.come):
        if place > before + 1:
            after = names[place - 1] if place else ""
            record.inserted[after] = []
        record.inserted[after].append(names[place])
        before = place
    if before == len(names) - 1:  # what comes last needs no place
        del record.inserted[after]


def _graph(before: Graph, record: DifferenceRecord, put: Mapping[str, Operation]) -> Graph:
    old = before.operations
    put = {n: op for n, op in put.items() if n not in old or not alike(op, old[n])}
    if not (put or record.removed or record.order):
        return before
    spliced_in = None if record.order else _spliced(before, record, put)
    if spliced_in is not None:
        return _edited(before, spliced_in, put, record.removed, _moved(before, record, put))
    merged = _merged(before.operations, record.removed, put)
    order = record.order or (_woven(merged, record.inserted) if record.inserted else merged)
    if order is merged:
        return _edited(before, merged, put, record.removed, _moved(before, record, put))
    try:
        operations = dict(zip(order, map(merged.__getitem__, order), strict=True))
    except KeyError as error:
        raise _misfit(f"there is no operation {error.args[0]!r}") from None
    if len(operations) != len(merged):
        raise _misfit("an operation has no place")
    return _edited(before, operations, put, record.removed)


def _edited(
    before: Graph,
    operations: Mapping[str, Operation],
    put: Mapping[str, Operation],
    removed: Iterable[str],
    moved: Exchange | None = None,
) -> Graph:
    """The graph of these, which goes on from `before` with what is known of that. put: those that
    are others there, or not there at all; moved: how names differ, where that is known."""
    old, graph = before.operations, Graph(operations)
    changes = Changes(
        added=frozenset(name for name in put if name not in old),
        removed=frozenset(name for name in removed if name not in operations),
        changed=frozenset(name for name in put if name in old),
    )
    remember_edit(graph, before, changes, moved)
    return graph


def _spliced(
    before: Graph, record: DifferenceRecord, put: Mapping[str, Operation]
) -> dict[str, Operation] | None:
    """The operations, where a few are put in at their places; None where it is more than that."""
    old, removed = before.operations, {*record.removed}
    come = {name for run in record.inserted.values() for name in run}
    stay = {*filter(None, record.inserted)}
    if not come or len(record.inserted) > _FEW or not old.keys() >= stay | removed:
        return None
    once = (sum(map(len, record.inserted.values())), len(record.removed)) == (
        len(come),
        len(removed),
    )
    if not (once and come <= put.keys() and come.isdisjoint(old) and stay.isdisjoint(removed)):
        return None  # it is none that `differences` made
    rows = [(place, name, put[name]) for place, name in _inserted(before, record)]
    found = spliced(old, record.removed, rows)
    found.update((name, op) for name, op in put.items() if name not in come)
    return found


def _inserted(before: Graph, record: DifferenceRecord) -> list[tuple[int, str]]:
    """The new ones that have a place, each with that of the operation it comes before."""
    places = {after: before.places[after] + 1 if after else 0 for after in record.inserted}
    order = sorted(places, key=places.__getitem__)
    return [(places[after], name) for after in order for name in record.inserted[after]]


def _moved(
    before: Graph, record: DifferenceRecord, put: Mapping[str, Operation]
) -> Exchange | None:
    """How names differ of operations whose order is not given; None where more than a few do."""
    come = _inserted(before, record)
    new = {name for name in put if name not in before.operations}
    if len(new) + len(record.removed) > _FEW or not put.keys().isdisjoint(record.removed):
        return None
    gone = sorted(map(before.places.__getitem__, record.removed))
    last = len(new) - len(come)
    return Exchange.of(gone, [*(place for place, _ in come), *[len(before)] * last])


def _woven(merged: Iterable[str], inserted: Mapping[str, list[str]]) -> list[str]:
    """The names in order, each run of new ones after the operation that it follows."""
    moved = {name for run in inserted.values() for name in run}
    order = [*filterfalse(moved.__contains__, merged)]
    places = dict(zip(order, count(1), strict=False))
    woven, done = [*inserted.get("", ())], 0
    for name in sorted(places.keys() & inserted.keys(), key=places.__getitem__):
        woven += order[done : places[name]]
        woven += inserted[name]
        done = places[name]
    return woven + order[done:]


# -- entries of maps ---------------------------------------------------------------------------


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    if old is new:
        return {}
    return _others_of(old, new, find_others(old, new))


def _others_of(
    old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str]
) -> dict[str, Any]:
    """Of these entries those that are others in a file."""
    return {n: new[n] for n in names if n not in old or not _same(old[n], new[n])}


def _gone(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [] if old is new else [*filterfalse(new.__contains__, old)]


def _merged(old: Mapping[str, Any], gone: Iterable[str], came: Mapping[str, Any]) -> dict[str, Any]:
    kept = copied(old)
    for name in gone:
        if kept.pop(name, None) is None:
            raise _misfit(f"there is no {name!r}")
    kept.update(came)
    return kept


def _same(a: Any, b: Any) -> bool:
    """Whether a file holds the same of both: 1, 1.0 and True are equal, and so are 0.0 and -0.0."""
    if a is b or a != b:
        return a is b
    if type(a) is not type(b) or not is_dataclass(a):
        return repr(a) == repr(b)
    return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.repr)


# -- the view ----------------------------------------------------------------------------------


def _placed(before: View, after: View) -> tuple[dict[str, Point], list[str]]:
    """Nodes that stand elsewhere now, and those that stand nowhere; a file holds no position that
    is not a number."""
    old, new = before.positions, after.positions
    known = find_relocated(old, new)
    if known is None:
        moved, gone = _changed(old, new), _gone(old, new)
    else:
        moved, gone = _others_of(old, new, known[0]), known[1]
    nowhere = [*gone, *(n for n in moved if not _is_place(new[n]) and n in old)]
    placed = {name: place for name, place in moved.items() if _is_place(place)}
    return placed, [name for name in nowhere if _is_place(old[name])]


def _is_place(point: Point) -> bool:
    return isfinite(sum(point))


def _view(before: View, record: DifferenceRecord, news: View) -> View:
    gone = record.dropped.get("positions", [])
    folded = _COLLAPSED in record.replaced
    if not (gone or news.positions or folded):
        return before
    return View(
        held(_merged(before.positions, gone, news.positions)),
        news.collapsed if folded else before.collapsed,
    )


# -- buffers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Members:
    """The members of a difference as `put_together` reads them."""

    members: Mapping[str, bytes]

    def text(self, name: str) -> str:
        return str(self._bytes(name), "utf-8")

    def tensor(self, name: str) -> np.ndarray:
        data = self._bytes(name)
        return npy.read(io.BytesIO(data), len(data), name)

    def _bytes(self, name: str) -> bytes:
        if name not in self.members:
            raise _misfit(f"{name} is missing")
        return self.members[name]


def _misfit(why: str) -> GradstepError:
    return GradstepError(f"the difference does not fit the document: {why}", kind="FileError")


_NOTHING = differences(Document(), Document()).record
