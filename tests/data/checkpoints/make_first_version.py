"""Writes first_version.zip: checkpoints of TensorFlow's first version, with what is in them.

Run where TensorFlow 2.21 is, which the project does not depend on:

    python tests/data/checkpoints/make_first_version.py

Each folder holds one, and `expected.npz` what TensorFlow says is in it, as make.py has it.
"""

from __future__ import annotations

from pathlib import Path

import make
import numpy as np
import tensorflow as tf

FILE = Path(__file__).with_name("first_version.zip")
tf1 = tf.compat.v1
V1 = tf1.train.SaverDef.V1


def saver(folder: Path) -> None:
    """Two steps of Adam, saved after each."""
    make.saver(folder, V1)


def partitioned(folder: Path) -> None:
    """Variables cut by rows, by columns, and not at all."""
    with tf.Graph().as_default(), tf1.Session() as session:
        with tf1.variable_scope("by", partitioner=tf1.fixed_size_partitioner(3, axis=0)):
            rows = tf.reshape(tf.range(20.0), [10, 2])
            tf1.get_variable("rows", [10, 2], initializer=make.sliced(rows))
        with tf1.variable_scope("by", partitioner=tf1.fixed_size_partitioner(2, axis=1)):
            columns = tf.reshape(tf.range(300, dtype=tf.int64), [2, 150])
            tf1.get_variable("columns", [2, 150], tf.int64, initializer=make.sliced(columns))
        tf1.get_variable("whole", initializer=tf.constant(7.0))
        session.run(tf1.global_variables_initializer())
        kept = tf1.train.Saver(write_version=V1, save_relative_paths=True)
        kept.save(session, str(folder / "model.ckpt"), write_meta_graph=False)
        # Its reader does not put slices together.
        whole = {"by|rows": rows, "by|columns": columns, "whole": tf.constant(7.0)}
        np.savez(folder / "expected.npz", **session.run(whole))


def sharded(folder: Path) -> None:
    """Two files, of two devices."""
    cpus = tf1.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf1.Session(config=cpus) as session:
        with tf.device("/cpu:0"):
            tf1.get_variable("a", initializer=tf.constant([1.0, 2.0]))
        with tf.device("/cpu:1"):
            tf1.get_variable("b", initializer=tf.constant([[3, 4, 5]]))
        session.run(tf1.global_variables_initializer())
        kept = tf1.train.Saver(write_version=V1, sharded=True, save_relative_paths=True)
        kept.save(session, str(folder / "model.ckpt"), write_meta_graph=False)
        make.expect(folder, "model.ckpt-?????-of-00002")


def types(folder: Path) -> None:
    """One tensor of each element type that it takes, and shapes of all kinds."""
    numbers = {
        "bool": np.array([True, False, True]),
        "complex128": np.array(1 - 2j),
        "complex64": np.array([[1 + 2j]], np.complex64),
        "empty": np.zeros((0, 3), np.float32),
        "float16": np.array([1.5, -np.inf, np.nan], np.float16),
        "float32": np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4),
        "float64": np.array([np.pi, -0.0]),
        "int16": np.array([-(1 << 15), 3], np.int16),
        "int32": np.array([[[1, -2], [3, 1 << 30]]], np.int32),
        "int64": np.array([-(1 << 63), (1 << 63) - 1]),
        "int8": np.array([-128, 127], np.int8),
        "uint8": np.arange(250, 256, dtype=np.uint8),
    }
    tensors = {name: tf.constant(array) for name, array in numbers.items()}
    tensors["string"] = tf.constant([[b"", b"caf\xc3\xa9"], [b"\x00\xff", b"x" * 130]])
    names = sorted(tensors)
    there = [name for name in names if _takes(folder, tensors[name])]
    tf.raw_ops.Save(
        filename=str(folder / "all"), tensor_names=there, data=[tensors[name] for name in there]
    )
    # Its reader reads fewer types than its writer writes.
    expected = {name: numbers.get(name, _texts(tensors[name])) for name in there}
    np.savez(folder / "expected.npz", **expected)


def _texts(tensor: tf.Tensor) -> np.ndarray:
    return tensor.numpy().astype(np.bytes_) if tensor.dtype == tf.string else tensor.numpy()


def _takes(folder: Path, tensor: tf.Tensor) -> bool:
    try:
        tf.raw_ops.Save(filename=str(folder / "tried"), tensor_names=["x"], data=[tensor])
    except tf.errors.OpError:
        return False
    finally:
        (folder / "tried").unlink(missing_ok=True)
    return True


def main() -> None:
    """All of them."""
    make.pack(FILE, (saver, partitioned, sharded, types))


if __name__ == "__main__":
    main()
