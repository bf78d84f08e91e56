"""Every file is called what it is, by what is in it; and it is said how to get one that opens."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import pickle
import pkgutil
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io import formats as records
from gradstep.core.io.format_table import (
    TEXT,
    UNKNOWN,
    format_of,
    format_written_as,
    formats,
    suffixes_written,
)
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.record_framing import record
from gradstep.core.io.sniff.file_sample import HEAD, Sample
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.program.derive import derive
from tests.support import oracle
from tests.support.each_case import each_of

SAMPLES = Path(__file__).parents[2] / "data" / "foreign" / "samples.zip"
KINDS = (*formats(), TEXT, UNKNOWN)
GRAPHS = oracle.CASES.parent / "graphs"


@cache
def samples() -> Mapping[str, bytes]:
    with zipfile.ZipFile(SAMPLES) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


THEIRS = {
    "checkpoint_1/checkpoint": "checkpoint_state",
    "checkpoint_1/model.ckpt": "checkpoint_1",
    "checkpoint_2/model.ckpt.data-00000-of-00001": "checkpoint_data",
    "checkpoint_2/model.ckpt.index": "checkpoint_index",
    "checkpoint_2/model.ckpt.meta": "meta_graph",
    "data.tfrecord": "records",
    "frozen.pb": "graphdef",
    "function.pb": "graphdef",
    "graph.meta.txt": "meta_graph_text",
    "graph.pb": "graphdef",
    "graph.pbtxt": "graphdef_text",
    "keras.json": "keras_json",
    "logs/events.out.tfevents.1.host": "event_file",
    "model.h5": "hdf5",
    "model.keras": "keras",
    "model.onnx": "onnx",
    "model.onnx.txt": "onnx_text",
    "model.pt2": "torch_export",
    "model.safetensors": "safetensors",
    "model.tflite": "tflite",
    "old.pth": "torch_old",
    "saved_1/saved_model.pb": "saved_model",
    "saved_2/saved_model.pb": "saved_model",
    "script.pt": "torch_script",
    "weights.msgpack": "flax",
    "weights.pth": "torch",
}
UNREAD = {kind.name for kind in KINDS if kind.read is None}
# What is known by the name alone, in which a checkpoint's parts differ from nothing.
BY_NAME = {"checkpoint_data", "checkpoint_index", "python"}


def _zip(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _saved(save: Callable[..., Any], *values: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    save(file, *values, **named)
    return file.getvalue()


OTHERS = {
    "empty": b"",
    "npy": _saved(np.save, np.zeros(3)),
    "npz": _saved(np.savez, x=np.zeros(3)),
    "pickle": pickle.dumps({"w": [1.0]}),
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(16),
    "pdf": b"%PDF-1.7\n",
    "gzip": gzip.compress(b"graph"),
    "compressed": b"BZh91AY&SY",
    "zip": _zip(readme=b"here"),
    "cut_zip": _zip(readme=b"here" * 99)[:-9],
    "trace": _zip(**{"graph.json": b"{}"}),
    "tar": bytes(257) + b"ustar\0" + bytes(250),
    "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 4\n",
    "web_page": b"<!DOCTYPE html>\n<html><body>404</body></html>",
    "notebook": json.dumps({"cells": [], "nbformat": 4}).encode(),
    "json": b'{"a": 1}',
    "tensorflow_js": json.dumps({"modelTopology": {}}).encode(),
    "graphviz": b"digraph { a -> b }",
    "python": b"import tensorflow as tf\n",
    "saved_model_text": b"saved_model_schema_version: 1\nmeta_graphs {\n}\n",
    "gguf": b"GGUF\x03\0\0\0",
    "stablehlo": b"module @jit_f {\n}\n",
    "mlir": b"ML\xefR\x0d",
    "hlo": b"HloModule jit_f\n",
    "records": record(b"data"),
    "text": b"x, y\n1, 2\n",
    "unknown": bytes(range(200, 256)),
}


def _modules() -> list[Any]:
    return [
        importlib.import_module(f"{records.__name__}.{each.name}")
        for each in pkgutil.iter_modules(records.__path__)
    ]


@each_of("name", THEIRS)
def test_files_that_other_programs_wrote(name: str) -> None:
    kind = THEIRS[name]
    assert format_of(Sample.of_bytes(samples()[name], name)).name == kind
    if kind not in BY_NAME:
        assert format_of(Sample.of_bytes(samples()[name], "renamed.bin")).name == kind


@each_of("kind", OTHERS)
def test_other_files(kind: str) -> None:
    name = "a.py" if kind == "python" else "a.pb"
    assert format_of(Sample.of_bytes(OTHERS[kind], name)).name == kind


@each_of("name", [*THEIRS, *OTHERS])
def test_formats_of_different_modules_are_told_apart(name: str) -> None:
    """So it does not matter in which order the modules are found."""
    data = samples()[name] if name in THEIRS else OTHERS[name]
    sample = Sample.of_bytes(data, "a.py" if name == "python" else name)
    homes = {each: module for module in _modules() for each in module.FORMATS}
    own = [each for each in formats() if not each.general and each.sniff(sample)]
    assert len({homes[each] for each in own}) <= 1, own


def test_every_kind_has_a_sample() -> None:
    folders = {"checkpoint_folder", "log_folder", "hugging_face_folder", "folder"}
    own = {"gradstep", "gradrec", "trace", "torch_script", "numpy_script"}  # the last: "python"
    assert {*THEIRS.values(), *OTHERS, *folders, *own} == {kind.name for kind in KINDS}


@each_of("name", sorted(GRAPHS.glob("*.pb*")), lambda path: path.name)
def test_every_graph_is_known_for_one(name: Path) -> None:
    kind = "graphdef" if name.suffix == ".pb" else "graphdef_text"
    assert format_of(Sample.of_bytes(name.read_bytes(), name.name)).name == kind


# -- opening ---------------------------------------------------------------------------------------


def _refused(path: Path) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        read(path)
    error = caught.value
    assert error.kind == "FileError"
    assert error.hint
    assert "\n" not in error.message + error.hint
    assert not {"{", "FILE", "FOLDER"} & {*error.hint.split()}
    return error


@pytest.mark.parametrize("suffix", ["", ".bin", ".pb", ".gradstep", ".PBTXT"])
def test_what_opens_opens_by_any_name(tmp_path: Path, suffix: str) -> None:
    kept = gradstep_file.to_bytes(Document(title="here"))
    for stem, data in (
        ("own", kept),
        ("binary", (GRAPHS / "gather_nd.pb").read_bytes()),
        ("text", b"# by hand\n\n" + (GRAPHS / "gather_nd.pbtxt").read_bytes()),
    ):
        path = tmp_path / f"{stem}{suffix}"
        path.write_bytes(data)
        document = read(path)
        assert document.title == "here" if stem == "own" else len(document.graph) > 3


@pytest.mark.parametrize("name", [n for n, kind in THEIRS.items() if kind in UNREAD])
def test_what_does_not_open_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(samples()[name])
    error = _refused(path)
    kind = next(kind for kind in KINDS if kind.name == THEIRS[name])
    assert error.message == f"cannot open {path}: it is {kind.what}"
    assert "GraphDef" not in error.message


def test_what_tensorflow_saved_opens_with_its_values(tmp_path: Path) -> None:
    for version, variables in (("saved_1", 1), ("saved_2", 1)):
        for name, data in samples().items():
            if name.startswith(version):
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        for path in (tmp_path / version, tmp_path / version / "saved_model.pb"):
            assert len(read(path).initial) == variables
        index = tmp_path / version / "variables" / "variables.index"
        assert "the folder of the SavedModel that it is in" in _refused(index).hint
    for name in ("model.ckpt.meta", "graph.meta.txt"):
        where = "" if name in samples() else "checkpoint_2/"
        (tmp_path / name).write_bytes(samples()[f"{where}{name}"])
        assert read(tmp_path / name).init


def test_folders(tmp_path: Path) -> None:
    assert _refused(tmp_path).message.endswith("it is a folder")
    (tmp_path / "a.pb").write_bytes(b"")
    (tmp_path / "b.txt").write_bytes(b"")
    assert _refused(tmp_path).hint == "open a file in it: a.pb"
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"")
    assert "event files" in _refused(tmp_path).message
    (tmp_path / "checkpoint").write_bytes(b"")
    assert "checkpoints" in _refused(tmp_path).message
    other = tmp_path / "model"
    other.mkdir()
    (other / "config.json").write_bytes(b"{}")
    (other / "model.safetensors").write_bytes(b"")
    assert "Hugging Face" in _refused(other).message


@pytest.mark.parametrize("cut", [0.02, 0.3, 0.9, 0.999])
def test_a_graph_that_is_cut_off_is_said_to_be(tmp_path: Path, cut: float) -> None:
    data = (GRAPHS / "mnist_softmax.pb").read_bytes()
    path = tmp_path / "cut.bin"
    path.write_bytes(data[: int(len(data) * cut)])
    assert "is a GraphDef that is cut off or damaged" in _refused(path).message


def test_a_document_that_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "cut.gradstep"
    path.write_bytes(gradstep_file.to_bytes(Document(title="here"))[:-40])
    assert "is cut off or damaged" in _refused(path).message
    path.write_bytes(b"")
    assert "it is empty" in _refused(path).message


@pytest.mark.parametrize("kind", ["gzip", "json", "lfs_pointer", "web_page", "zip", "npy"])
@pytest.mark.parametrize("suffix", [".gradstep", ".PBTXT", ".py"])
def test_what_is_called_as_another_is_called_what_it_is(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(OTHERS[kind])
    what = next(each.what for each in formats() if each.name == kind)
    assert _refused(path).message == f"cannot open {path}: it is {what}"


def test_what_opens_is_what_is_suggested(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(b"x, y\n")
    assert _refused(path).hint == (
        "open a .gradstep document, a TensorFlow GraphDef, an ONNX model, a recording of a device, "
        "a TensorFlow SavedModel, a TensorFlow MetaGraph, an event file of TensorBoard, a trace of "
        "a model in PyTorch or JAX or a program exported from PyTorch"
    )


def test_a_damaged_main_file_is_taken_for_what_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "saved_model.pb"
    path.write_bytes(samples()["saved_2/saved_model.pb"][:700])
    assert format_of(Sample.of_bytes(path.read_bytes(), path.name)).name == "saved_model"
    with pytest.raises(GradstepError, match=r"saved_model\.pb") as caught:
        read(path)
    assert "of no kind" not in caught.value.message


@pytest.mark.parametrize("is_drawn", [True, False])
def test_a_suffix_is_written_as_one_format(is_drawn: bool) -> None:
    suffixes = suffixes_written(is_drawn)
    assert len({*suffixes}) == len(suffixes)
    assert all(suffix in format_written_as(suffix).suffixes for suffix in suffixes)
    assert (".svg" in suffixes) == is_drawn


def test_what_nobody_knows_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(bytes(range(200, 256)))
    assert _refused(path).message.endswith(
        "it is of no kind that Gradstep knows, and begins with c8 c9 ca cb cc cd ce cf"
    )


def test_bytes_that_are_no_graph_are_said_to_be_none() -> None:
    with pytest.raises(GradstepError, match=r"x is not a GraphDef \("):
        from_pb(samples()["saved_1/saved_model.pb"], "x")


def test_a_functions_graph_says_what_it_lacks() -> None:
    """It opens; a variable that the function took from outside is one without a value in it."""
    document = from_pb(samples()["function.pb"], "function.pb")
    variable = "MatMul/ReadVariableOp/resource"
    assert document.graph[variable].type == "VarHandleOp"
    problems = derive(document).problems
    assert {problem.node for problem in problems} == {variable}
    assert "uninitialized value" in problems[0].text
    assert derive(from_pb(samples()["frozen.pb"], "frozen.pb")).problems == ()


# -- safety ----------------------------------------------------------------------------------------


def test_little_is_read_of_a_large_file(tmp_path: Path) -> None:
    """A gigabyte of zeros behind the beginning of a SavedModel, of a zip, of an ONNX model."""
    for number, name in enumerate(("saved_1/saved_model.pb", "weights.pth", "model.onnx")):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(samples()[name])
        with path.open("r+b") as file:
            file.truncate(1 << 30)
        looked = 0

        def count(start: int, length: int, path: Path = path) -> bytes:
            nonlocal looked
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(length)
            looked += len(data)
            return data

        format_of(Sample(str(path), 1 << 30, count))
        assert looked < 8 * HEAD


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    made = tmp_path / "made"

    class Bomb:
        def __reduce__(self) -> Any:
            return (made.write_text, ("x",))

    for name, data in (
        ("a.pb", pickle.dumps(Bomb())),
        ("b.pt", _zip(**{"archive/data.pkl": pickle.dumps(Bomb())})),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        _refused(path)
    assert not made.exists()


@given(st.binary(max_size=400))
def test_any_bytes_are_of_some_kind(data: bytes) -> None:
    assert format_of(Sample.of_bytes(data, "a.pb")) in KINDS


@given(st.sampled_from(sorted(THEIRS)), st.data())
def test_damaged_files_are_of_some_kind(name: str, data: st.DataObject) -> None:
    """Whatever is cut off or overwritten."""
    content = bytearray(samples()[name])
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    assert format_of(Sample.of_bytes(bytes(content[:end]), name)) in KINDS
