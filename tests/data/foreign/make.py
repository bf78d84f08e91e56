"""Writes samples.zip: files of other programs, as they write them, small ones.

Each maker runs where its packages are, none of which the project depends on; what cannot be made
stays as it is in the file. TensorFlow 2.21 with tf_keras, and elsewhere torch 2.13, onnx,
safetensors and flax:

    python tests/data/foreign/make.py
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"
FILE = Path(__file__).with_name("samples.zip")


def tensorflow_1(folder: Path) -> None:
    """A SavedModel, a checkpoint of either version with its MetaGraph, and an event file."""
    import tensorflow as tf

    tf1 = tf.compat.v1
    for name in ("checkpoint_1", "checkpoint_2"):
        (folder / name).mkdir()
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        w = tf1.get_variable("w", [2, 1], use_resource=False)
        loss = tf.reduce_mean(tf.matmul(x, w), name="loss")
        tf1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, str(folder / "saved_1"), {"x": x}, {"loss": loss})
        tf1.train.Saver().save(session, str(folder / "checkpoint_2" / "model.ckpt"))
        old = tf1.train.Saver(write_version=tf1.train.SaverDef.V1)
        old.save(session, str(folder / "checkpoint_1" / "model.ckpt"), write_meta_graph=False)
        meta = tf1.train.export_meta_graph(str(folder / "graph.meta.txt"), as_text=True)
        assert meta.graph_def.node
        writer = tf1.summary.FileWriter(str(folder / "logs"), graph)
        writer.close()
        (event_file,) = (folder / "logs").iterdir()
        event_file.rename(event_file.with_name("events.out.tfevents.1.host"))
        tf.io.write_graph(graph, str(folder), "graph.pb", as_text=False)
        tf.io.write_graph(graph, str(folder), "graph.pbtxt")
    with tf.io.TFRecordWriter(str(folder / "data.tfrecord")) as records:
        records.write(b"a record")


def tensorflow_2(folder: Path) -> None:
    """A SavedModel with a function, that function's graph as it is and frozen, Keras, TF Lite."""
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    class Model(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable([[1.0], [2.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return tf.matmul(x, self.w)

    model = Model()
    tf.saved_model.save(model, str(folder / "saved_2"))
    function = model.__call__.get_concrete_function()
    tf.io.write_graph(function.graph, str(folder), "function.pb", as_text=False)
    frozen = convert_variables_to_constants_v2(function)
    tf.io.write_graph(frozen.graph, str(folder), "frozen.pb", as_text=False)
    lite = tf.lite.TFLiteConverter.from_concrete_functions([function], model)
    (folder / "model.tflite").write_bytes(lite.convert())


def keras(folder: Path) -> None:
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.save(str(folder / "model.h5"))
    model.save(str(folder / "model.keras"))
    (folder / "keras.json").write_text(model.to_json())


def torch(folder: Path) -> None:
    import torch

    model = torch.nn.Linear(2, 1)
    torch.save(model.state_dict(), folder / "weights.pth")
    torch.save(model.state_dict(), folder / "old.pth", _use_new_zipfile_serialization=False)
    torch.jit.save(torch.jit.trace(model, torch.zeros(1, 2)), str(folder / "script.pt"))
    exported = torch.export.export(model, (torch.zeros(1, 2),))
    for node in exported.graph.nodes:
        node.meta.pop("stack_trace", None)  # which names files of this machine
    torch.export.save(exported, folder / "model.pt2")


def onnx(folder: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    model = helper.make_model(graph)
    onnx.save(model, folder / "model.onnx")
    (folder / "model.onnx.txt").write_text(onnx.printer.to_text(model))


def weights(folder: Path) -> None:
    import flax.serialization
    import numpy as np
    import safetensors.numpy

    values = {"w": np.zeros((2, 2), np.float32)}
    safetensors.numpy.save_file(values, folder / "model.safetensors")
    (folder / "weights.msgpack").write_bytes(flax.serialization.to_bytes(values))


MAKERS: tuple[Callable[[Path], None], ...] = (
    tensorflow_1, tensorflow_2, keras, torch, onnx, weights,
)  # fmt: skip
_LEFT_OUT = ("fingerprint.pb",)


def main() -> None:
    found: dict[str, bytes] = {}
    if FILE.exists():
        with zipfile.ZipFile(FILE) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
    folder = Path(tempfile.mkdtemp())
    for make in MAKERS:
        try:
            make(folder)
        except ImportError as error:
            sys.stderr.write(f"{make.__name__} is left as it is: {error}\n")
    made = (path for path in sorted(folder.rglob("*")) if path.is_file())
    for path in made:
        if path.name not in _LEFT_OUT:
            data = path.read_bytes().replace(f"{path.parent}/".encode(), b"")
            found[path.relative_to(folder).as_posix()] = data
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in sorted(found):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, found[name], zipfile.ZIP_DEFLATED, 9)
    FILE.write_bytes(packed.getvalue())
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
