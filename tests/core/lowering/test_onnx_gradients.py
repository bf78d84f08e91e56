"""Lowered ONNX models differentiate: gradients against finite differences, and ONNX's loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import Verdict, find_worst
from gradstep.core.autodiff.check.gradcheck import check_gradients
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.onnx.onnx_document import from_onnx
from tests.onnx.node_cases import Case, feeds_of, opened_case, recorded
from tests.support import onnx_models as onnx

RNG = np.random.default_rng(5)


def weights(**shapes: Sequence[int]) -> dict[str, np.ndarray]:
    return {name: RNG.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def mlp() -> Any:
    nodes = [
        onnx.node("Gemm", "x w b", "h", transB=1),
        onnx.node("Tanh", "h", "t"),
        onnx.node("LayerNormalization", "t scale shift", "n"),
        onnx.node("MatMul", "n v", "y"),
    ]
    held = weights(w=(4, 3), b=(4,), scale=(4,), shift=(4,), v=(4, 2))
    return onnx.graph(nodes, {"x": ("float32", [2, 3])}, {"y": ("float32", [2, 2])}, held)


def conv_net() -> Any:
    nodes = [
        onnx.node("Conv", "x k1 b1", "c", pads=[1, 0, 1, 1], strides=[2, 1], group=2),
        onnx.node("Softplus", "c", "s"),
        onnx.node("AveragePool", "s", "p", kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
        onnx.node("ConvTranspose", "p k2", "d", strides=[2, 2], output_padding=[1, 0]),
        onnx.node("Resize", "d - scales", "r", mode="linear"),
        onnx.node("GlobalAveragePool", "r", "g"),
        onnx.node("Flatten", "g", "f"),
        onnx.node("LogSoftmax", "f", "y"),
    ]
    held = weights(k1=(4, 1, 3, 2), b1=(4,), k2=(4, 3, 2, 2))
    held["scales"] = np.float32([1, 1, 1.5, 2])
    return onnx.graph(nodes, {"x": ("float32", [1, 2, 5, 4])}, {"y": ("float32", [1, 3])}, held)


def recurrent(type: str, gates: int, length: int | str = 2) -> Any:
    """In both directions; the second sequence ends before the first."""
    nodes = [
        onnx.node(type, "x w r b lengths", "rows last", hidden_size=1, direction="bidirectional"),
        onnx.node("Mul", "last scale", "y"),
    ]
    held = weights(w=(2, gates, 2), r=(2, gates, 1), b=(2, gates * 2), scale=(2, 1, 1))
    held["lengths"] = np.array([2, 1], np.int32)
    inputs = {"x": ("float32", [length, 2, 2])}
    return onnx.graph(nodes, inputs, {"y": ("float32", [2, 2, 1])}, held)


def attention() -> Any:
    nodes = [
        onnx.node("MatMul", "x wq", "q"),
        onnx.node("MatMul", "x wk", "k"),
        onnx.node("MatMul", "x wv", "v"),
        onnx.node("Attention", "q k v", "a", q_num_heads=4, kv_num_heads=2, is_causal=1),
        onnx.node("Gelu", "a", "g"),
        onnx.node("Add", "g x", "y"),
    ]
    held = weights(wq=(8, 8), wk=(8, 4), wv=(8, 4))
    shape = {"x": ("float32", [1, 3, 8])}
    return onnx.graph(nodes, shape, {"y": ("float32", [1, 3, 8])}, held)


def branches() -> Any:
    """The branches read a weight from outside."""
    then = onnx.graph([onnx.node("Mul", "x w", "a")], {}, {"a": ("float32", [2])})
    other = onnx.graph([onnx.node("Sin", "w", "b")], {}, {"b": ("float32", [2])})
    nodes = [
        onnx.node("ReduceSum", "x", "s", keepdims=0),
        onnx.node("Greater", "s zero", "c"),
        onnx.node("If", "c", "y", then_branch=then, else_branch=other),
    ]
    held = {**weights(w=(2,)), "zero": np.float32(0)}
    return onnx.graph(nodes, {"x": ("float32", [2])}, {"y": ("float32", [2])}, held)


def loop() -> Any:
    """Three times a state times a weight from outside; each state is a row."""
    body = onnx.graph(
        [
            onnx.node("Identity", "go", "again"),
            onnx.node("Mul", "state w", "next"),
            onnx.node("Sin", "next", "row"),
        ],
        {"i": ("int64", ()), "go": ("bool", ()), "state": ("float32", [2])},
        {"again": ("bool", ()), "next": ("float32", [2]), "row": ("float32", [2])},
    )
    nodes = [
        onnx.node("Loop", "count - x", "last rows", body=body),
        onnx.node("ReduceSum", "rows axes", "total", keepdims=0),
        onnx.node("Add", "last total", "y"),
    ]
    held = {**weights(w=(2,)), "count": np.int64(3), "axes": np.array([0])}
    return onnx.graph(nodes, {"x": ("float32", [2])}, {"y": ("float32", [2])}, held)


def scan() -> Any:
    """Running sums of weighed rows, from the end on, as columns."""
    body = onnx.graph(
        [onnx.node("Mul", "row w", "m"), onnx.node("Add", "sum m", "next"),
         onnx.node("Tanh", "next", "out")],
        {"sum": ("float32", [2]), "row": ("float32", [2])},
        {"next": ("float32", [2]), "out": ("float32", [2])},
    )  # fmt: skip
    nodes = [
        onnx.node("Scan", "begin x", "last y", body=body, num_scan_inputs=1,
                  scan_input_directions=[1], scan_output_axes=[1]),
    ]  # fmt: skip
    held = weights(w=(2,), begin=(2,))
    return onnx.graph(nodes, {"x": ("float32", [3, 2])}, {"y": ("float32", [2, 3])}, held)


MODELS = {
    "mlp": mlp(), "conv_net": conv_net(), "lstm": recurrent("LSTM", 4), "gru": recurrent("GRU", 3),
    "rnn": recurrent("RNN", 1), "attention": attention(), "if": branches(), "scan": scan(),
}  # fmt: skip


def opened(graph: Any) -> Document:
    document = from_onnx(onnx.model(graph, 23))
    assert not [op.type for op in document.graph if "." in op.type]
    return document


def point(document: Document, graph: Any) -> dict[TensorRef, np.ndarray]:
    """Weights as they are, inputs as they happen to be."""
    found = {TensorRef(name): c.array for name, c in document.initial.items()}
    for one in graph.input:
        shape = [dim.dim_value or 2 for dim in one.type.tensor_type.shape.dim]
        found[TensorRef(one.name)] = RNG.uniform(0.2, 1, shape).astype(np.float32)
    return found


@pytest.mark.parametrize("name", [n for n in MODELS if n != "scan"])
def test_gradients_are_what_differences_say(name: str) -> None:
    graph = MODELS[name]
    document = opened(graph)
    at = point(document, graph)
    request = GradientRequest(of=document.fetches, wrt=tuple(at))
    found = check_gradients(Evaluator({}), document.graph, request, at, {})
    texts = [f.text for f in found.findings.values() if f.verdict is Verdict.WRONG]
    assert not texts
    assert find_worst(found.findings.values()) is not Verdict.WRONG
    assert all(gradient is not None for gradient in found.in_force.values())
    assert any(np.any(gradient) for gradient in found.in_force.values())


@pytest.mark.parametrize(
    "graph", [loop(), scan(), recurrent("LSTM", 4, "time")], ids=["loop", "scan", "long_lstm"]
)
def test_gradients_through_loops(graph: Any) -> None:
    """Central differences of what the session gives."""
    document = opened(graph)
    at = {ref: a.astype(np.float64) for ref, a in point(document, graph).items()}
    of, wrt = document.fetches[0], tuple(at)
    derived = differentiate(document.graph, GradientRequest(of=(of,), wrt=wrt))

    def run(refs: Sequence[TensorRef], values: dict[TensorRef, np.ndarray]) -> list[np.ndarray]:
        initial = {r.op: v.astype(np.float32) for r, v in values.items()
                   if r.op in document.initial}  # fmt: skip
        session = Session(derived.graph, initial=initial)
        feeds = {str(r): v.astype(np.float32) for r, v in values.items() if r.op not in initial}
        return [np.asarray(one, np.float64) for one in session.run(list(refs), feeds)]

    gradients = {ref: derived.gradients[ref] for ref in wrt}
    assert all(gradients.values())
    found = dict(zip(wrt, run([g for g in gradients.values() if g], at), strict=True))
    for ref, array in at.items():
        index = tuple(RNG.integers(size) for size in array.shape)
        step = np.zeros_like(array)
        step[index] = 1e-2
        above, below = (run([of], {**at, ref: array + way})[0] for way in (step, -step))
        slope = (above.sum() - below.sum()) / 2e-2
        assert found[ref][index] == pytest.approx(slope, rel=2e-2, abs=2e-3), str(ref)


def test_a_loop_gives_what_it_says() -> None:
    document = opened(loop())
    w, x = document.initial["w"].array, np.float32([1, -2])
    session = Session(document.graph, initial={"w": w})
    (y,) = session.run(list(document.fetches), {"x:0": x})
    states = [x * w**n for n in (1, 2, 3)]
    np.testing.assert_allclose(y, states[-1] + sum(np.sin(s) for s in states), rtol=1e-5)


def test_a_branch_takes_what_its_condition_says() -> None:
    document = opened(branches())
    w = document.initial["w"].array
    session = Session(document.graph, initial={"w": w})
    for x in (np.float32([1, 2]), np.float32([-1, -2])):
        (y,) = session.run(list(document.fetches), {"x:0": x})
        np.testing.assert_allclose(y, x * w if x.sum() > 0 else np.sin(w), rtol=1e-5)


DIFFERENTIABLE = [
    "test_gridsample_bilinear", "test_gridsample_bicubic", "test_affine_grid_2d", "test_dft_rfft",
    "test_rotary_embedding_no_position_ids", "test_linear_attention_linear_t1_no_past",
    "test_reduce_log_sum_exp_default_axes_keepdims_random", "test_gather_elements_0",
    "test_scatternd_max_with_element_indices", "test_col2im", "test_top_k_same_values_largest",
    "test_layer_normalization_2d_axis1", "test_group_normalization_epsilon",
    "test_averagepool_2d_dilations",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_operators_differentiate(name: str) -> None:
    case = Case.of_bytes(name, recorded()[name])
    document, _ = opened_case(case)
    feeds = feeds_of(document.graph, case.given(0))
    at = {TensorRef.parse(ref): array for ref, array in feeds.items()}
    wrt = tuple(ref for ref, array in at.items() if array.dtype == np.float32)
    request = GradientRequest(of=document.fetches[:1], wrt=wrt)
    found = check_gradients(Evaluator({}), document.graph, request, at, {})
    texts = [f.text for f in found.findings.values() if f.verdict is Verdict.WRONG]
    assert not texts


@pytest.mark.parametrize("count", ["count", "-"])
def test_a_loop_ends_where_its_condition_does(count: str) -> None:
    """With a limit and without one: rows are as many as there were iterations."""
    body = onnx.graph(
        [onnx.node("Add", "state x", "next"), onnx.node("Less", "next bound", "again"),
         onnx.node("Identity", "next", "row")],
        {"i": ("int64", ()), "go": ("bool", ()), "state": ("float32", ())},
        {"again": ("bool", ()), "next": ("float32", ()), "row": ("float32", ())},
    )  # fmt: skip
    made = onnx.graph(
        [onnx.node("Loop", f"{count} go begin", "last rows", body=body)],
        {"x": ("float32", ())},
        {"last": ("float32", ()), "rows": ("float32", ["rows"])},
        {"count": np.int64(3), "go": np.array(True), "begin": np.float32(0),
         "bound": np.float32(10)},
    )  # fmt: skip
    document = opened(made)
    session = Session(document.graph)
    for x, wanted in ((4, [4, 8, 12]), (2, [2, 4, 6, 8, 10]), (20, [20])):
        last, rows = session.run(list(document.fetches), {"x:0": np.float32(x)})
        expected = wanted[:3] if count == "count" else wanted
        np.testing.assert_array_equal(rows, expected)
        assert last == expected[-1]
