"""Functions of `tf.random`: random tensors, made of TensorFlow's own ops.

The seeds are TensorFlow's for a graph without a seed of its own: 87654321 and the `seed` given.
"""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import constant, ints
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call

_GRAPH_SEED = 87654321
_LARGEST_SEED = 2**31 - 1
_SCOPES = {"RandomStandardNormal": "random_normal", "TruncatedNormal": "truncated_normal"}


def random_uniform(
    shape: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DType | str = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform in [minval, maxval); of floats in [0, 1) unless told otherwise."""
    kind = DType(dtype)
    if maxval is None:
        if kind.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {kind.value}")
        maxval = 1
    with builder_of((shape, minval, maxval)).scope(name or "random_uniform"):
        if kind.is_integer:
            low, high = constant(minval, kind), constant(maxval, kind)
            return call("RandomUniformInt", ints(shape), low, high, **graph_seeds(seed))
        drawn = call("RandomUniform", ints(shape), dtype=kind, **graph_seeds(seed))
        if isinstance(minval, int) and minval == 0:
            is_one = isinstance(maxval, int) and maxval == 1
            return drawn if is_one else call("Mul", drawn, constant(maxval, kind))
        low, high = constant(minval, kind), constant(maxval, kind)
        return call("AddV2", call("Mul", drawn, call("Sub", high, low)), low)


def random_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DType | str = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    return _normal("RandomStandardNormal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DType | str = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal, but those beyond two standard deviations are drawn again."""
    return _normal("TruncatedNormal", shape, mean, stddev, dtype, seed, name)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    return call("RandomShuffle", constant(value), name=name, **graph_seeds(seed))


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DType | str = "int64",
) -> Tensor:
    """`num_samples` classes for each row of unnormalised log probabilities."""
    attrs: dict[str, Any] = {**graph_seeds(seed), "output_dtype": DType(output_dtype)}
    with builder_of((logits, num_samples)).scope(name or "multinomial"):
        return call("Multinomial", constant(logits), constant(num_samples), **attrs)


def _normal(
    op_type: str,
    shape: TensorLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DType | str,
    seed: int | None,
    name: str | None,
) -> Tensor:
    kind = DType(dtype)
    with builder_of((shape, mean, stddev)).scope(name or _SCOPES[op_type]):
        drawn = call(op_type, ints(shape), dtype=kind, **graph_seeds(seed))
        scaled = call("Mul", drawn, constant(stddev, kind))
        return call("AddV2", scaled, constant(mean, kind))


def graph_seeds(seed: int | None) -> dict[str, Any]:
    """The attributes of a random op; both are 0 where the op's name is to tell."""
    if seed is None:
        return {"seed": 0, "seed2": 0}
    return {"seed": _GRAPH_SEED, "seed2": seed % _LARGEST_SEED}


FUNCTIONS = {
    "categorical": multinomial,
    "multinomial": multinomial,
    "normal": random_normal,
    "random_normal": random_normal,
    "random_shuffle": random_shuffle,
    "random_uniform": random_uniform,
    "shuffle": random_shuffle,
    "truncated_normal": truncated_normal,
    "uniform": random_uniform,
}
