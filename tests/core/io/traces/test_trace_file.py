"""Reading traces: what is right opens, what is wrong is one clear line, whoever wrote it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import foreign_name
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.native import npy
from gradstep.core.io.open_document import read
from gradstep.core.io.traces import trace_file
from gradstep.core.io.traces.traced_document import from_trace
from gradstep.core.lowering.foreign_graph import ForeignRef
from gradstep.core.program.derive import derive

ARRAYS = {
    "tensors/0.npy": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32),
    "tensors/1.npy": np.array([[1.0, -1.0]], np.float32),
    "values/0.npy": np.array([[0.0, 0.0]], np.float32),
}


def graph() -> dict[str, Any]:
    """y = relu(x w^T), and its mean."""
    two = {"dtype": "float32", "shape": [1, 2]}
    return {
        "format": "gradstep-trace",
        "version": 1,
        "framework": {"name": "torch", "version": "9.9"},
        "inputs": [
            {"name": "w", "kind": "parameter", "dtype": "float32", "shape": [2, 2],
             "trained": True, "tensor": "tensors/0.npy"},
            {"name": "x", "kind": "input", **two, "tensor": "tensors/1.npy"},
        ],
        "nodes": [
            {"name": "net/linear", "op": "aten.linear.default",
             "args": {"input": {"ref": "x"}, "weight": {"ref": "w"}, "bias": None},
             "outputs": [two], "frames": [["net.py", 2, "forward", "return x @ w.T"]]},
            {"name": "relu", "op": "aten.relu.default", "args": {"self": {"ref": "net/linear"}},
             "outputs": [{**two, "value": "values/0.npy"}]},
            {"name": "mean", "op": "aten.mean.default",
             "args": {"self": {"ref": "relu"}, "dtype": None},
             "outputs": [{"dtype": "float32", "shape": []}]},
        ],
        "outputs": [{"kind": "loss", "value": {"ref": "mean"}}],
        "sources": {"net.py": ""},
    }  # fmt: skip


def packed(record: Any, **more: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        text = record if isinstance(record, bytes) else json.dumps(record).encode()
        archive.writestr("graph.json", text)
        for name, array in ARRAYS.items():
            archive.writestr(name, npy.to_bytes(array))
        archive.writestr("sources/net.py", "def forward(x):\n    return x @ w.T\n")
        for name, data in more.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def refused(record: Any, **more: bytes) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        from_trace(packed(record, **more), "net.gstrace")
    error = caught.value
    assert error.kind in ("FileError", "MemoryLimitError")
    assert error.message.startswith("net.gstrace: ")
    assert "\n" not in error.message
    return error


def test_a_trace_becomes_a_graph() -> None:
    found = trace_file.from_bytes(packed(graph()))
    assert found.framework == "torch 9.9"
    assert [node.name for node in found.nodes] == ["net/linear", "relu", "mean"]
    assert found.nodes[0].args["input"] == ForeignRef("x")
    assert found.sources["net.py"].startswith("def forward")
    assert found.paths == {}


def test_what_a_weight_is_called_in_its_program_is_told_beside_its_name() -> None:
    record = graph()
    record["inputs"][0]["written"] = "w+1"
    (weight, given) = trace_file.from_bytes(packed(record)).inputs
    assert (weight.name, weight.written, given.written) == ("w", "w+1", "")
    document = from_trace(packed(record))
    assert foreign_name(document.graph["w"]) == "w+1"
    assert [str(ref) for ref in document.request.wrt] == ["w:0"]


def test_a_trace_opens_by_any_name(tmp_path: Path) -> None:
    for name in ("net.gstrace", "net.bin", "net.pb"):
        (tmp_path / name).write_bytes(packed(graph()))
        document = read(tmp_path / name)
        assert document.initial["w"].array.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert [str(ref) for ref in document.request.wrt] == ["w:0"]
        assert document.view.collapsed >= {"net/linear", "relu", "mean"}


def looped() -> dict[str, Any]:
    """The same, its linear layer in a loop of three iterations."""
    record = graph()
    two, count = {"dtype": "float32", "shape": [1, 2]}, {"dtype": "int64", "shape": []}
    inner = [
        {"name": "more", "op": "aten.add.Tensor",
         "args": {"self": {"ref": "i"}, "other": 1, "alpha": 1}, "outputs": [count]},
        {"name": "linear", "op": "aten.linear.default", "outputs": [two],
         "args": {"input": {"ref": "h"}, "weight": {"ref": "v"}, "bias": None}},
    ]  # fmt: skip
    ask = [
        {"name": "goes_on", "op": "aten.lt.Scalar", "args": {"self": {"ref": "j"}, "other": 3},
         "outputs": [{"dtype": "bool", "shape": []}]},
    ]  # fmt: skip

    def given(*names: str) -> list[dict[str, Any]]:
        square = {"dtype": "float32", "shape": [2, 2]}
        return [{"name": n, **t} for n, t in zip(names, (count, two, square), strict=True)]

    record["nodes"][0] = {
        "name": "net/linear", "op": "control.while_loop", "outputs": [count, two],
        "args": {
            "condition": {"graph": {"inputs": given("j", "g", "u"), "nodes": ask,
                                    "outputs": [{"ref": "goes_on"}]}},
            "body": {"graph": {"inputs": given("i", "h", "v"), "nodes": inner,
                               "outputs": [{"ref": "more"}, {"ref": "linear"}]}},
            "carried": [0, {"ref": "x"}],
            "constants": [{"ref": "w"}],
        },
    }  # fmt: skip
    record["nodes"][1]["args"]["self"]["output"] = 1
    del record["nodes"][1]["outputs"][0]["value"]
    return record


def test_the_function_of_a_loop_is_a_graph_in_it() -> None:
    document = from_trace(packed(looped()))
    assert document.fetches
    program = derive(document)
    wanted = [document.fetches[0], program.gradients[TensorRef("w")]]
    loss, gradient = Session(program.graph, initial=program.initial).run(
        wanted, {str(ref): array for ref, array in program.feeds.items()}
    )
    w, x = ARRAYS["tensors/0.npy"], ARRAYS["tensors/1.npy"]
    assert loss == np.maximum(x @ w.T @ w.T @ w.T, 0).mean()
    step = 2.0**-7  # the loss is a polynomial of w here, of degree 3 as long as relu stays
    numeric = np.zeros_like(w)
    for place in np.ndindex(w.shape):
        moved = [w.astype(np.float64), w.astype(np.float64)]
        moved[0][place] += step
        moved[1][place] -= step
        more, less = (np.maximum(x @ m.T @ m.T @ m.T, 0).mean() for m in moved)
        numeric[place] = (more - less) / (2 * step)
    assert np.allclose(gradient, numeric, rtol=1e-3, atol=1e-3)


_BODY = ("nodes", 0, "args", "body", "graph")


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        ((*_BODY, "nodes", 1, "args", "input"), {"ref": "x"}, "takes 'x', which is not before it"),
        ((*_BODY, "inputs", 1, "name"), "w", "two of the name 'w'"),
        ((*_BODY, "nodes", 1, "name"), "net/linear", "takes 'linear', which is not"),
        (("nodes", 2, "name"), "goes_on", "two of the name 'goes_on'"),
        ((*_BODY, "outputs", 1), {"ref": "goes_on"}, "takes 'goes_on', which is not before it"),
        ((*_BODY, "nodes"), 3, "a graph in node 'net/linear' is not valid"),
        (("nodes", 1, "args", "self"), {"ref": "linear"}, "takes 'linear', which is not before"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_loop_is_said(
    way: tuple[str | int, ...], value: Any, words: str
) -> None:
    record = looped()
    _set(*way)(record, value)
    assert words in refused(record).message


def test_loops_in_loops_have_an_end() -> None:
    record = looped()
    inner: Any = 0
    for depth in range(30):
        inner = {"graph": {"inputs": [], "nodes": [
            {"name": f"n{depth}", "op": "control.cond", "args": {"true": inner}, "outputs": []},
        ], "outputs": []}}  # fmt: skip
    record["nodes"][0]["args"]["body"] = inner
    assert "graphs in graphs" in refused(record).message


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda node: node["args"]["body"]["graph"]["nodes"][1].update(op="aten.soup.default"),
         "in it, there is no lowering of aten.soup.default"),
        (lambda node: node["args"]["constants"].clear(), "takes 3 tensors, and is given 2"),
        (lambda node: node["args"].update(condition=None), "one of its functions is no graph"),
        (lambda node: node["args"].update(body={"ref": "x"}), "one of its functions is no graph"),
        (lambda node: node["args"]["constants"].append("soup"), "takes 3 tensors, and is given 4"),
        (lambda node: node["args"].update(constants=["soup"]), "'soup', which is no tensor"),
        (lambda node: node["args"]["body"]["graph"]["outputs"].pop(), "gives 1 tensors, and not 2"),
    ],
)  # fmt: skip
def test_a_loop_that_cannot_be_lowered_stays_as_it_was_computed(
    change: Callable[[dict[str, Any]], Any], why: str
) -> None:
    record = looped()
    record["nodes"][0]["outputs"][1]["value"] = "values/0.npy"
    change(record["nodes"][0])
    document = from_trace(packed(record))
    assert "net/linear stays as PyTorch computed it" in document.note
    assert why in document.note
    assert not [op for op in document.graph if op.type == "While"]
    names = {op.name for op in document.graph}
    assert document.recorded is not None
    assert {TensorRef.parse(name).op for name in document.recorded.values} <= names
    scopes = {scope for name in names for scope in parents(name)}
    assert document.view.collapsed <= scopes


def branched() -> dict[str, Any]:
    """A branch that gives a number in place of a tensor, and is given one."""
    record = graph()
    one = {"dtype": "float32", "shape": []}
    given = [{"name": "a", **one}, {"name": "b", **one}]
    more = [{"name": "c", **one}, {"name": "d", **one}]
    record["nodes"][1:1] = [
        {"name": "first", "op": "aten.sum.default", "args": {"self": {"ref": "x"}, "dtype": None},
         "outputs": [one]},
        {"name": "asked", "op": "aten.gt.Scalar", "args": {"self": {"ref": "first"}, "other": 9},
         "outputs": [{"dtype": "bool", "shape": []}]},
        {"name": "chosen", "op": "control.cond", "outputs": [one],
         "args": {
             "predicate": {"ref": "asked"}, "operands": [{"ref": "first"}, 2],
             "true": {"graph": {"inputs": given, "nodes": [], "outputs": [3]}},
             "false": {"graph": {"inputs": more, "nodes": [
                 {"name": "twice", "op": "aten.mul.Tensor",
                  "args": {"self": {"ref": "d"}, "other": {"ref": "d"}}, "outputs": [one]},
             ], "outputs": [{"ref": "twice"}]}},
         }},
    ]  # fmt: skip
    record["outputs"].append({"kind": "output", "value": {"ref": "chosen"}})
    return record


def test_numbers_are_tensors_in_a_branch() -> None:
    document = from_trace(packed(branched()))
    program = derive(document)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    session = Session(program.graph, initial=program.initial)
    assert session.run([document.fetches[-1]], feeds) == [4]
    assert "stays as PyTorch" not in document.note


def test_what_a_loop_draws_is_said_to_be_drawn_anew() -> None:
    record = looped()
    body = record["nodes"][0]["args"]["body"]["graph"]
    body["nodes"].append(
        {"name": "dropped", "op": "aten.dropout.default", "outputs": body["nodes"][1]["outputs"],
         "args": {"input": {"ref": "linear"}, "p": 0.5, "train": True}}
    )  # fmt: skip
    body["outputs"][1] = {"ref": "dropped"}
    assert "dropped draws other numbers than PyTorch did" in from_trace(packed(record)).note


def iterated() -> dict[str, Any]:
    """The loop, with what its linear layer gave each time."""
    record = looped()
    linear = record["nodes"][0]["args"]["body"]["graph"]["nodes"][1]
    linear["outputs"][0] = {**linear["outputs"][0], "values": "v.npy", "iterations": "i.npy"}
    return record


PLACES = np.array([[0], [1], [2]])
VALUES = np.arange(6, dtype=np.float32).reshape(3, 1, 2)


def with_iterations(
    places: np.ndarray = PLACES, values: np.ndarray = VALUES, **more: np.ndarray
) -> dict[str, bytes]:
    arrays = {"v.npy": values, "i.npy": places, **more}
    return {name: npy.to_bytes(array) for name, array in arrays.items()}


def test_a_loop_keeps_what_was_computed_in_each_iteration() -> None:
    record = iterated()
    outputs = record["nodes"][0]["args"]["body"]["graph"]["nodes"][1]["outputs"]
    outputs[0]["gradients"] = "g.npy"
    document = from_trace(packed(record, **with_iterations(**{"g.npy": -VALUES})))
    assert document.recorded is not None
    [(name, kept)] = document.recorded.iterations.items()
    assert name.startswith("net/linear/linear/")
    assert kept.gradients is not None
    assert np.array_equal(kept.values.array[kept.time([1])], VALUES[1])
    assert np.array_equal(kept.gradients.array, -VALUES)
    assert kept.time([3]) is None
    assert kept.time([0, 0]) is None
    assert document.recorded.can_be_compared_with


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (with_iterations(places=np.array([0, 1, 2])), "i.npy has no row of whole numbers"),
        (with_iterations(places=PLACES / 2), "i.npy has no row of whole numbers"),
        (with_iterations(places=np.zeros((3, 2), np.int64)), "is in 1 loops, and i.npy tells of 2"),
        (with_iterations(places=PLACES[::-1]), "do not ascend from 0"),
        (with_iterations(places=PLACES * 0), "do not ascend from 0"),
        (with_iterations(places=PLACES - 1), "do not ascend from 0"),
        (with_iterations(places=PLACES[:2]), "v.npy has the shape [3, 1, 2], not [2, 1, 2]"),
        (with_iterations(values=VALUES[0]), "v.npy has the shape [1, 2], not [3, 1, 2]"),
        ({"i.npy": npy.to_bytes(PLACES)}, "v.npy is missing"),
    ],
)
def test_what_is_wrong_with_iterations_is_said(members: dict[str, bytes], words: str) -> None:
    error = refused(iterated(), **members)
    assert words in error.message


def test_iterations_are_of_loops() -> None:
    record = graph()
    record["nodes"][1]["outputs"][0] |= {"values": "v.npy", "iterations": "i.npy"}
    assert "is in 0 loops" in refused(record, **with_iterations()).message


def _set(*way: str | int) -> Callable[[dict[str, Any], Any], None]:
    def change(record: dict[str, Any], value: Any) -> None:
        place: Any = record
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = value

    return change


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (("format",), "other", "of the format 'other'"),
        (("version",), 2, "newer Gradstep (trace format 2"),
        (("version",), "1", "graph.json is not valid"),
        (("inputs", 0, "kind"), "friend", "unknown kind 'friend'"),
        (("inputs", 0, "tensor"), "", "input 'w' has no value"),
        (("inputs", 0, "tensor"), "tensors/9.npy", "tensors/9.npy is missing"),
        (("inputs", 0, "shape"), [3, 2], "has the shape [2, 2], not [3, 2]"),
        (("inputs", 0, "shape"), [-1, 2], "has the shape [-1, 2]"),
        (("inputs", 1, "name"), "w", "two of the name 'w'"),
        (("nodes", 1, "name"), "net/linear", "two of the name"),
        (("nodes", 1, "name"), "../x y", "no name for an operation"),
        (("nodes", 1, "name"), "a//b", "no name for an operation"),
        (("nodes", 1, "op"), "relu", "of no framework"),
        (("nodes", 1, "args", "self"), {"ref": "later"}, "not before it"),
        (("nodes", 1, "args", "self"), {"ref": "net/linear", "output": 1}, "which has none"),
        (("nodes", 1, "args", "self"), {"ref": "net/linear", "output": "0"}, "which has none"),
        (("nodes", 1, "args", "self"), {"float": "ten"}, "no value"),
        (("nodes", 1, "args", "self"), {"code": "import os"}, "no value"),
        (("nodes", 1, "args", "self"), [[[[[[[[[[[1]]]]]]]]]]], "lists in lists"),
        (("nodes", 1, "outputs", 0, "value"), "../../secret.npy", "is missing"),
        (("outputs", 0, "kind"), "best", "unknown kind 'best'"),
        (("outputs", 0, "value"), {"dtype": "float32"}, "is no tensor"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(way: tuple[str | int, ...], value: Any, words: str) -> None:
    record = graph()
    _set(*way)(record, value)
    error = refused(record)
    assert words in error.message
    assert error.hint


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\xfe"])
def test_what_is_no_json_is_said(text: bytes) -> None:
    assert "graph.json is not valid" in refused(text).message


def test_a_pickle_is_not_loaded() -> None:
    array = np.array([print], object)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    record = graph()
    record["inputs"][0]["tensor"] = "tensors/p.npy"
    error = refused(record, **{"tensors/p.npy": buffer.getvalue()})
    assert "Python objects, which Gradstep never loads" in error.message


def test_memory_is_asked_for() -> None:
    with pytest.raises(OverBudgetError):
        from_trace(packed(graph()), "net.gstrace", Budget(1000))


def test_what_is_cut_off_is_said(tmp_path: Path) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(packed(graph())[:-30])
    with pytest.raises(GradstepError, match="cut off or damaged"):
        read(path)


def test_an_operation_that_nobody_knows_is_kept_and_fed() -> None:
    record = graph()
    record["nodes"][1]["op"] = "mylib.secret.default"
    document = from_trace(packed(record), "net.gstrace")
    [unknown] = [op for op in document.graph if op.type == "mylib.secret.default"]
    assert [str(ref) for ref in unknown.inputs] == ["net/linear/MatMul:0"]
    assert document.feeds[f"{unknown.name}:0"].array.tolist() == [[0.0, 0.0]]
    assert "there is no lowering of mylib.secret.default" in document.note


def test_an_argument_that_no_lowering_takes_is_not_left_out() -> None:
    record = graph()
    record["nodes"][1]["args"]["strength"] = 3
    document = from_trace(packed(record), "net.gstrace")
    assert "its argument strength = 3" in document.note


def test_a_lowering_that_gives_another_type_is_not_believed() -> None:
    record = graph()
    record["nodes"][1]["outputs"][0]["dtype"] = "int32"
    document = from_trace(packed(record), "net.gstrace")
    assert "and not int32[1, 2]" in document.note


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=6)
    | st.sampled_from(["w", "x", "relu", "mean", "float32", "aten.add.Tensor", "inf"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["ref", "output", "dtype", "symbol", "float"]), inner,
                      max_size=2),
    max_leaves=6,
)  # fmt: skip
PLACES = [
    ("inputs",), ("inputs", 0), ("inputs", 0, "shape"), ("inputs", 0, "dtype"), ("nodes",),
    ("nodes", 0), ("nodes", 0, "args"), ("nodes", 0, "args", "weight"), ("nodes", 0, "outputs"),
    ("nodes", 1, "op"), ("nodes", 1, "args", "self"), ("nodes", 2, "args"), ("outputs",),
    ("nodes", 0, "frames"), ("sources",), ("framework",), ("nodes", 1, "outputs", 0, "shape"),
]  # fmt: skip


@given(st.sampled_from(PLACES), JUNK)
def test_junk_is_refused_or_opens(way: tuple[str | int, ...], junk: Any) -> None:
    record = graph()
    _set(*way)(record, junk)
    error = _error_of(packed(record))
    assert error is None or error.message.startswith("net.gstrace: ")
    assert error is None or error.kind in ("FileError", "MemoryLimitError")


@pytest.mark.parametrize("kind", ["", "quint8"])
def test_an_input_of_an_unknown_element_type_is_refused(kind: str) -> None:
    record = graph()
    _set("inputs", 0, "dtype")(record, kind)
    error = _error_of(packed(record))
    assert error is not None
    assert (error.kind, error.message) == ("FileError", f"net.gstrace: element type {kind}")


def _error_of(data: bytes) -> GradstepError | None:
    try:
        from_trace(data, "net.gstrace")
    except GradstepError as error:
        return error
    return None
