"""Files that cannot be opened, of every kind that people have, and what is said of each.

Each is made when it is needed. Those that are said to be larger than two gigabytes are of holes,
and take no disk.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format

from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import npy
from gradstep.core.io.tensorflow.bundle_entries import HEADER
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.sorted_table import read_table
from gradstep.core.io.tensorflow.sorted_table_writer import table_bytes
from gradstep.core.ops.formats.protobuf import bytes_field
from tests.support import onnx_models as onnx
from tests.support import saved_models
from tests.traces.trace_archive import traces

HUGE = 3 << 30  # bytes
_FOREIGN = Path(__file__).parents[2] / "data" / "foreign" / "samples.zip"


@dataclass(frozen=True)
class BadFile:
    """build: writes it into a folder, and gives the file or folder to open. said: a regular
    expression of what is said of it; do: one of what to do about it."""

    name: str
    build: Callable[[Path], Path]
    said: str
    do: str


def _written(name: str, data: bytes, folder: Path) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _made(name: str, make: Callable[[], bytes], folder: Path) -> Path:
    return _written(name, make(), folder)


def _hollow(name: str, make: Callable[[], bytes], folder: Path) -> Path:
    """Three gigabytes, of which the first are made."""
    path = _written(name, make(), folder)
    with path.open("r+b") as file:
        file.truncate(HUGE)
    return path


def _foreign(name: str) -> bytes:
    with zipfile.ZipFile(_FOREIGN) as archive:
        return archive.read(name)


# -- GraphDefs -------------------------------------------------------------------------------------


def _graph(text: str) -> bytes:
    proto = message("GraphDef")()
    text_format.Parse(text, proto)
    return bytes(proto.SerializeToString())


_FED = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }"""
_CYCLE = """node { name: "a" op: "Neg" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "b" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }"""


def _newer(**versions: Any) -> bytes:
    proto = message("GraphDef")()
    text_format.Parse(_FED, proto)
    proto.versions.producer = 9999
    proto.versions.min_consumer = versions.get("min_consumer", 0)
    proto.versions.bad_consumers.extend(versions.get("bad_consumers", ()))
    return bytes(proto.SerializeToString())


def _constant(*sizes: int) -> bytes:
    """Of a tensor whose elements are not there, but for one and a half."""
    proto = message("GraphDef")()
    node = proto.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    tensor = node.attr["value"].tensor
    tensor.dtype = 1
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    tensor.tensor_content = b"\0" * 6
    return bytes(proto.SerializeToString())


def _functions(*calls: str) -> bytes:
    """f calls g, and so on: "fg" is a function f that calls g."""
    made = "".join(
        f"""function {{ signature {{ name: "{f}" input_arg {{ name: "a" type: DT_FLOAT }}
          output_arg {{ name: "y" type: DT_FLOAT }} }}
          node_def {{ name: "c" op: "{g}" input: "a" }} ret {{ key: "y" value: "c:y:0" }} }}"""
        for f, g in calls
    )
    call = f'node {{ name: "call" op: "{calls[0][0]}" input: "x" }}'
    return _graph(f"{_FED} {call} library {{ {made} }}")


_LONG = b"\x0a\xff\xff\xff\xff\x0f"  # a field that says that it is as long as 4 GB

