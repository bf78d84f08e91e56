"""Functions of elements as kernels of their own: their texts, held to NumPy where g++ is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.calls.op_evaluation import as_tuple
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import all_ops
from gradstep.core.ops.numerics.fused_functions import fused, repeat
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.fusion.c_expressions import literal
from gradstep.gpu.fusion.cupy_namespace import with_fused
from gradstep.gpu.fusion.fused_kernels import FusedKernels, written
from gradstep.gpu.fusion.kernel_text import KernelText
from tests.support.compiled_elements import HAS_COMPILER, CompiledElements
from tests.support.fake_cupy import FakeCupy
from tests.support.op_cases import Case, make

Given = dict[Any, Any]


class Noting:
    """NumPy, which notes what is to be one kernel."""

    def __init__(self) -> None:
        self.noted: list[tuple[Callable[..., Any], Given, tuple[Any, ...]]] = []

    def fused(self, function: Callable[..., Any], *arrays: Any, **more: Any) -> Any:
        made = function(np, *arrays, **more)
        self.noted.append((function, {**dict(enumerate(arrays)), **more}, as_tuple(made)))
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def cases() -> Iterator[tuple[str, Case]]:
    """Steps of optimizers in float32, each flag of theirs; special functions, which are computed in
    float64, in that."""
    for definition in all_ops():
        if definition.samples is not None and definition.kernel.fused:
            is_step = "Apply" in definition.type
            samples = definition.samples(np.random.default_rng(7))
            for n, sample in enumerate(samples[:: 2 if is_step else 1]):
                dtype = np.dtype(np.float32 if is_step else np.float64)
                yield f"{definition.type}_{n}", make(definition, sample, dtype)


@pytest.fixture(scope="module")
def noted() -> dict[str, tuple[Callable[..., Any], Given, tuple[Any, ...]]]:
    """What operations would have one kernel compute, on their samples."""
    found = {}
    for name, case in cases():
        definition, xp = case.definition, Noting()
        given = {"op": case.operation, "rules": TF_CPU, "functions": {}}
        keywords = definition.keywords(case.operation, given)
        with np.errstate(all="ignore"):
            definition.kernel.plain(xp, *map(np.asarray, case.inputs), **keywords)
        if not any(np.iscomplexobj(x) for x in case.inputs):
            (found[name],) = xp.noted
    return found


def arrays_of(given: Given) -> list[Any]:
    return [x for x in given.values() if hasattr(x, "dtype")]


def test_special_functions_and_all_optimizers_are_kernels_of_their_own() -> None:
    kernels = {definition.type for definition in all_ops() if definition.kernel.fused}
    assert {"Erf", "Betainc", "Polygamma", "BesselK1e", "ApplyGradientDescent"} <= kernels
    steps = {d.type for d in all_ops() if "Apply" in d.type and "Sparse" not in d.type}
    assert steps <= kernels


def test_texts_give_the_types_that_numpy_gives(noted: dict[str, Any]) -> None:
    assert len(noted) > 60
    for name, (function, given, results) in noted.items():
        _, kinds, _ = written(function, given)
        assert kinds == [x.dtype for x in results], name


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no g++")
def test_texts_give_the_numbers_that_numpy_gives(noted: dict[str, Any], tmp_path: Path) -> None:
    texts: dict[str, Any] = {}
    for name, (function, given, _) in noted.items():
        text, gives, _ = written(function, given)
        if all(text.lines != known.lines for known, _, _ in texts.values()):
            texts[name] = text, [x.dtype for x in arrays_of(given)], gives
    compiled = CompiledElements(tmp_path, texts)
    for name, (_, takes, _) in texts.items():
        _, given, results = noted[name]
        close = 1e-5 if np.dtype(np.float32) in takes else 1e-12
        for ours, theirs in zip(results, compiled(name, *arrays_of(given)), strict=True):
            scale = np.max(np.abs(ours[np.isfinite(ours)]), initial=1e-30)
            np.testing.assert_allclose(theirs, ours, rtol=close, atol=close * scale, err_msg=name)


def fibonacci(xp: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return repeat(xp, lambda a, b, n: (b, a + b + 0.0 * n), [(float(n),) for n in range(9)], a, b)


def weighted(xp: Any, x: Any) -> Any:
    rows = [(0.5, 1.0), (2.25, 2.0), (-1.0, 3.0)]
    return repeat(xp, lambda total, w, n: (total + w * n * x,), rows, xp.zeros_like(x))[0]


def turned(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return b, a


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no g++")
def test_a_place_that_is_read_may_be_written_to(tmp_path: Path) -> None:
    a, b, both = np.array([1.0]), np.array([2.0]), [np.dtype(np.float64)] * 2
    text, gives, _ = written(turned, {0: a, 1: b})
    CompiledElements(tmp_path, {"turned": (text, both, gives)})("turned", a, b, out=(a, b))
    assert (a.item(), b.item()) == (2.0, 1.0)


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no g++")
def test_a_loop_goes_on_from_all_values_at_once(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    double, texts = [np.dtype(np.float64)], {}
    for function, given in ((fibonacci, {0: x, 1: x}), (weighted, {0: x})):
        text, gives, _ = written(function, given)
        assert sum(line.startswith("for ") for line in text.lines) == 1
        texts[function.__name__] = text, double * len(given), gives
    compiled = CompiledElements(tmp_path, texts)
    for ours, theirs in zip(fibonacci(np, x, x), compiled("fibonacci", x, x), strict=True):
        np.testing.assert_array_equal(theirs, ours)
    np.testing.assert_array_equal(compiled("weighted", x)[0], weighted(np, x))


def test_numbers_in_rows_that_follow_each_other_need_no_table() -> None:
    assert written(fibonacci, {0: np.ones(1), 1: np.ones(1)})[0].tables == []
    (table,) = written(weighted, {0: np.ones(1)})[0].tables
    assert table == "__device__ const double table0[] = {0.5, 2.25, -1.0};"


class Making(FakeCupy):
    """The stand-in, which makes kernels that compute nothing, and keeps what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []
        self.launched: list[tuple[Any, ...]] = []

    def ElementwiseKernel(self, *words: str, **more: Any) -> Any:
        self.asked.append((*words, more))
        return lambda *arrays: self.launched.append(arrays)


