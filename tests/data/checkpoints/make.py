"""Writes bundles.zip: checkpoints as TensorFlow writes them, with what is in them.

Run where TensorFlow 2.21 is, which the project does not depend on:

    python tests/data/checkpoints/make.py

Each folder holds checkpoints, and `expected.npz` what TensorFlow says is in them: bfloat16 as
float32, texts as bytes, and | for / in names.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

FILE = Path(__file__).with_name("bundles.zip")
tf1 = tf.compat.v1


def saver(folder: Path, version: int = tf1.train.SaverDef.V2) -> None:
    """Two steps of Adam, saved after each."""
    with tf.Graph().as_default(), tf1.Session() as session:
        step = tf1.train.get_or_create_global_step()
        w = tf1.get_variable("layer/w", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
        b = tf1.get_variable("layer/b", initializer=tf.constant([0.5, -0.5]))
        loss = tf.reduce_sum((tf.matmul([[1.0, -1.0]], w) + b) ** 2)
        train = tf1.train.AdamOptimizer(0.1).minimize(loss, step)
        session.run(tf1.global_variables_initializer())
        kept = tf1.train.Saver(write_version=version, save_relative_paths=True)
        for _ in range(2):
            session.run(train)
            kept.save(session, str(folder / "model.ckpt"), step, write_meta_graph=False)
        expect(folder, "model.ckpt-2")


def partitioned(folder: Path) -> None:
    """Variables cut by rows, by columns, and not at all."""
    with tf.Graph().as_default(), tf1.Session() as session:
        with tf1.variable_scope("by", partitioner=tf1.fixed_size_partitioner(3, axis=0)):
            rows = tf.reshape(tf.range(20.0), [10, 2])
            tf1.get_variable("rows", [10, 2], initializer=sliced(rows))
        with tf1.variable_scope("by", partitioner=tf1.fixed_size_partitioner(2, axis=1)):
            columns = tf.reshape(tf.range(300, dtype=tf.int64), [2, 150])
            tf1.get_variable("columns", [2, 150], tf.int64, initializer=sliced(columns))
        tf1.get_variable("whole", initializer=tf.constant(7.0))
        session.run(tf1.global_variables_initializer())
        kept = tf1.train.Saver(save_relative_paths=True)
        kept.save(session, str(folder / "model.ckpt"), write_meta_graph=False)
        expect(folder, "model.ckpt")


def sliced(whole: tf.Tensor) -> Callable[..., tf.Tensor]:
    """The initializer of a variable of that value, which is told what part of it is asked for."""

    def value(shape: Any, dtype: Any = None, partition_info: Any = None) -> tf.Tensor:
        offset = [0] * len(shape) if partition_info is None else partition_info.var_offset
        return tf.slice(whole, offset, shape)

    return value


def types(folder: Path) -> None:
    """One tensor of each element type that NumPy has, and shapes of all kinds."""
    numbers = {
        "bool": np.array([True, False, True]),
        "complex128": np.array(1 - 2j),
        "complex64": np.array([[1 + 2j]], np.complex64),
        "empty": np.zeros((0, 3), np.float32),
        "float16": np.array([1.5, -np.inf, np.nan], np.float16),
        "float64": np.array([np.pi, -0.0]),
        "int16": np.array([-(1 << 15)], np.int16),
        "int32": np.array([[[1, 2], [3, 4]]], np.int32),
        "int64": np.array([-(1 << 63), (1 << 63) - 1]),
        "int8": np.array([-128, 127], np.int8),
        "uint16": np.array([65535], np.uint16),
        "uint32": np.array((1 << 32) - 1, np.uint32),
        "uint64": np.array([(1 << 64) - 1], np.uint64),
        "uint8": np.arange(5, dtype=np.uint8),
    }
    tensors = {name: tf.constant(array) for name, array in numbers.items()}
    tensors["string"] = tf.constant([[b"", b"caf\xc3\xa9"], [b"\x00\xff", b"x" * 130]])
    tensors["one_text"] = tf.constant(b"text")
    _save(folder / "all", tensors)
    expect(folder, "all")


def halves(folder: Path) -> None:
    """What NumPy has no element type for."""
    numbers = tf.cast(tf.constant([[1.0, -2.5], [3e38, float("nan")]]), tf.bfloat16)
    small = tf.cast(tf.constant([1.0, 2.0]), tf.dtypes.experimental.float8_e4m3fn)
    _save(folder / "half.ckpt", {"bfloat16": numbers, "float8": small})
    expect(folder, "half.ckpt")


def shards(folder: Path) -> None:
    """Two files of data, of two devices."""
    parts = [str(folder / f"part-{number}") for number in range(2)]
    _save(Path(parts[0]), {"a": tf.constant([1.0, 2.0]), "c": tf.constant(5, tf.int64)})
    _save(Path(parts[1]), {"b": tf.constant([[3.0]])})
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=parts, destination_prefix=str(folder / "model.ckpt")
    )
    expect(folder, "model.ckpt")


def objects(folder: Path) -> None:
    """What TensorFlow 2 saves: objects, with variables that have names besides."""

    class Model(tf.Module):
        def __init__(self) -> None:
            self.kernel = tf.Variable([[1.0], [2.0]], name="dense/kernel")
            self.bias = tf.Variable([0.25], name="dense/bias")

    tf.train.Checkpoint(model=Model()).save(str(folder / "ckpt"))
    expect(folder, "ckpt-1")


def _save(prefix: Path, tensors: Mapping[str, tf.Tensor]) -> None:
    """In the order of names, as a Saver does."""
    names = sorted(tensors)
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tensors[name] for name in names],
    )


def expect(folder: Path, name: str) -> None:
    """Write down what TensorFlow reads."""
    reader = tf.train.load_checkpoint(str(folder / name))
    arrays = {}
    for key in reader.get_variable_to_shape_map():
        array = np.asarray(reader.get_tensor(key))
        if array.dtype.name in ("bfloat16", "float8_e4m3fn"):
            array = array.astype(np.float32)
        if array.dtype == object:
            array = array.astype(np.bytes_)
        arrays[key.replace("/", "|")] = array
    np.savez(folder / "expected.npz", **arrays)


def pack(into: Path, makes: Sequence[Callable[[Path], None]]) -> None:
    """A zip of a folder for each of these, named as it is: equal files give equal bytes."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(packed, "w") as archive:
        for make in makes:
            folder = Path(place) / make.__name__
            folder.mkdir()
            make(folder)
        for path in sorted(Path(place).rglob("*")):
            if path.is_file() and ".tempstate" not in path.name:
                info = zipfile.ZipInfo(path.relative_to(place).as_posix(), (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
    into.write_bytes(packed.getvalue())


def main() -> None:
    """All of them, with what stands in the zip the same each time but for object graphs."""
    pack(FILE, (saver, partitioned, types, halves, shards, objects))


if __name__ == "__main__":
    main()
