"""The alternative kernels themselves, each where its library is: results like the reference's.

The loops that numba compiles run here uncompiled, and SciPy's are stood in for, so that what is
around them is tested everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.kernels import kernel_libraries, numba_kernels
from gradstep.core.engine.kernels.kernel_alternative import Alternative
from gradstep.core.engine.kernels.kernel_libraries import NUMBA, SCIPY, Library
from gradstep.core.engine.kernels.kernel_registry import ALTERNATIVES
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.table import Sample, lookup
from tests.support.op_cases import KNOWN, NOTHING_KNOWN, Case, cases, make

EPSILON = np.finfo(np.float32).eps
_RNG = np.random.default_rng(11)


def add_columns(
    rows: int, columns: int, width: int, starts: Any, places: Any, ones: Any, x: Any, out: Any
) -> None:
    """What SciPy's loop of that name does, as far as it is used."""
    assert starts.dtype == places.dtype
    assert list(starts) == list(range(columns + 1))
    out, x = out.reshape(rows, width), x.reshape(columns, width)
    for column, place in enumerate(places):
        out[place] += ones[column] * x[column]


STAND_INS = {
    "SciPy": SimpleNamespace(csc_matvecs=add_columns),
    "numba": SimpleNamespace(njit=lambda **how: lambda loop: loop),
}


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SciPy and numba, in Python."""
    monkeypatch.setattr(kernel_libraries, "_opened", lambda which: STAND_INS[which.name])
    monkeypatch.setattr(Library, "version", "1.0")
    numba_kernels._compiled.cache_clear()
    yield
    numba_kernels._compiled.cache_clear()


def values(case: Case, kernels: Any = "reference", fast: bool = False) -> list[np.ndarray]:
    session = Session(case.graph, fast=fast, kernels=kernels)
    return session.run(case.outputs, case.feeds)


def used(case: Case, one: Alternative) -> bool:
    """Whether the session's plan would have it computed so."""
    session = Session(case.graph, kernels=[one.library.name])
    session.run(case.outputs, case.feeds)
    return session.computed_by == {"it": one.library.name}


ROWS = [one for one in ALTERNATIVES if one.library in (SCIPY, NUMBA)]


def rows_cases(one: Alternative) -> Iterator[Case]:
    definition = lookup(one.type)
    for known in (KNOWN, NOTHING_KNOWN):
        yield from cases(definition, np.float32, known)
        for sample in many_rows() if one.type == "UnsortedSegmentSum" else many_integers():
            yield make(definition, sample, np.float32, known)


def many_rows() -> list[Sample]:
    data = _RNG.normal(size=(300, 9)) * 10.0 ** _RNG.integers(-3, 3, (300, 9))
    ids = (_RNG.zipf(1.3, 300) % 20 - 1).astype(np.int32)  # some are dropped
    empty = np.zeros((0, 3)), np.zeros(0, np.int64), np.int32(2)
    return [
        Sample((data, ids, np.int32(25))),
        Sample((data.reshape(30, 10, 9), ids.reshape(30, 10).astype(np.int64), np.int64(25))),
        Sample(empty),
    ]


def many_integers() -> list[Sample]:
    x = _RNG.integers(-5, 40, 300)
    return [Sample((x,)), Sample((x.astype(np.int32) << 20,)), Sample((np.zeros(0, np.int32),))]


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("one", ROWS, ids=lambda a: f"{a.type}-{a.library.name}")
@pytest.mark.parametrize("fast", [False, True])
def test_rows_have_the_references_bits(one: Alternative, fast: bool) -> None:
    same_bits(one, fast)


@pytest.mark.parametrize("one", ROWS, ids=lambda a: f"{a.type}-{a.library.name}")
@pytest.mark.parametrize("fast", [False, True])
def test_rows_have_the_references_bits_by_the_library_itself(one: Alternative, fast: bool) -> None:
    if one.library.version is None:
        pytest.skip(f"{one.library.name} is not installed")
    same_bits(one, fast)


def same_bits(one: Alternative, fast: bool) -> None:
    taken = 0
    for case in rows_cases(one):
        want, have = values(case), values(case, [one.library.name], fast)
        for a, b in zip(want, have, strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        taken += used(case, one)
    assert taken > 3


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("name", ["SciPy", "numba"])
@pytest.mark.parametrize("count", [0, 2])
def test_rows_refuse_what_the_reference_refuses(name: str, count: int) -> None:
    definition = lookup("UnsortedSegmentSum")
    sample = Sample((np.ones((2, 4)), np.array([-1, 5], np.int32), np.int32(count)))
    case = make(definition, sample, np.float32, NOTHING_KNOWN)
    messages = []
    for kernels in ("reference", [name]):
        with pytest.raises(GradstepError) as error:
            values(case, kernels)
        messages.append((error.value.message, error.value.node, error.value.index))
    assert messages[0] == messages[1]
    assert f"segment_ids[1] = 5 is out of range [0, {count})" in messages[0][0]


CONVOLUTIONS = [one for one in ALTERNATIVES if one.type.startswith("Conv2D")]


@pytest.mark.parametrize("one", CONVOLUTIONS, ids=lambda a: a.type)
@pytest.mark.parametrize("fast", [False, True])
def test_convolutions_are_as_near_as_they_say(one: Alternative, fast: bool) -> None:
    if one.library.version is None:
        pytest.skip(f"{one.library.name} is not installed")
    taken = 0
    for case in convolution_cases(one):
        (want,), (have,) = values(case), values(case, [one.library.name], fast)
        assert have.shape == want.shape
        count, magnitudes = terms(case)
        assert np.all(np.abs(want - have) <= 2 * count * EPSILON * magnitudes)
        taken += used(case, one)
    assert taken > 3


def convolution_cases(one: Alternative) -> Iterator[Case]:
    definition = lookup(one.type)
    yield from cases(definition, np.float32)
    for attrs in (
        {"strides": (1, 1, 1, 1), "padding": "SAME"},
        {"strides": (1, 3, 2, 1), "padding": "VALID"},
        {"strides": (1, 2, 2, 1), "padding": "SAME", "dilations": (1, 1, 2, 1)},
    ):
        x, w = _RNG.normal(size=(3, 11, 14, 8)), _RNG.normal(size=(3, 2, 8, 16))
        forward = make(lookup("Conv2D"), Sample((x, w), attrs), np.float32)
        if one.type == "Conv2D":
            yield forward
            continue
        g = _RNG.normal(size=values(forward)[0].shape)
        told = 0 if one.type.endswith("Input") else 1
        inputs: list[Any] = [x, w, g]
        inputs[told] = np.array(inputs[told].shape, np.int32)
        yield make(definition, Sample(tuple(inputs), attrs), np.float32)


def terms(case: Case) -> tuple[int, np.ndarray]:
    """At most how many products each element adds up, and the sum of their magnitudes."""
    bigger = {name: np.abs(x) for name, x in case.feeds.items()}
    ones = {name: np.ones_like(x) for name, x in case.feeds.items()}
    session = Session(case.graph)
    (magnitudes,), (counts,) = (session.run(case.outputs, f) for f in (bigger, ones))
    return int(counts.max()), magnitudes
