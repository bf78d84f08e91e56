"""Mutants of GraphDefs, binary and as text, field by field."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_proto import message
from tests.fuzz import odd
from tests.fuzz.case import Case
from tests.fuzz.examples import EXAMPLES, op_types
from tests.fuzz.members import damaged

_DATA = Path(__file__).parents[1] / "data"
_ARCHIVES = ("tensorflow/graphs.zip", "tensorflow/conds.zip", "foreign/samples.zip")
_SMALL = 20_000  # bytes
_LARGE = 10_000  # a size from which a constant of one value would take long: that is for bombs


def case(dice: Random) -> Case:
    """One GraphDef: of TensorFlow or of an example, changed in one to six ways."""
    from google.protobuf import text_format

    proto = message("GraphDef")()
    proto.ParseFromString(dice.choice(_sources()))
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        _change(dice, proto)
    if dice.random() < 0.15:
        text = text_format.MessageToString(proto).encode()
        return Case(".pbtxt", damaged(dice, text) if dice.random() < 0.3 else text)
    data = proto.SerializeToString(deterministic=True)
    return Case(".pb", damaged(dice, data) if dice.random() < 0.05 else data)


@cache
def _sources() -> list[bytes]:
    found = []
    for name in _ARCHIVES:
        with zipfile.ZipFile(_DATA / name) as archive:
            names = [n for n in archive.namelist() if n.endswith(".pb")]
            found += [archive.read(n) for n in names if archive.getinfo(n).file_size < _SMALL]
    return [*(data for data in found if _reads(data)), *_exported()]


def _reads(data: bytes) -> bool:
    from google.protobuf.message import DecodeError

    try:
        return bool(message("GraphDef").FromString(data).node)
    except DecodeError:
        return False


def _exported() -> Iterator[bytes]:
    for path in sorted(EXAMPLES.glob("*.gradstep")):
        if path.stat().st_size < _SMALL:
            try:
                yield to_pb(gradstep_file.load(path))
            except GradstepError:
                continue


# -- changes ---------------------------------------------------------------------------------------


def _change(dice: Random, proto: Any) -> None:
    if not proto.node:
        return
    node = dice.choice(proto.node)
    names = [n.name for n in proto.node]
    what = dice.random()
    if what < 0.3:
        change_field(dice, dice.choice([*messages_in(proto if what < 0.05 else node)]), names)
    elif what < 0.5:
        _rewire(dice, node, names)
    elif what < 0.65:
        node.op = dice.choice(op_types()) if dice.random() < 0.9 else odd.text(dice, op_types())
    elif what < 0.9:
        _attribute(dice, proto, node, names)
    elif what < 0.95:
        del proto.node[dice.randrange(len(proto.node))]
    else:
        copy = proto.node.add()
        copy.CopyFrom(node)
        copy.name = odd.text(dice, [f"{node.name}_1"])


def messages_in(proto: Any) -> Iterator[Any]:
    """A message and all that are in it."""
    yield proto
    for field, value in proto.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name["value"]
            inner = [value[key] for key in sorted(value)] if entry.message_type else []
        else:
            inner = value if _is_repeated(field) else [value]
        for one in inner:
            yield from messages_in(one)


def _is_repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == 3 if repeated is None else repeated)


def change_field(dice: Random, proto: Any, names: list[str]) -> None:
    """Any field: gone, or another value."""
    field = dice.choice(proto.DESCRIPTOR.fields)
    value = getattr(proto, field.name)
    if dice.random() < 0.25 or field.message_type is not None:
        if field.message_type is not None and not _is_repeated(field) and dice.random() < 0.5:
            value.SetInParent()
        else:
            proto.ClearField(field.name)
        return
    kind = "bytes" if field.type == 12 else field.cpp_type
    try:
        if not _is_repeated(field):
            setattr(proto, field.name, _scalar(dice, kind, names))
        elif len(value) and dice.random() < 0.6:
            value[dice.randrange(len(value))] = _scalar(dice, kind, names)
        else:
            value.append(_scalar(dice, kind, names))
    except (ValueError, UnicodeError, TypeError):
        proto.ClearField(field.name)


def _scalar(dice: Random, kind: Any, names: list[str]) -> Any:
    """By protobuf's number of a C++ type."""
    if kind == "bytes":
        return odd.text(dice, names).encode()
    if kind == 9:
        return odd.text(dice, names)
    if kind in (5, 6):
        return float(dice.choice((odd.number(dice), "nan", "inf", "-inf")))
    if kind == 7:
        return dice.random() < 0.5
    if kind == 8:
        return dice.choice((0, 1, 2, 3, 7, 9, 10, 14, 20, 21, 23, 30, 101, 103, 77, -1))
    return odd.whole(dice)


def _rewire(dice: Random, node: Any, names: list[str]) -> None:
    source = dice.choice(names)
    wire = dice.choice((source, f"{source}:1", f"^{source}", f"{source}:0", odd.text(dice, names)))
    what = dice.random()
    if node.input and what < 0.6:
        node.input[dice.randrange(len(node.input))] = wire
    elif node.input and what < 0.8:
        del node.input[dice.randrange(len(node.input))]
    else:
        node.input.append(wire)


def _attribute(dice: Random, proto: Any, node: Any, names: list[str]) -> None:
    """Gone, another node's, or of another kind."""
    keys = sorted(node.attr)
    what = dice.random()
    if keys and what < 0.25:
        del node.attr[dice.choice(keys)]
        return
    other = dice.choice(proto.node)
    if sorted(other.attr) and what < 0.5:
        theirs = dice.choice(sorted(other.attr))
        mine = theirs if what < 0.4 or not keys else dice.choice(keys)
        value = message("AttrValue")()
        value.CopyFrom(other.attr[theirs])
        node.attr[mine].CopyFrom(value)
        return
    key = dice.choice([*keys, "T", "dtype", "shape", "value", "_gradient_op_type", "_class", "N"])
    _set(dice, node.attr[key], names)


def _set(dice: Random, value: Any, names: list[str]) -> None:
    value.Clear()
    kind = dice.choice(
        ("s", "i", "f", "b", "type", "shape", "tensor", "list", "func", "placeholder")
    )
    if kind == "shape":
        _set_shape(dice, value.shape)
    elif kind == "tensor":
        _set_tensor(dice, value.tensor)
    elif kind == "list":
        value.list.SetInParent()
        inner = dice.choice(("s", "i", "f", "b", "type"))
        field = value.list.DESCRIPTOR.fields_by_name[inner]
        cpp = "bytes" if inner == "s" else field.cpp_type
        getattr(value.list, inner).extend(
            _scalar(dice, cpp, names) for _ in range(dice.randrange(5))
        )
    elif kind == "func":
        value.func.name = odd.text(dice, names)
    else:
        field = value.DESCRIPTOR.fields_by_name[kind]
        setattr(value, kind, _scalar(dice, "bytes" if kind == "s" else field.cpp_type, names))


def _set_shape(dice: Random, proto: Any) -> None:
    proto.SetInParent()
    dims = [size if size is None or size < _LARGE else 1000 for size in odd.shape(dice) or ()]
    proto.unknown_rank = not dims and dice.random() < 0.5
    for size in dims:
        proto.dim.add().size = -1 if size is None else dice.choice((size, size, size, -2))


def _set_tensor(dice: Random, proto: Any) -> None:
    proto.dtype = _scalar(dice, 8, [])
    _set_shape(dice, proto.tensor_shape)
    for _ in range(dice.randrange(3)):
        change_field(dice, proto, [])
    if dice.random() < 0.3:
        proto.tensor_content = bytes(dice.randrange(40))