GRAPHS = (
    BadFile("nothing", partial(_made, "g.pb", bytes), "it is empty", "another copy"),
    BadFile(
        "noise",
        partial(_made, "g.pb", lambda: bytes(range(255, 0, -1)) * 9),
        "it is of no kind that Gradstep knows, and begins with",
        "open a .gradstep document",
    ),
    BadFile(
        "a cut graph",
        partial(_made, "g.pb", lambda: _foreign("graph.pb")[:-700]),
        "is a GraphDef that is cut off or damaged",
        "another copy",
    ),
    BadFile(
        "a cut text",
        partial(_made, "g.pbtxt", lambda: _foreign("graph.pbtxt")[:-700]),
        "is not a GraphDef as text",
        "correct that line",
    ),
    BadFile(
        "a graph for newer readers",
        partial(_made, "g.pb", lambda: _newer(min_consumer=5000)),
        r"is a GraphDef that wants a reader of version 5000 or newer, and this one is \d+",
        "use a newer Gradstep",
    ),
    BadFile(
        "a graph for other readers",
        partial(_made, "g.pb", lambda: _newer(bad_consumers=[7, 2474])),
        "is a GraphDef that is not to be read by readers of version 2474",
        "newer Gradstep",
    ),
    BadFile(
        "a tensor of 2 GB that is not there",
        partial(_made, "g.pb", lambda: _constant(1 << 29)),
        "'c': .*2147483648 bytes, but holds 6",
        "damaged",
    ),
    BadFile(
        "a tensor over all memory",
        partial(_made, "g.pb", lambda: _constant(1 << 40, 1 << 40)),
        "larger than any memory",
        "damaged",
    ),
    BadFile(
        "a length over 2 GB",
        partial(_made, "g.pb", lambda: _graph(_FED) + _LONG),
        "is a GraphDef that is cut off or damaged",
        "another copy",
    ),
    BadFile(
        "a graph of 3 GB",
        partial(_hollow, "g.pb", lambda: _graph(_FED)),
        "it is of no kind that Gradstep knows",
        "GraphDef",
    ),
    BadFile(
        "a text of 3 GB",
        partial(_hollow, "g.pbtxt", lambda: _foreign("graph.pbtxt")),
        "3.0 GiB",
        "--memory",
    ),
    BadFile(
        "a cycle",
        partial(_made, "g.pb", lambda: _graph(_CYCLE)),
        "the graph has a cycle: a ← b ← a",
        "remove one",
    ),
    BadFile(
        "a function in itself",
        partial(_made, "g.pb", lambda: _functions("ff")),
        "the function 'f' calls itself",
        "tf.while_loop",
    ),
    BadFile(
        "functions in a circle",
        partial(_made, "g.pb", lambda: _functions("fg", "gh", "hf")),
        r"calls itself \(f → g → h → f\)",
        "tf.while_loop",
    ),
)


# -- SavedModels, MetaGraphs, checkpoints, event files ---------------------------------------------


def _changed(case: str, member: str, change: Callable[[bytes], bytes | None], folder: Path) -> Path:
    """A case of the recorded ones, with one of its files changed, or gone."""
    facts = saved_models.unpack(case, folder)
    (path,) = (folder / case).rglob(member)
    data = change(path.read_bytes())
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    return facts.open


