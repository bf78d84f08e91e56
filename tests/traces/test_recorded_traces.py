"""Traces that PyTorch recorded: every value, every gradient, every None is what Gradstep gives."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.foreign_origin import foreign_name
from gradstep.core.graph.number_kinds import BFLOAT16, widened
from gradstep.core.io.native import gradstep_file, npy
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.traces.trace_archive import traces
from tests.traces.trace_verdicts import apart, judge

TRACES = traces()
NAMES = sorted(path.stem for path in TRACES.glob("*.gstrace"))
OPAQUE = {"custom_op": ("twice/output",)}  # an operation that only its library knows


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_agrees_with_its_framework(name: str) -> None:
    verdict = judge(TRACES / f"{name}.gstrace")
    assert verdict.ok, verdict.off
    assert verdict.values >= 4
    assert verdict.gradients >= 5
    assert verdict.unlowered == OPAQUE.get(name, ())


def test_there_is_a_trace_of_every_kind() -> None:
    assert len(NAMES) >= 86
    kinds = {
        "resnet50",
        "vit",
        "lstm",
        "gpt",
        "hf_llama",
        "hf_t5",
        "no_grad",
        "hook",
        "module_hooks",
        "reentrant",
        "odd_keys",
        "cond",
        "loop_draws",
        "margins",
        "steps",
    }
    assert {*NAMES} >= kinds


def test_a_number_that_is_another_is_noticed(tmp_path: Path) -> None:
    """Of a value, of a gradient, and of a weight that both come from."""
    for member, of in (("values", "value"), ("values", "gradient"), ("tensors", "tensor")):
        path = _changed(tmp_path, "mlp", lambda graph, of=of: _first(graph, of))
        assert not judge(path).ok, member


def _first(graph: dict[str, Any], what: str) -> str:
    """The member that holds the first of these."""
    if what == "tensor":
        return str(graph["inputs"][0][what])
    return str(graph["nodes"][0]["outputs"][0][what])


def _changed(folder: Path, name: str, which: Callable[[dict[str, Any]], str]) -> Path:
    """A copy of a trace in which the first element of an array is another."""
    path = folder / f"{name}.gstrace"
    with zipfile.ZipFile(TRACES / path.name) as old, zipfile.ZipFile(path, "w") as new:
        member = which(json.loads(old.read("graph.json")))
        for info in old.infolist():
            data = old.read(info)
            if info.filename == member:
                with old.open(info) as stream:
                    array = npy.read(stream, info.file_size, member).copy()
                array.reshape(-1)[0] += 0.1
                data = npy.to_bytes(array)
            new.writestr(info.filename, data)
    return path


def test_a_gradient_that_is_missing_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "mlp.gstrace"
    with zipfile.ZipFile(TRACES / path.name) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "graph.json":
                graph = json.loads(data)
                del graph["inputs"][0]["gradient"]
                data = json.dumps(graph).encode()
            new.writestr(info.filename, data)
    assert judge(path).one_sided == 1


# -- what the file says of its making --------------------------------------------------------------


@pytest.mark.parametrize("name", ["hook", "module_hooks", "own_functions"])
def test_what_no_graph_can_hold_is_said(name: str) -> None:
    """A hook, a backward of one's own: the weights whose gradients differ are named."""
    document = read(TRACES / f"{name}.gstrace")
    assert document.recorded is not None
    assert {*document.recorded.remarks} >= {"l/weight", "l/bias"}
    assert "l.weight: PyTorch's gradient" in document.note


@pytest.mark.parametrize(("name", "words"), [("branch", "Python asked"),
                                             ("custom_op", "gradients end there")])  # fmt: skip
def test_what_was_decided_is_said(name: str, words: str) -> None:
    assert words in read(TRACES / f"{name}.gstrace").note


def test_each_foreign_operation_is_one_box_with_its_line() -> None:
    document = read(TRACES / "resnet18.gstrace")
    conv = [op for op in document.graph if op.attrs.get("_foreign_op") == "aten.conv2d.default"]
    first = next(op for op in conv if op.name.startswith("layer1/0/conv1/"))
    assert first.attrs["_foreign_scope"] == "layer1/0/conv1/conv2d"
    assert "layer1/0/conv1/conv2d" in document.view.collapsed
    file, _, line = first.attrs["_source"].rpartition(":")
    assert document.recorded is not None
    text = document.recorded.sources[file].splitlines()[int(line) - 1]
    assert "self.conv1(x)" in text


def test_tied_weights_are_one_variable() -> None:
    document = read(TRACES / "gpt.gstrace")
    assert "tok/weight" in document.graph
    assert not [op for op in document.graph if op.name.startswith("head/weight")]


def test_keys_that_are_no_names_are_told_beside_their_names() -> None:
    document = read(TRACES / "odd_keys.gstrace")
    told = {op.name: foreign_name(op) for op in document.graph if foreign_name(op)}
    assert told["d/a_b/weight"] == "d.a b.weight"
    assert told["d/a_b_1/weight"] == "d.a+b.weight"
    assert told["d/gro_e/bias"] == "d.größe.bias"
    assert {ref.op for ref in document.request.wrt} <= {*told}
    assert any(op.name.startswith("d/a_b_1/linear/") for op in document.graph)
    assert "d/gro_e/n_1/update" in document.targets


def test_buffers_move_along() -> None:
    document = read(TRACES / "partly.gstrace")
    assert {"norm/running_mean/update", "norm/num_batches_tracked/update"} <= {*document.targets}


