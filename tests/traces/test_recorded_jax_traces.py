"""Traces that JAX recorded: every value and every gradient is what Gradstep gives."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.document.document import CodeKind, Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.foreign_origin import FOREIGN_OP, SOURCE_LINE
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.traces.trace_archive import traces
from tests.traces.trace_verdicts import apart, in_float64, judge

TRACES = traces("jax")
NAMES = sorted(path.stem for path in TRACES.glob("*.gstrace"))
THIRTEEN = {
    "attention", "branches", "cnn", "embedding_bag", "linear_algebra", "mlp", "moving", "newton",
    "ordering", "reweighted", "rnn", "special", "variational",
}  # fmt: skip
NETWORKS = {"equinox_gru", "equinox_net", "flax_lstm", "flax_net", "flax_nnx"}
RULES = {"rule_clipped", "rule_log1pexp", "rule_reversed_rows", "rule_scaled_product",
         "rule_straight", "rules"}  # fmt: skip
OPAQUE = {  # what Python alone knows, and what there is nothing like
    "opaque": ("called_back/pure_callback/output",),
    "kept": ("fft/fft/output",),
}


def test_there_is_a_trace_of_every_kind() -> None:
    assert {*NAMES} >= THIRTEEN | NETWORKS | RULES
    assert len(NAMES) >= 35


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_agrees_with_jax(name: str) -> None:
    """To 1e-5 of the largest number; where they are further apart, JAX is that far from float64
    itself, or all of it is rounding: it is zero there. How many that are differs from processor to
    processor."""
    verdict = judge(TRACES / f"{name}.gstrace", 1e-5)
    assert verdict.worst <= max(1e-4, verdict.allowed)
    assert not verdict.one_sided
    for off in verdict.off:
        assert is_rounding(read(TRACES / f"{name}.gstrace"), off.partition(" by ")[0]), off
    assert len(verdict.off) <= max(3, (verdict.values + verdict.gradients) // 40)
    assert verdict.values >= 3
    assert verdict.gradients >= 2
    assert verdict.unlowered == OPAQUE.get(name, ())


def is_rounding(document: Document, name: str) -> bool:
    recorded = document.recorded
    assert recorded is not None
    told = recorded.gradients if name.startswith("∂") else recorded.values
    jax, exact = told[name.removeprefix("∂")].array, in_float64(document, name)
    largest = float(np.abs(jax).max())
    if float(np.abs(exact).max()) < 1e-6 * largest:
        return True
    return float(np.abs(jax - exact).max()) > 5e-6 * largest


def gradients(document: Document) -> dict[TensorRef, np.ndarray]:
    """Of all that is trained, as the document is."""
    program = derive(document, trusted=True)
    session = Session(program.graph, initial=program.initial)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    there = {ref: g for ref in program.request.wrt if (g := program.gradients[ref]) is not None}
    return dict(zip(there, session.run([*there.values()], feeds), strict=True))


def off_by(document: Document) -> float:
    """The largest difference from JAX's gradients, relative to the largest number of each; where
    that is nothing next to all others, as a bias before a norm has it, to a hundredth of theirs."""
    assert document.recorded is not None
    found = gradients(document)
    wanted = {ref: document.recorded.gradients[str(ref)].array for ref in found}
    largest = max(float(np.abs(array).max()) for array in wanted.values())
    return max(apart(array, wanted[ref], largest / 100) for ref, array in found.items())


@pytest.mark.parametrize("name", sorted(THIRTEEN | NETWORKS))
def test_gradients_of_what_is_trained_are_jaxs(name: str) -> None:
    assert off_by(read(TRACES / f"{name}.gstrace")) <= 1e-5


# -- rules of one's own ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(RULES))
def test_rules_switched_on_and_trusted_are_jaxs(name: str) -> None:
    document = read(TRACES / f"{name}.gstrace")
    assert not any(one.enabled for one in document.request.overrides)
    assert {item.kind for item in document.code.values()} == {CodeKind.GRADIENT}
    own = tuple(replace(one, enabled=True) for one in document.request.overrides)
    switched = document.with_(request=replace(document.request, overrides=own))
    assert off_by(switched) <= 1e-5
    assert (off_by(document) <= 1e-5) is (name == "rule_log1pexp")


def test_a_rule_is_said_and_has_its_source() -> None:
    document = read(TRACES / "rules.gstrace")
    assert document.recorded is not None
    assert "have rules" in document.recorded.remarks["w"]
    assert {one.target for one in document.request.overrides} == {
        f"{name}/own_gradient"
        for name in ("clipped", "log1pexp", "reversed_rows", "scaled_product", "straight")
    }
    assert "# def straight(x: Any) -> Any:" in document.code["straight"].source


def test_a_rule_that_changes_nothing_needs_no_remark() -> None:
    document = read(TRACES / "rule_log1pexp.gstrace")
    assert document.recorded is not None
    assert not document.recorded.remarks


# -- names, lines, random numbers ------------------------------------------------------------------


def test_modules_are_scopes() -> None:
    graph = read(TRACES / "flax_net.gstrace").graph
    assert [op.name for op in graph if op.name.startswith("Net/Block_1/Conv_0/conv")]
    assert "params/Block_0/BatchNorm_0/scale" in graph
    assert "batch_stats" not in {op.name.split("/")[0] for op in graph if op.type == "Variable"}


def test_a_layer_that_is_called_again_is_another_scope() -> None:
    names = {op.name for op in read(TRACES / "equinox_net.gstrace").graph}
    for scope in ("eqx.nn.Linear/dot_general", "eqx.nn.Linear_1/dot_general"):
        assert [name for name in names if name.startswith(scope)]


def test_each_operation_has_its_line() -> None:
    document = read(TRACES / "mlp.gstrace")
    relu = next(op for op in document.graph if op.attrs.get(FOREIGN_OP) == "lax.relu")
    file, _, line = relu.attrs[SOURCE_LINE].rpartition(":")
    assert document.recorded is not None
    assert "jax.nn.relu(" in document.recorded.sources[file].splitlines()[int(line) - 1]
    for name in ("attention", "flax_net", "variational"):
        graph = read(TRACES / f"{name}.gstrace").graph
        foreign = [op for op in graph if FOREIGN_OP in op.attrs]
        assert foreign
        assert all(SOURCE_LINE in op.attrs for op in foreign)


def test_what_was_drawn_is_constant() -> None:
    graph = read(TRACES / "variational.gstrace").graph
    drawn = {op.attrs[FOREIGN_OP] for op in graph if "random" in op.attrs.get(FOREIGN_OP, "")}
    assert {"lax.random.normal", "lax.random.bernoulli"} <= drawn
    assert not [op for op in graph if op.type.startswith("Random")]


def test_stops_stay() -> None:
    graph = read(TRACES / "reweighted.gstrace").graph
    assert "StopGradient" in {op.type for op in graph}


def test_a_loop_that_jax_does_not_differentiate_is_said() -> None:
    note = read(TRACES / "until.gstrace").note
    assert "jax.grad does not differentiate it (Reverse-mode differentiation" in note


def test_what_is_kept_as_it_was_is_said() -> None:
    note = read(TRACES / "opaque.gstrace").note
    assert "stays as JAX computed it, and gradients end there" in note
    assert note.startswith("Traced from opaque by jax ")


def test_no_trace_tells_where_it_was_made() -> None:
    for name in NAMES:
        with zipfile.ZipFile(TRACES / f"{name}.gstrace") as file:
            text = file.read("graph.json").decode()
        assert not re.search(r'"/(home|tmp|root|Users|usr|opt)/', text), name


def test_a_gradient_that_is_another_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "mlp.gstrace"
    with zipfile.ZipFile(TRACES / path.name) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "graph.json":
                data = data.replace(b'"op": "lax.relu"', b'"op": "lax.tanh"')
            new.writestr(info.filename, data)
    assert not judge(path).ok
