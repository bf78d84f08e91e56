"""PyFunc: the user's function, its results checked in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support import oracle
from tests.support.interpret import evaluate

X = np.array([1, 2], np.float32)


def run(function: Callable[..., Any], outputs: tuple[str, ...] = ("float32",)) -> list[np.ndarray]:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=(2,))
    kinds = tuple(DType(kind) for kind in outputs)
    results = builder.op("PyFunc", x, token="f", Tin=(DType.FLOAT32,), Tout=kinds)
    refs = [r.ref for r in results]
    return evaluate(builder.build(), refs, {"x": X}, functions={"f": function})


def test_it_gets_numpy_arrays_and_gives_one() -> None:
    (found,) = run(lambda x: x + x)
    np.testing.assert_array_equal(found, [2, 4])
    assert found.dtype == np.float32


def test_several_results() -> None:
    first, second = run(lambda x: (x, np.int64(3)), ("float32", "int64"))
    np.testing.assert_array_equal(first, X)
    assert second == 3


def test_python_numbers_take_the_declared_type() -> None:
    (found,) = run(lambda x: 0.5)
    assert found.dtype == np.float32


def test_it_cannot_change_its_input() -> None:
    def scribble(x: np.ndarray) -> np.ndarray:
        x[:] = 9
        return x

    run(scribble)
    np.testing.assert_array_equal(X, [1, 2])


def fail(x: np.ndarray) -> Any:
    return {}["nokey"]


@pytest.mark.parametrize(
    ("row", "function", "token"),
    [
        ("wrong_return_dtype", lambda x: x.astype(np.float64), "pyfunc_25"),
        ("wrong_return_count", lambda x: (x, x), "pyfunc_26"),
        ("python_exception_inside", fail, ""),
        ("returns_none", lambda x: None, "pyfunc_28"),
    ],
)
def test_failure_is_tensorflows(row: str, function: Callable[..., Any], token: str) -> None:
    recorded = oracle.case("override_pyfunc_errors")[row]
    with pytest.raises(GradstepError) as caught:
        run(function)
    assert caught.value.message == oracle.message(recorded).replace(token or "\0", "f")
    assert caught.value.kind == recorded["raised"]
    assert caught.value.hint


def test_what_is_to_be_returned_can_be_checked_in_float64_too() -> None:
    """A cast to the type itself would only move the failure: into the check, or out of it."""
    for wide in (lambda x: x.astype(np.float64), lambda x: np.sin(x, dtype=np.float64)):
        with pytest.raises(GradstepError) as caught:
            run(wide)
        assert "value.astype(x.dtype)" in caught.value.hint
    with pytest.raises(GradstepError) as caught:
        run(lambda x: x, ("int32",))
    assert caught.value.hint == "return value.astype(np.int32)"


def test_unknown_function_is_named() -> None:
    builder = GraphBuilder()
    (y,) = builder.op("PyFunc", token="gone", Tout=(DType.FLOAT32,))
    with pytest.raises(GradstepError, match="callback gone is not found") as caught:
        evaluate(builder.build(), [y.ref], functions={})
    assert caught.value.kind == "LookupError"


def test_declared_shapes_are_the_static_ones() -> None:
    builder = GraphBuilder()
    (y,) = builder.op("PyFunc", token="f", Tout=(DType.FLOAT32,), shapes=(Shape((2, None)),))
    assert y.shape == Shape((2, None))