def test_any_number_of_rows(tmp_path: Path) -> None:
    from gradstep.core.engine.run.tf_session import Session
    from gradstep.core.program.derive import derive

    document = read(TRACES / "dynamic_batch.gstrace")
    program = derive(document)
    session = Session(program.graph, initial=program.initial)
    rows = np.ones((7, 4), np.float32)
    feeds = {"input": rows, "target": np.zeros(7, np.int64)}
    out = next(op.output() for op in document.graph if op.name.startswith("2/linear/BiasAdd"))
    assert session.run([out], feeds)[0].shape == (7, 2)


def test_sizes_that_are_made_of_the_number_of_rows_are_any_as_well() -> None:
    """Four words in each row, as one list: 4 times as many as there are rows."""
    document = read(TRACES / "free_rows.gstrace")
    program = derive(document)
    session = Session(program.graph, initial=program.initial)
    images, words = np.ones((7, 1, 4, 4), np.float32), np.arange(28).reshape(7, 4) % 5
    feeds = {"x": images, "words": words}
    table, wrt = np.asarray(program.initial["b/weight"]), program.request.wrt
    held = [program.gradients[ref] for ref in wrt]
    found, *gradients = session.run(["b/embedding_bag/RealDiv", *held], feeds)
    np.testing.assert_allclose(found, table[words].mean(1), rtol=1e-5, atol=1e-6)
    assert [g.shape for g in gradients] == [np.shape(program.initial[ref.op]) for ref in wrt]


def test_a_document_keeps_what_was_recorded(tmp_path: Path) -> None:
    document = read(TRACES / "hook.gstrace")
    path = tmp_path / "kept.gradstep"
    gradstep_file.save(path, document)
    kept = read(path)
    assert kept.recorded is not None
    assert document.recorded is not None
    for name, value in document.recorded.values.items():
        assert kept.recorded.values[name] == value
    assert kept.recorded.remarks == document.recorded.remarks
    assert kept.recorded.sources == document.recorded.sources
    assert [op.attrs for op in kept.graph] == [op.attrs for op in document.graph]


def test_a_document_keeps_what_was_recorded_in_loops(tmp_path: Path) -> None:
    document = read(TRACES / "nested_loops.gstrace")
    path = tmp_path / "kept.gradstep"
    gradstep_file.save(path, document)
    recorded, kept = document.recorded, read(path).recorded
    assert recorded is not None
    assert kept is not None
    assert len(recorded.iterations) >= 16
    assert kept.iterations.keys() == recorded.iterations.keys()
    for name, one in recorded.iterations.items():
        other = kept.iterations[name]
        assert (other.places, other.values) == (one.places, one.values)
        assert other.gradients == one.gradients


@pytest.mark.slow
def test_a_number_of_an_iteration_that_is_another_is_noticed(tmp_path: Path) -> None:
    for what in ("values", "gradients"):
        path = _changed(tmp_path, "scan", lambda graph, what=what: _in_a_loop(graph, what))
        assert not judge(path).ok, what


def _in_a_loop(graph: dict[str, Any], what: str) -> str:
    scan = next(node for node in graph["nodes"] if node["op"] == "control.scan")
    add = scan["args"]["body"]["graph"]["nodes"][1]
    return str(add["outputs"][0][what])


def test_no_trace_tells_where_it_was_made() -> None:
    for name in NAMES:
        with zipfile.ZipFile(TRACES / f"{name}.gstrace") as file:
            text = file.read("graph.json").decode()
        assert not re.search(r'"/(home|tmp|root|Users|usr|opt)/', text), name


def test_measure() -> None:
    one = np.array([1.0, np.nan])
    assert apart(one, one) == 0
    assert apart(np.array([1.0, 1.0]), one) == np.inf
    assert apart(np.array([1.1]), np.array([1.0])) == pytest.approx(0.1)
    assert apart(np.array([1e-9]), np.array([0.0]), 1.0) == pytest.approx(1e-9)


@pytest.mark.parametrize("name", ["half_sums", "bfloat16_sums"])
def test_short_floats_are_rounded_once(name: str) -> None:
    """As PyTorch's kernels do, whose sums and numbers of Python are of float32."""
    document = read(TRACES / f"{name}.gstrace")
    assert document.recorded is not None
    verdict = judge(TRACES / f"{name}.gstrace")
    assert not verdict.unlowered
    assert verdict.worst <= document.recorded.epsilon, verdict.off


def test_short_floats_stay_short() -> None:
    document = read(TRACES / "bfloat16.gstrace")
    assert document.recorded is not None
    assert document.recorded.epsilon == 2**-7
    assert document.initial["l/weight"].array.dtype == BFLOAT16
    kinds = {name: c.array.dtype for name, c in document.recorded.values.items()}
    before = {name for name in kinds if not name.startswith("loss/")}  # which is of float32
    assert {kinds[name] for name in before} == {BFLOAT16}
    assert "computed as float32" not in document.note
    program = derive(document)
    session = Session(program.graph, initial=program.initial)
    refs = [*before, *(str(program.gradients[ref]) for ref in program.request.wrt)]
    found = session.run(refs, {str(ref): array for ref, array in program.feeds.items()})
    assert {array.dtype for array in found} == {BFLOAT16}
    for name, array in zip(before, found, strict=False):  # a product and a sum: rounded twice
        wanted = widened(document.recorded.values[name].array)
        assert apart(widened(array), wanted) <= 2**-7
