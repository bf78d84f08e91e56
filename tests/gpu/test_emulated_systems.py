"""Each profile's rules against what the systems do: recorded, or read in their sources.

The table's inputs are rows [10, 20, 30] and the indices 0, 3, -1 and -4.
"""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.system_rules import Flush, OutOfRange, Rules
from gradstep.gpu.emulated_systems import CUPY_NATIVE, NUMPY_NATIVE, PROFILES, TF_ON_GPU
from tests.support import oracle
from tests.support.each_case import each_of

ROWS = np.array([10, 20, 30], np.float32)
INDICES = np.array([0, 3, -1, -4], np.int32)
ZERO = np.array(0, np.int32)
SIZE = np.array([3], np.int32)

# None: the system refuses the index.
GATHERED = {
    "tf-gpu": [10, 0, 0, 0],
    "tf-xla": [10, 30, 10, 10],
    "cupy": [10, 10, 30, 30],
    "jax": [10, 30, 30, 10],
    "torch": [10, None, 30, None],
    "onnxruntime-cuda": [10, 0, 30, 0],
    "onnxruntime": [10, None, 30, None],
    "numpy": [10, None, 30, None],
}
SCATTERED = {  # where a 1 ends up: its row, or "dropped"
    "tf-gpu": [0, "dropped", "dropped", "dropped"],
    "tf-xla": [0, "dropped", "dropped", "dropped"],
    "cupy": [0, 0, 2, 2],
    "jax": [0, "dropped", 2, "dropped"],
    "torch": [0, None, 2, None],
    "onnxruntime-cuda": [0, 2, 2, 0],
    "onnxruntime": [0, None, 2, None],
    "numpy": [0, None, 2, None],
}
SYSTEMS: dict[str, Rules] = {**PROFILES, "numpy": NUMPY_NATIVE}


def run(rules: Rules, type_: str, *inputs: np.ndarray) -> np.ndarray:
    refs = tuple(TensorRef(f"x{i}") for i in range(len(inputs)))
    return np.asarray(run_op(NumpyBackend(rules), Operation("op", type_, refs), inputs)[0])


def outcome(rules: Rules, type_: str, *inputs: np.ndarray) -> np.ndarray | None:
    try:
        return run(rules, type_, *inputs)
    except GradstepError:
        return None


@each_of("name", SYSTEMS)
def test_gather(name: str) -> None:
    for index, expected in zip(INDICES, GATHERED[name], strict=True):
        one = outcome(SYSTEMS[name], "GatherV2", ROWS, np.array([index], np.int32), ZERO)
        nd = outcome(SYSTEMS[name], "GatherNd", ROWS, np.array([[index]], np.int32))
        for found in (one, nd):
            assert (None if found is None else found.tolist()) == (
                None if expected is None else [expected]
            ), index


@each_of("name", SYSTEMS)
def test_scatter(name: str) -> None:
    for index, expected in zip(INDICES, SCATTERED[name], strict=True):
        at, one = np.array([[index]], np.int32), np.ones(1, np.float32)
        found = outcome(SYSTEMS[name], "ScatterNd", at, one, SIZE)
        if expected is None:
            assert found is None, index
        else:
            assert found is not None, index
            where = np.flatnonzero(found).tolist()
            assert where == ([] if expected == "dropped" else [expected]), index


def test_tf_xla_is_what_tensorflow_recorded() -> None:
    recorded = oracle.case("xla_out_of_range")
    rules = PROFILES["tf-xla"]
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    at = np.array([0, 5, -1], np.int32)

    def said(name: str) -> list:
        return oracle.array(recorded[name]["value"]).tolist()

    gathered = run(rules, "GatherV2", rows, at, ZERO)
    assert gathered.tolist() == said("XLA-CPU gather [0,5,-1] of 3 rows")
    gathered = run(rules, "GatherNd", rows, at[:, None])
    assert gathered.tolist() == said("XLA-CPU gather_nd [[0],[5],[-1]]")
    ones = np.ones(3, np.float32)
    assert run(rules, "ScatterNd", at[:, None], ones, SIZE).tolist() == said(
        "XLA-CPU scatter_nd [0,5,-1]"
    )
    summed = run(rules, "UnsortedSegmentSum", ones, at, np.array(3, np.int32))
    assert summed.tolist() == said("XLA-CPU unsorted_segment_sum")


def test_the_cpu_refuses_in_the_words_that_tensorflow_recorded() -> None:
    message = oracle.case("xla_out_of_range")["plain CPU gather"]["message"]
    with pytest.raises(GradstepError) as caught:
        run(Rules(), "GatherV2", ROWS, np.array([0, 5, -1], np.int32), ZERO)
    assert caught.value.message in message


def test_tf_gpu_is_what_tensorflow_documents() -> None:
    table = {row[0]: row for row in oracle.case("gather_gpu_documentation")["table"]}
    assert table["gather / embedding_lookup / ResourceGather"][2] == "0 rows"
    assert table["gather_nd"][2] == "0 rows"
    assert table["scatter_nd, tensor_scatter_nd_*"][2] == "row ignored"
    for rules in (PROFILES["tf-gpu"], TF_ON_GPU):
        assert (rules.gather, rules.scatter) == (OutOfRange.ZERO, OutOfRange.ZERO)
        assert not rules.negative_ok


def test_a_real_card_rounds_for_itself() -> None:
    assert TF_ON_GPU.flush_subnormals is CUPY_NATIVE.flush_subnormals
    assert not TF_ON_GPU.tf32
    assert CUPY_NATIVE.gather is OutOfRange.WRAP


@each_of("name", PROFILES)
def test_every_rule_says_where_it_is_documented(name: str) -> None:
    rules = PROFILES[name]
    assert rules.name == name
    for field in ("gather", "scatter", "flush_subnormals", "tf32"):
        assert len(rules.source_of(field)) > 20
    said = dict(rules.sources)
    assert ("flush_subnormals" in said) == (rules.flush_subnormals is not Flush.NEVER)
    assert ("tf32" in said) == rules.tf32
