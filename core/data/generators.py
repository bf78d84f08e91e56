"""Values that are generated: `zeros`, `range`, `normal(0, 0.1, seed=7)`, `he_normal(seed=1)`.

The numbers are those of TensorFlow's initializers and random operations for the same seed, in a
graph that was given none. Without a seed they follow from the name of what they are for.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType, array_bytes
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.graph.splat_array import splat
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.memory_budget import Budget, in_words
from gradstep.core.ops.build.initializers import (
    GRAPH_SEED,
    Initializer,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
)
from gradstep.core.ops.numerics import stream_draws as streams
from gradstep.core.ops.numerics.philox import seeds_of

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform")


def _an_example(shape: Shape) -> list[int]:
    """Sizes that fit a shape that leaves some open."""
    return [8, 4] if shape.dims is None else [8 if size is None else size for size in shape.dims]


class Target:
    """What a value is generated for. name: of the variable or placeholder."""

    def __init__(self, kind: TensorType, name: str, budget: Budget, given: Any) -> None:
        """given: the shape that was written, or None for the one that is declared."""
        self.kind, self.name = kind, name
        self.dtype = kind.dtype.numpy
        self._given, self._budget = given, budget

    @property
    def shape(self) -> tuple[int, ...]:
        """All sizes. Raises GradstepError where they are not known, or too large."""
        if self._given is not None:
            return self.room(_sizes(self._given))
        if not self.kind.shape.is_static:
            raise wrong_call(
                f"the shape of '{self.name}', {self.kind.shape}, does not say how many numbers",
                f"write the shape first, such as zeros({_an_example(self.kind.shape)})",
            )
        return self.room(self.kind.shape.static())

    def room(self, sizes: tuple[int, ...], made_of: DType | None = None) -> tuple[int, ...]:
        """`sizes`, if there is room for so many numbers, of the type that they are made of where
        that is wider. Raises GradstepError."""
        kind = self.kind.dtype
        if made_of is not None and made_of.numpy.itemsize > self.dtype.itemsize:
            kind = made_of
        try:
            size = array_bytes(sizes, kind.numpy.itemsize)
        except ValueError as error:
            raise wrong_call(str(error), "write a smaller shape") from None
        limit = self._budget.limit
        if size > limit:
            what = f"{kind.value}{Shape(sizes)}"
            raise wrong_call(
                f"{what} takes {in_words(size)} of memory, and a value may take {in_words(limit)}",
                "write a smaller shape",
            )
        return sizes

    def drawn(self, initializer: Initializer) -> np.ndarray:
        """What an initializer of fractions makes."""
        if not self.kind.dtype.is_floating:
            raise wrong_call(
                f"random fractions cannot be of {self.kind.dtype.value}",
                "use uniform(low, high) for whole numbers, bernoulli(p) for 0 and 1",
            )
        return initializer(self.shape, self.dtype, self.name).astype(self.dtype, copy=False)


@dataclass(frozen=True)
class Generator:
    """make: of a target and the arguments that follow it; its first line of documentation says
    what comes. takes_shape: whether a shape may be written."""

    make: Callable[..., np.ndarray]
    takes_shape: bool = True

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        _, *rest = inspect.signature(self.make).parameters.values()
        return {parameter.name: parameter for parameter in rest}

    @property
    def words(self) -> str:
        return inspect.cleandoc(self.make.__doc__ or "").partition("\n")[0]


def _full(target: Target, value: float) -> np.ndarray:
    """One number for every element."""
    made = np.array(value).astype(target.dtype)
    if kind_of(target.dtype) in "iub" and made.item() != value:
        raise wrong_call(f"{target.kind.dtype.value} cannot hold {value}", "write another number")
    return splat(made, target.shape)


def _zeros(target: Target) -> np.ndarray:
    """Zeros."""
    return _full(target, 0)


def _ones(target: Target) -> np.ndarray:
    """Ones."""
    return _full(target, 1)


def _range(
    target: Target, start: float, limit: float | None = None, delta: float = 1
) -> np.ndarray:
    """start, start + delta and so on, up to before limit; range(5) is 0 to 4."""
    first, end = (0, start) if limit is None else (start, limit)
    if not delta or not all(map(math.isfinite, (first, end, delta))):
        raise wrong_call("range needs finite numbers, and a delta that is not 0", "write range(5)")
    count = max(0, math.ceil((end - first) / delta))
    target.room((count,), DType.FLOAT64)
    return _filling(target, np.arange(count) * delta + first)


def _linspace(target: Target, start: float, stop: float, num: int | None = None) -> np.ndarray:
    """num numbers at equal distances, both ends among them."""
    count = math.prod(target.shape) if num is None else num
    if count < 1:
        raise wrong_call(f"linspace cannot make {count} numbers", "write num of 1 or more")
    target.room((count,), DType.FLOAT64)
    return _filling(target, np.linspace(start, stop, count))


def _filling(target: Target, numbers: np.ndarray) -> np.ndarray:
    """Numbers in a row, in the declared shape where that holds as many."""
    shape = target.kind.shape
    fits = shape.is_static and math.prod(shape.static()) == numbers.size
    return numbers.reshape(shape.static()) if fits else numbers


def _eye(target: Target, rows: int | None = None, columns: int | None = None) -> np.ndarray:
    """Ones on the diagonal of a matrix."""
    sizes = target.shape if rows is None else (rows, rows if columns is None else columns)
    if len(sizes) != 2 or min(sizes) < 0:
        raise wrong_call(f"eye makes matrices, and not {Shape(sizes)}", "write eye(3)")
    return np.eye(*target.room(sizes), dtype=target.dtype)


def _normal(
    target: Target, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None
) -> np.ndarray:
    """Normally distributed."""
    return target.drawn(RandomNormal(mean, stddev, seed))


def _truncated_normal(
    target: Target, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None
) -> np.ndarray:
    """Normally distributed, those beyond two standard deviations drawn again."""
    return target.drawn(TruncatedNormal(mean, stddev, seed))


def _uniform(
    target: Target, minval: float = 0.0, maxval: float = 1.0, seed: int | None = None
) -> np.ndarray:
    """Uniform from minval to before maxval; whole numbers where those are asked for."""
    if target.kind.dtype not in (DType.INT32, DType.INT64):
        return target.drawn(RandomUniform(minval, maxval, seed))
    low, high = int(minval), int(maxval)
    limits = np.iinfo(target.dtype)
    if (low, high) != (minval, maxval) or not limits.min <= low < high <= limits.max:
        raise wrong_call(
            f"there is no {target.kind.dtype.value} from {minval} to before {maxval}", ""
        )
    shape, seeds = target.shape, _seeds(seed, target.name, "random_uniform/RandomUniformInt")
    count = math.prod(shape)
    return streams.uniform_integers(seeds, 0, count, target.dtype, low, high).reshape(shape)


def _bernoulli(target: Target, p: float = 0.5, seed: int | None = None) -> np.ndarray:
    """1 with probability p, else 0: where a uniform number is less than p."""
    if not 0 <= p <= 1:
        raise wrong_call(f"{p} is no probability", "write one from 0 to 1")
    shape, seeds = target.shape, _seeds(seed, target.name, "random_uniform/RandomUniform")
    drawn = streams.uniforms(seeds, 0, math.prod(shape), np.dtype(np.float32))
    return (drawn < np.float32(p)).reshape(shape).astype(target.dtype)


def _variance_scaling(
    target: Target,
    scale: float = 1.0,
    mode: str = "fan_in",
    distribution: str = "truncated_normal",
    seed: int | None = None,
) -> np.ndarray:
    """Of variance scale / fan, so that signals keep their size through a layer."""
    for given, allowed in ((mode, _MODES), (distribution, _DISTRIBUTIONS)):
        if given not in allowed:
            raise wrong_call(f"variance_scaling knows no '{given}'", instead(given, allowed))
    if scale <= 0:
        raise wrong_call(f"a scale of {scale} is not above 0", "write scale=1")
    return target.drawn(VarianceScaling(scale, mode, distribution, seed))


def _glorot_uniform(target: Target, seed: int | None = None) -> np.ndarray:
    """Glorot's: uniform, of variance 2 / (inputs + outputs)."""
    return target.drawn(VarianceScaling(1.0, "fan_avg", "uniform", seed))


