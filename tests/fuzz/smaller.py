"""The smallest case that still fails alike: greedy, by the structure of what is in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.fuzz.case import Case
from tests.fuzz.examples import Members, packed, unpacked

Fails = Callable[[Case], bool]
_MOST = 4000  # tries


def smallest(case: Case, fails: Fails) -> Case:
    """A case as small as can be found, for which `fails` holds as it does for `case`."""
    budget = iter(range(_MOST))

    def still(candidate: Case) -> bool:
        return next(budget, None) is not None and fails(candidate)

    if case.suffix == ".gradstep":
        return _document(case, still)
    if case.suffix == ".pb":
        return _graphdef(case, still)
    if case.suffix == ".onnx":
        return _model(case, still)
    return _lines(case, still)


# -- documents -------------------------------------------------------------------------------------


def _document(case: Case, still: Fails) -> Case:
    try:
        members = unpacked(case.data)
        tree = json.loads(members["document.json"])
    except Exception:  # a zip or text that is damaged itself: it stays as it is
        return case
    if not isinstance(tree, dict) or not still(_put(members, tree)):
        return case
    while _shrink(tree, lambda: still(_put(members, tree))):
        pass
    for name in [*members]:
        left = {n: data for n, data in members.items() if n != name}
        if name != "document.json" and still(_put(left, tree)):
            members = left
    return _put(members, tree)


def _put(members: Members, tree: Any) -> Case:
    return Case(".gradstep", packed({**members, "document.json": json.dumps(tree).encode()}))


def _shrink(tree: Any, still: Callable[[], bool]) -> bool:
    """Take away what can be, the largest parts first; whether anything could."""
    changed = False
    for holder in [*_holders(tree)]:
        size = len(holder)
        width = max(size // 2, 1)
        while width:
            changed = _take(holder, width, still) or changed
            width = min(width // 2, len(holder))
    return changed


def _take(holder: Any, width: int, still: Callable[[], bool]) -> bool:
    """Leave out runs of `width` items of a list or dict."""
    changed, at = False, 0
    while at < len(holder):
        kept = copy.copy(holder)
        _leave_out(holder, at, width)
        if still():
            changed = True
            continue
        _restore(holder, kept)
        at += width
    return changed


def _leave_out(holder: Any, at: int, width: int) -> None:
    if isinstance(holder, list):
        del holder[at : at + width]
    else:
        for key in [*holder][at : at + width]:
            del holder[key]


def _restore(holder: Any, kept: Any) -> None:
    holder.clear()
    (holder.extend if isinstance(holder, list) else holder.update)(kept)


def _holders(tree: Any) -> Iterator[Any]:
    """Lists and dicts in a tree, outer ones first."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop(0)
        if isinstance(holder, dict | list):
            yield holder
            waiting += holder.values() if isinstance(holder, dict) else holder


# -- GraphDefs -------------------------------------------------------------------------------------


def _graphdef(case: Case, still: Fails) -> Case:
    from google.protobuf.message import DecodeError

    from gradstep.core.io.tensorflow.graphdef_proto import message

    try:
        proto = message("GraphDef").FromString(case.data)
    except DecodeError:
        return case

    def made() -> Case:
        return Case(".pb", proto.SerializeToString(deterministic=True))

    if not still(made()):
        return case
    changed = True
    while changed:
        changed = _fewer_nodes(proto, lambda: still(made()))
        for node in proto.node:
            changed = _less_of_a_node(node, lambda: still(made())) or changed
    proto.ClearField("library")
    return made() if still(made()) else case


def _model(case: Case, still: Fails) -> Case:
    """Of ONNX: fewer nodes alone."""
    from google.protobuf.message import DecodeError

    from gradstep.core.io.onnx.onnx_messages import message

    try:
        proto = message("ModelProto").FromString(case.data)
    except DecodeError:
        return case

    def made() -> Case:
        return Case(".onnx", proto.SerializeToString(deterministic=True), case.exported)

    if not still(made()):
        return case
    while _fewer_nodes(proto.graph, lambda: still(made())):
        pass
    return made()


def _fewer_nodes(proto: Any, still: Callable[[], bool]) -> bool:
    changed, width = False, max(len(proto.node) // 2, 1)
    while width:
        at = 0
        while at < len(proto.node):
            kept = copy.deepcopy(proto)
            del proto.node[at : at + width]
            if len(proto.node) and still():
                changed = True
                continue
            proto.CopyFrom(kept)
            at += width
        width //= 2
    return changed


def _less_of_a_node(node: Any, still: Callable[[], bool]) -> bool:
    changed = False
    kept = copy.deepcopy(node)
    for key in sorted(node.attr):
        del node.attr[key]
        if still():
            changed, kept = True, copy.deepcopy(node)
        else:
            node.CopyFrom(kept)
    for at in reversed(range(len(node.input))):
        del node.input[at]
        if still():
            changed, kept = True, copy.deepcopy(node)
        else:
            node.CopyFrom(kept)
    return changed


# -- text ------------------------------------------------------------------------------------------


def _lines(case: Case, still: Fails) -> Case:
    """Fewer lines, then fewer characters."""
    return _fewer(_fewer(case, still, b"\n"), still, b"")


def _fewer(case: Case, still: Fails, joint: bytes) -> Case:
    parts = case.data.split(joint) if joint else [bytes([byte]) for byte in case.data]

    def made() -> Case:
        return Case(case.suffix, joint.join(parts))

    width = max(len(parts) // 2, 1)
    while width:
        _take(parts, width, lambda: still(made()))
        width //= 2
    return made() if still(made()) else case
