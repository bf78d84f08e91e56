"""Initializers: TensorFlow's own numbers for a seed, and without one the same every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.initializers import INITIALIZERS, initializer_of

RECORDED = Path(__file__).parents[3] / "data" / "tensorflow" / "initializers.json"
FLOAT = np.dtype(np.float32)


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text())["cases"])
def test_a_seed_gives_tensorflows_numbers(case: dict[str, Any]) -> None:
    make = getattr(tf.initializers, case["name"])
    shape = tuple(case["shape"])
    found = make(**case["arguments"], seed=5)(shape, FLOAT, "any")
    expected = np.array(case["values"], np.float32).reshape(shape)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == FLOAT


@pytest.mark.parametrize("name", INITIALIZERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_a_seed_the_name_decides(name: str, dtype: str) -> None:
    make, kind = INITIALIZERS[name], np.dtype(dtype)
    first, again, other = (make((3, 3), kind, n) for n in ("a", "a", "b"))
    np.testing.assert_array_equal(first, again)
    assert first.dtype == kind
    drawn = name not in ("zeros", "ones", "identity")
    assert np.array_equal(first, other) is not drawn


def test_an_unknown_initializer_is_refused_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="Unknown initializer: glorot; there are glorot_uniform"):
        initializer_of("glorot")


def test_what_a_variable_starts_with() -> None:
    """A value, an initializer of its own, the scope's; whole numbers start at zero."""
    with GraphBuilder().as_default():
        with tf.variable_scope("s", initializer=tf.ones_initializer()):
            given = tf.get_variable("given", initializer=[[1.5, 2.5]])
            of_scope = tf.get_variable("of_scope", (2,))
            own = tf.get_variable("own", (2, 2), initializer="identity")
        whole = tf.get_variable("whole", (2,), "int32")
        starts = [v.initial_value.tolist() for v in (given, of_scope, own, whole)]
        assert starts == [[[1.5, 2.5]], [1, 1], [[1, 0], [0, 1]], [0, 0]]
        with pytest.raises(ValueError, match="must be fully defined"):
            tf.get_variable("open", (None, 2))
