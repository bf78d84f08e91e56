"""Small files that ask for much: of memory, of time, or to be read for ever.

Each is made when it is needed. What opens must cost little, and what is refused must cost little
until it is.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.io.native import npy
from gradstep.core.io.tensorflow.graphdef_proto import message

MOST = 256 << 20  # bytes of memory, over what the program has without the file


@dataclass(frozen=True)
class Bomb:
    """build: writes it into a folder, and says where; opens: whether it is a proper file, which is
    read for little; said: else what is said of it."""

    name: str
    build: Callable[[Path], Path]
    opens: bool = False
    said: str = ""


def _written(suffix: str, make: Callable[[], bytes], folder: Path) -> Path:
    path = folder / f"bomb{suffix}"
    path.write_bytes(make())
    return path


# -- GraphDefs -------------------------------------------------------------------------------------


def _constants(count: int, size: int, values: int) -> bytes:
    """So many Consts of `size` floats, of which each lists the first few."""
    proto = message("GraphDef")()
    for number in range(count):
        node = proto.node.add(name=f"c{number}", op="Const")
        node.attr["dtype"].type = 1
        tensor = node.attr["value"].tensor
        tensor.dtype = 1
        tensor.tensor_shape.dim.add(size=size)
        tensor.float_val.extend(range(values))
    return bytes(proto.SerializeToString())


def _listed(kind: bytes, count: int) -> bytes:
    """A node with an attribute that lists so many empty things, two bytes each."""
    items = kind * count
    value = _field(1, items)
    attribute = _field(1, b"a") + _field(2, value)
    return _field(1, _field(1, b"n") + _field(2, b"NoOp") + _field(5, attribute))


def _empty_nodes() -> bytes:
    return _constants(1, 1, 1) + b"\x0a\x00" * 3_000_000


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


# -- documents -------------------------------------------------------------------------------------


def _zip(members: dict[str, bytes], declared: dict[str, int] | None = None) -> bytes:
    """declared: the sizes that some members are said to have, whatever they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    data = bytearray(buffer.getvalue())
    for name, size in (declared or {}).items():
        place = data.rindex(b"PK\x01\x02", 0, data.rindex(name.encode()))
        data[place + 24 : place + 28] = struct.pack("<I", size)
    return bytes(data)


def _document(**parts: Any) -> bytes:
    import json

    return json.dumps({"version": 1, "operations": [], **parts}).encode()


def _one_member_for_code() -> bytes:
    code = [{"name": f"f{i}", "kind": "pyfunc", "file": "code/f.py"} for i in range(64)]
    return _zip({"document.json": _document(code=code), "code/f.py": b"#" * (100 << 20)})


def _one_member_for_feeds() -> bytes:
    size = 8 << 20  # 64 times that is 2 GiB
    tensor = {"dtype": "float32", "shape": [size], "file": "t.npy"}
    feeds = {f"x{i}:0": tensor for i in range(64)}
    array = np.arange(size, dtype=np.float32)
    array[1:] = 1.0  # which packs well, and is not of one value
    return _zip({"document.json": _document(feeds=feeds), "t.npy": npy.to_bytes(array)})


def _many_members() -> bytes:
    names = [f"t{i}.npy" for i in range(64)]
    feeds = {n: {"dtype": "float32", "shape": [64 << 20], "file": n} for n in names}
    array = npy.to_bytes(np.zeros(100, np.float32))
    members = {"document.json": _document(feeds=feeds), **dict.fromkeys(names, array)}
    return _zip(members, dict.fromkeys(names, 256 << 20))


def _empty_lists(count: int) -> bytes:
    data = b"[" + b"[]," * count + b"[]]"
    head = _document(feeds={"x:0": {"dtype": "float32", "shape": [1], "data": None}})
    return _zip({"document.json": head.replace(b"null", data)})


def _long_text() -> bytes:
    return _zip({"document.json": _document()}, {"document.json": 252_000_000})


def _nested() -> bytes:
    head = _document(feeds={"x:0": {"dtype": "float32", "shape": [1], "data": None}})
    return _zip({"document.json": head.replace(b"null", b"[" * 1_000_000 + b"]" * 1_000_000)})


def _many_parts() -> bytes:
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 16)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 46 * 400_000, 0, 0)
    return b"PK\3\4" + entry * 400_000 + end


def _splat(shape: list[int]) -> bytes:
    tensor = {"dtype": "float32", "shape": shape, "data": 0, "splat": True}
    document = _document(feeds={f"x{i}:0": tensor for i in range(64)})
    return _zip({"document.json": document.replace(b'"version": 1', b'"version": 2')})


def _header(shape: str) -> bytes:
    """An .npy file of that shape, without any content, as the value of a feed."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    feeds = {"x:0": {"dtype": "float32", "shape": [1], "file": "t.npy"}}
    return _zip({"document.json": _document(feeds=feeds), "t.npy": data})


# -- what is no file -------------------------------------------------------------------------------


def _link(target: str, folder: Path) -> Path:
    path = folder / "link.gradstep"
    path.symlink_to(target)
    return path


def _pipe(folder: Path) -> Path:
    path = folder / "pipe.gradstep"
    os.mkfifo(path)
    return path


def _file(name: str, suffix: str, make: Callable[[], bytes], said: str = "") -> Bomb:
    return Bomb(name, partial(_written, suffix, make), not said, said)


BOMBS = (
    _file("a constant of one value", ".pb", partial(_constants, 1, 1 << 28, 1)),
    _file("64 constants of one value", ".pb", partial(_constants, 64, 1 << 40, 1)),
    _file("64 constants, filled up", ".pb", partial(_constants, 64, 1 << 25, 2), "of memory"),
    _file("a constant, filled up", ".pb", partial(_constants, 1, 1 << 40, 2), "of memory"),
    _file("sizes over a C long", ".pb", partial(_constants, 1, 1 << 62, 1), "larger than any"),
    _file("empty nodes", ".pb", _empty_nodes, "its nodes"),
    _file("empty attributes", ".pb", partial(_listed, b"\x42\x00", 1_500_000),
          "more than 1,000,000"),
    _file("text that repeats", ".pbtxt", lambda: b"node{}" * 2_000_000, "of text"),
    _file("one member of code for 64", ".gradstep", _one_member_for_code, "100 MiB of text"),
    _file("one array for 64 feeds", ".gradstep", _one_member_for_feeds),
    _file("64 arrays", ".gradstep", _many_members, "16 GiB of it for its parts"),
    _file("18 million lists", ".gradstep", partial(_empty_lists, 18_000_000), "what document.json"),
    _file("a long text", ".gradstep", _long_text, "of text"),
    _file("a deep text", ".gradstep", _nested, "nested too deeply"),
    _file("400,000 parts", ".gradstep", _many_parts, "400000 parts"),
    _file("64 splats", ".gradstep", partial(_splat, [1 << 40])),
    _file("a splat over a C long", ".gradstep", partial(_splat, [1 << 62, 4]), "larger than any"),
    _file("a header over a C long", ".gradstep", partial(_header, "(4611686018427387904, 0)"),
          "impossible shape"),
    _file("a header without an end", ".gradstep", partial(_header, "(((("), "not a NumPy array"),
    Bomb("a link to /dev/zero", partial(_link, "/dev/zero"), said="it is a device"),
    Bomb("a link into /proc", partial(_link, "/proc/self/maps"), said="it is empty"),
    Bomb("a named pipe", _pipe, said="it is a named pipe"),
)  # fmt: skip