def _cut(data: bytes) -> bytes:
    return data[: len(data) * 9 // 10]


def _gone(data: bytes) -> None:
    return None


def _hollow_member(case: str, member: str, folder: Path) -> Path:
    facts = saved_models.unpack(case, folder)
    (path,) = (folder / case).rglob(member)
    with path.open("r+b") as file:
        file.truncate(HUGE)
    return facts.open


def _saved_model(**parts: Any) -> bytes:
    proto = message("SavedModel")(saved_model_schema_version=parts.get("schema", 1))
    if graph := parts.get("graph"):
        proto.meta_graphs.add().graph_def.ParseFromString(graph)
    return bytes(proto.SerializeToString())


def _meta(graph: bytes) -> bytes:
    proto = message("MetaGraphDef")()
    proto.meta_info_def.tensorflow_version = "9.9"
    proto.meta_info_def.tags.append("serve")
    proto.graph_def.ParseFromString(graph)
    proto.saver_def.filename_tensor_name = "save/Const:0"
    return bytes(proto.SerializeToString())


def _newer_index(data: bytes) -> bytes:
    table = read_table(data, Budget())
    header = message("BundleHeaderProto")()
    header.ParseFromString(table[HEADER])
    header.version.min_consumer = 7
    table[HEADER] = header.SerializeToString()
    return table_bytes(table.items())


def _alone(case: str, member: str, folder: Path) -> Path:
    """A part of a checkpoint, opened by itself."""
    saved_models.unpack(case, folder)
    (path,) = (folder / case).rglob(member)
    return path


def _empty_folder(folder: Path) -> Path:
    path = folder / "model"
    path.mkdir()
    return path


TENSORFLOW = (
    BadFile(
        "a newer SavedModel",
        partial(_made, "m/saved_model.pb", lambda: _saved_model(schema=2)),
        "SavedModel.* schema version 2, and 1 is the newest",
        "save it with TensorFlow 2",
    ),
    BadFile(
        "a SavedModel of nothing",
        partial(_made, "m/saved_model.pb", _saved_model),
        "it holds no graph",
        "save the model again",
    ),
    BadFile(
        "a SavedModel whose graph is for newer readers",
        partial(_made, "m/saved_model.pb", lambda: _saved_model(graph=_newer(min_consumer=5000))),
        "SavedModel that cannot be read: its graph wants a reader of version 5000",
        "newer",
    ),
    BadFile(
        "a cut SavedModel",
        partial(_changed, "tf2_lstm", "saved_model.pb", _cut),
        "is a SavedModel that cannot be read: ",
        "another copy",
    ),
    BadFile("a folder of nothing", _empty_folder, "is a folder", "file in it"),
    BadFile(
        "a SavedModel without its data",
        partial(_changed, "tf2_lstm", "variables.data-00000-of-00001", _gone),
        "variables.data-00000-of-00001: there is no such file, and the checkpoint has one file",
        "put it beside variables.index",
    ),
    BadFile(
        "a SavedModel with less data",
        partial(_changed, "tf2_lstm", "variables.data-00000-of-00001", _cut),
        "lies behind the end of variables.data-00000-of-00001",
        "another copy",
    ),
    BadFile(
        "a SavedModel with other data",
        partial(_changed, "tf2_lstm", "variables.data-00000-of-00001", lambda d: d[::-1]),
        "has texts of other lengths than it says",
        "another copy",
    ),
    BadFile(
        "a SavedModel with a cut index",
        partial(_changed, "tf2_lstm", "variables.index", _cut),
        "variables.index",
        "another copy",
    ),
    BadFile(
        "a SavedModel with a newer index",
        partial(_changed, "tf2_lstm", "variables.index", _newer_index),
        "variables.index.*: it wants a reader of version 7 or newer, and this one is 1",
        "newer",
    ),
    BadFile(
        "a SavedModel without an asset",
        partial(_changed, "tf2_tables", "vocabulary.txt", _gone),
        "vocabulary.txt: there is no such file",
        ".",
    ),
    BadFile(
        "a SavedModel of 3 GB",
        partial(_hollow_member, "tf2_lstm", "saved_model.pb"),
        "3.0 GiB",
        "--memory",
    ),
    BadFile(
        "an index of 3 GB",
        partial(_hollow_member, "tf2_lstm", "variables.index"),
        "3.0 GiB",
        "--memory",
    ),
    BadFile(
        "a cut MetaGraph",
        partial(_changed, "tf1_saver", "model.ckpt-3.meta", _cut),
        "is a MetaGraph that cannot be read: ",
        "another copy",
    ),
    BadFile(
        "a MetaGraph whose graph is for newer readers",
        partial(_made, "m.meta", lambda: _meta(_newer(min_consumer=5000))),
        "MetaGraph that cannot be read: its graph wants a reader of version 5000",
        "newer",
    ),
    BadFile(
        "a MetaGraph of functions in a circle",
        partial(_made, "m.meta", lambda: _meta(_functions("fg", "gf"))),
        r"calls itself \(f → g → f\)",
        "tf.while_loop",
    ),
    BadFile(
        "a MetaGraph of 3 GB",
        partial(_hollow_member, "tf1_saver", "model.ckpt-3.meta"),
        "it is of no kind that Gradstep knows",
        "MetaGraph",
    ),
    BadFile(
        "a checkpoint without a shard",
        partial(_changed, "tf1_sharded", "model.ckpt.data-00000-of-00002", _gone),
        "model.ckpt.data-00000-of-00002: there is no such file, and the checkpoint has 2 files",
        "put it beside model.ckpt.index",
    ),
    BadFile(
        "an index by itself",
        partial(_alone, "tf1_saver", "model.ckpt-3.index"),
        "it is the index of a TensorFlow checkpoint",
        r"open the \.meta beside it",
    ),
    BadFile(
        "data by itself",
        partial(_alone, "tf1_saver", "model.ckpt-3.data-00000-of-00001"),
        "it is a part of a TensorFlow checkpoint",
        r"open the \.meta beside it",
    ),
    BadFile(
        "events without a graph",
        partial(_made, "events.out.tfevents.1.host", lambda: _events(b"")),
        "event file of TensorBoard.* no graph",
        "FileWriter",
    ),
    BadFile(
        "cut events",
        partial(_changed, "tf1_events", "events*", lambda d: d[: len(d) // 3]),
        "event file of TensorBoard, cut off at byte",
        "FileWriter",
    ),
    BadFile(
        "events with a graph for newer readers",
        partial(
            _made,
            "events.out.tfevents.1.host",
            lambda: _events(bytes_field(4, _newer(min_consumer=5000))),
        ),
        "wants a reader of version 5000",
        "newer",
    ),
    BadFile(
        "events of 3 GB", partial(_hollow_member, "tf1_events", "events*"), "3.0 GiB", "--memory"
    ),
)


def _events(*records: bytes) -> bytes:
    import struct

    from gradstep.core.io.checksum import crc32c, masked

    def framed(data: bytes) -> bytes:
        head = struct.pack("<Q", len(data))
        sums = (struct.pack("<I", masked(crc32c(each))) for each in (head, data))
        return head + next(sums) + data + next(sums)

    version = b"\x09\0\0\0\0\0\0\0\0" + bytes_field(3, b"brain.Event:2")
    return b"".join(map(framed, [version, *records]))


# -- ONNX ------------------------------------------------------------------------------------------


def _onnx(change: Callable[[Any], None]) -> bytes:
    proto = onnx.message("ModelProto")()
    proto.ParseFromString(
        onnx.model(
            onnx.graph(
                [onnx.node("Neg", "x", "y")],
                {"x": ("float32", [2])},
                {"y": ("float32", [2])},
            )
        )
    )
    change(proto)
    return bytes(proto.SerializeToString())


def _weight(proto: Any, dims: list[int], **more: str) -> None:
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=dims)
    if more:
        tensor.data_location = 1
        for key, value in more.items():
            tensor.external_data.add(key=key, value=value)
    proto.graph.node.add(op_type="Mul", input=["x", "w"], output=["z"])


def _beside(location: str, folder: Path, **more: str) -> Path:
    """A model with its weights outside of it."""
    inner = folder / "inner"
    _written("secret", np.float32([1, 2]).tobytes(), folder)
    path = _written("m.onnx", _onnx(lambda p: _weight(p, [2], location=location, **more)), inner)
    _written("w", np.float32([1, 2]).tobytes(), inner)
    (inner / "link").symlink_to(folder / "secret")
    return path


def _in_a_circle(proto: Any) -> None:
    proto.graph.node.add(op_type="Neg", input=["b"], output=["a"])
    proto.graph.node.add(op_type="Neg", input=["a"], output=["b"])


def _in_itself(proto: Any) -> None:
    inner = onnx.node("Again", "a", "b")
    inner.domain = "mine"
    proto.functions.add(name="Again", domain="mine", input=["a"], output=["b"], node=[inner])
    proto.graph.node.add(op_type="Again", domain="mine", input=["y"], output=["z"])


def _plain_onnx() -> bytes:
    return _onnx(lambda proto: None)


ONNX = (
    BadFile(
        "a cut model",
        partial(_made, "m.onnx", lambda: _plain_onnx()[:-9]),
        "cut off, or not a ModelProto",
        "another copy",
    ),
    BadFile("a model of 3 GB", partial(_hollow, "m.onnx", _plain_onnx), "3.0 GiB", "--memory"),
    BadFile(
        "a length over 2 GB in a model",
        partial(_made, "m.onnx", lambda: _plain_onnx() + _LONG),
        "cut off, or not a ModelProto",
        "another copy",
    ),
    BadFile(
        "a weight of 2 GB that is not there",
        partial(_made, "m.onnx", lambda: _onnx(lambda p: _weight(p, [1 << 29]))),
        "'w': it is float32.*, and has 0 bytes",
        "another copy",
    ),
    BadFile(
        "a weight over all memory",
        partial(_made, "m.onnx", lambda: _onnx(lambda p: _weight(p, [1 << 40] * 2))),
        "larger than any memory",
        "damaged",
    ),
    BadFile(
        "weights that are not there",
        partial(_beside, "none"),
        "in 'none'.* No such file",
        "put that file into the model's folder",
    ),
    BadFile(
        "weights above the folder",
        partial(_beside, "../secret"),
        "it is not in the model's folder",
        "put that file into",
    ),
    BadFile(
        "weights behind a link",
        partial(_beside, "link"),
        "it is a link that leads out",
        "put that file into",
    ),
    BadFile(
        "weights at a path from the root",
        partial(_beside, "/etc/hostname"),
        "it is not in the model's folder",
        "put that file into",
    ),
    BadFile(
        "weights behind the end",
        partial(_beside, "w", offset="3000000000", length="8"),
        "behind the end of 'w'",
        "another copy",
    ),
    BadFile(
        "operators in a circle",
        partial(_made, "m.onnx", lambda: _onnx(_in_a_circle)),
        "takes 'b', which is not before",
        "export the model again",
    ),
    BadFile(
        "a function of a model in itself",
        partial(_made, "m.onnx", lambda: _onnx(_in_itself)),
        "'Again' is in itself",
        "export the model again",
    ),
)


# -- traces of PyTorch and JAX ---------------------------------------------------------------------


def _trace(framework: str, name: str) -> bytes:
    return (traces(framework) / f"{name}.gstrace").read_bytes()


def _rezipped(data: bytes, change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = change({name: archive.read(name) for name in archive.namelist()})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return buffer.getvalue()


def _told(change: Callable[[Any], None]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def changed(members: dict[str, bytes]) -> dict[str, bytes]:
        (name,) = (n for n in members if n.endswith(".json"))
        told = json.loads(members[name])
        change(told)
        return {**members, name: json.dumps(told).encode()}

    return changed


def _without_arrays(members: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in members.items() if not name.endswith(".npy")}


def _arrays_of_holes(members: dict[str, bytes]) -> dict[str, bytes]:
    """Every array says that it is of 2 GB."""
    said = b"(1, 1), }", b"(536870912, 1), }"
    head = npy.to_bytes(np.zeros((1, 1), np.float32))
    huge = head.replace(said[0].ljust(len(said[1])), said[1])
    assert huge != head
    return {n: huge if n.endswith(".npy") else d for n, d in members.items()}


def _traces_of(framework: str, name: str) -> tuple[BadFile, ...]:
    def bad(what: str, make: Callable[[], bytes], said: str, do: str) -> BadFile:
        return BadFile(f"{what} of {framework}", partial(_made, "t.gstrace", make), said, do)

    def told(change: Callable[[Any], None]) -> Callable[[], bytes]:
        return lambda: _rezipped(_trace(framework, name), _told(change))

    return (
        bad(
            "a cut trace",
            lambda: _cut(_trace(framework, name)),
            "is cut off or damaged",
            "another copy",
        ),
        bad(
            "a newer trace",
            told(lambda t: t.update(version=99)),
            "written for a newer Gradstep .trace format 99",
            "update Gradstep",
        ),
        bad(
            "a trace of another kind",
            told(lambda t: t.update(format="other")),
            "graph.json is of the format 'other'",
            "gradstep capture",
        ),
        bad(
            "a trace without its arrays",
            lambda: _rezipped(_trace(framework, name), _without_arrays),
            r"tensors/0\.npy is missing",
            "another copy",
        ),
        bad(
            "arrays of 2 GB",
            lambda: _rezipped(_trace(framework, name), _arrays_of_holes),
            "t.gstrace",
            ".",
        ),
        BadFile(
            f"a trace of 3 GB of {framework}",
            partial(_hollow, "t.gstrace", lambda: _trace(framework, name)),
            "3.0 GiB",
            "--memory",
        ),
    )


TRACES = (
    *_traces_of("torch", "mlp"),
    *_traces_of("jax", "mlp"),
    BadFile(
        "a cut program of PyTorch",
        partial(_made, "m.pt2", lambda: _cut(_foreign("model.pt2"))),
        "it is a zip archive, as .* that is cut off",
        "another copy",
    ),
)

# -- what is of another kind -----------------------------------------------------------------------


def _called(name: str, folder: Path) -> Path:
    return _written(Path(name).name, _foreign(name), folder)


FOREIGN = (
    BadFile(
        "Keras' own file",
        partial(_called, "model.keras"),
        "it is a Keras model",
        r"load_model\(.*\)\.export",
    ),
    BadFile(
        "Keras' file of HDF5",
        partial(_called, "model.h5"),
        "it is an HDF5 file, as Keras",
        r"load_model\(.*\)\.export",
    ),
    BadFile(
        "TensorFlow Lite",
        partial(_called, "model.tflite"),
        "a model of TensorFlow Lite",
        "open the graph of the model that it was made of",
    ),
    BadFile(
        "weights of PyTorch",
        partial(_called, "weights.pth"),
        "it is a PyTorch file: weights, or",
        "gradstep capture torch",
    ),
    BadFile(
        "a program of TorchScript",
        partial(_called, "script.pt"),
        "it is a TorchScript module",
        "gradstep capture torch",
    ),
    BadFile(
        "a picture",
        partial(_made, "m.onnx", lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 99),
        "it is a picture",
        "open the document",
    ),
)

BAD_FILES = (*GRAPHS, *TENSORFLOW, *ONNX, *TRACES, *FOREIGN)