def _glorot_normal(target: Target, seed: int | None = None) -> np.ndarray:
    """Glorot's: truncated normal, of variance 2 / (inputs + outputs)."""
    return target.drawn(VarianceScaling(1.0, "fan_avg", seed=seed))


def _he_uniform(target: Target, seed: int | None = None) -> np.ndarray:
    """He's: uniform, of variance 2 / inputs."""
    return target.drawn(VarianceScaling(2.0, "fan_in", "uniform", seed))


def _he_normal(target: Target, seed: int | None = None) -> np.ndarray:
    """He's: truncated normal, of variance 2 / inputs."""
    return target.drawn(VarianceScaling(2.0, "fan_in", seed=seed))


GENERATORS: dict[str, Generator] = {
    "zeros": Generator(_zeros),
    "ones": Generator(_ones),
    "full": Generator(_full),
    "range": Generator(_range, takes_shape=False),
    "linspace": Generator(_linspace, takes_shape=False),
    "eye": Generator(_eye, takes_shape=False),
    "normal": Generator(_normal),
    "truncated_normal": Generator(_truncated_normal),
    "uniform": Generator(_uniform),
    "bernoulli": Generator(_bernoulli),
    "glorot_uniform": Generator(_glorot_uniform),
    "glorot_normal": Generator(_glorot_normal),
    "he_uniform": Generator(_he_uniform),
    "he_normal": Generator(_he_normal),
    "variance_scaling": Generator(_variance_scaling),
}


def _seeds(seed: int | None, name: str, op: str) -> tuple[int, int]:
    given = (0, 0) if seed is None else (GRAPH_SEED, seed)
    return seeds_of(*given, f"{name}/Initializer/{op}")


def _sizes(given: Any) -> tuple[int, ...]:
    sizes = given if isinstance(given, list) else [given]
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise wrong_call(f"{given!r:.40} is no shape", "write whole numbers, such as [8, 4]")
    return tuple(sizes)


def wrong_call(message: str, hint: str) -> GradstepError:
    """The error for a generator that cannot make what it was asked for."""
    return GradstepError(message, kind=USAGE, hint=hint)