def halved(xp: Any, x: Any, *, by: float = 2.0) -> Any:
    return xp.where(x > 0, x / by, x)


def test_a_kernel_is_made_once_for_each_type_and_launched_once() -> None:
    module = Making()
    make = FusedKernels(module)
    x, wide = np.ones(2, np.float32), np.ones(2)
    for given in (x, x + 1, wide):
        make(halved, given)
    assert [words[:2] for words in module.asked] == [
        ("float32 p0", "float32 r0"),
        ("float64 p0", "float64 r0"),
    ]
    assert len(module.launched) == 3
    make(halved, x, by=3.0)  # a number is a part of the text
    assert len(module.asked) == 3
    assert module.asked[0][-1]["options"] == ("--fmad=false",)
    assert module.asked[0][3] == "gradstep_halved"


def test_a_function_without_a_name_has_a_kernel_with_one() -> None:
    module = Making()
    FusedKernels(module)(lambda xp, x: x + 1.0, np.ones(2))
    assert module.asked[0][3].isidentifier()


def test_a_kernel_writes_where_it_is_told_to() -> None:
    module = Making()
    x, place = np.ones(2), np.zeros(2)
    FusedKernels(module)(halved, x, out=place)
    assert module.launched[0][0] is x
    assert module.launched[0][1] is place


def test_complex_numbers_take_one_launch_for_each_operation() -> None:
    module = Making()
    z, place = np.array([1 + 2j]), np.zeros(1, np.complex128)
    make = FusedKernels(module)
    square: Callable[..., Any] = lambda xp, z: z * z  # noqa: E731
    assert make(square, z).tolist() == [-3 + 4j]
    assert make(square, z, out=place) is place
    assert place.tolist() == [-3 + 4j]
    assert module.asked == []


def test_who_asks_for_an_element_is_refused() -> None:
    def asks(xp: Any, x: Any) -> Any:
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="asked for the value"):
        written(asks, {0: np.ones(1)})
    with pytest.raises(AttributeError, match=r"may not use xp\.sum"):
        written(lambda xp, x: xp.sum(x), {0: np.ones(1)})


def test_the_backend_gives_kernels_what_makes_one_of_them() -> None:
    module = Making()
    xp = CupyBackend(TF_CPU, "gpu", "no card", module).xp
    fused(halved)(xp, np.ones(2))
    assert len(module.launched) == 1
    assert xp.float32 is np.float32
    assert with_fused(fake := FakeCupy()) is fake


def test_a_function_of_numpys_is_as_it_was() -> None:
    assert fused(halved)(np, np.array([4.0]), by=4.0).tolist() == [1.0]
    assert partial(fused(halved), np)(np.array([-4.0])).tolist() == [-4.0]


def test_each_result_has_its_own_type() -> None:
    text = KernelText()
    x = written(halved, {0: np.ones(1, np.float16)})[0]
    assert any(line.startswith("const float16") for line in x.lines)
    assert text.call("add", 1, 2) == 3


@pytest.mark.parametrize("name", ["int8", "int32", "int64", "uint8", "uint64"])
def test_the_ends_of_whole_numbers_are_numbers_that_c_has(name: str) -> None:
    """C reads digits without the sign before them, as a number of the type behind them."""
    dtype = np.dtype(name)
    for value in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        said = literal(value, dtype).partition(")")[2]
        for digits, suffix in re.findall(r"(\d+)(U?LL|)", said):
            assert int(digits) <= np.iinfo(np.uint64 if suffix == "ULL" else np.int64).max
        assert eval(re.sub("U?LL", "", said)) == value
