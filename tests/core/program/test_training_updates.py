"""Several optimizers in one document: each with its loss, variables, slots and step operation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.step_words import notate
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.zip_archive import pack
from gradstep.core.io.script.python_script import to_python
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol import messages as m
from gradstep.core.train.optimizers import OPTIMIZERS

# What TensorFlow 2.21 holds after one step of the script that `networks` is exported as.
AFTER = {
    "D/w": [0.9, 1.9],
    "D/w/Adam": [0.4500001, 1.6000004],
    "D/w/Adam_1": [0.02024974, 0.2559967],
    "G/w": [0.51, -0.99],
    "G/w/Adam": [-0.05000001, -2.0000005],
    "G/w/Adam_1": [2.4999678e-04, 3.9999485e-01],
    "beta1_power": 0.80999994,
    "beta1_power_1": 0.80999994,
}


def optimizer(type: str, of: str, wrt: str, rate: float, **rest: object) -> Optimizer:
    refs = (TensorRef.parse(of),), (TensorRef.parse(wrt),)
    return replace(Optimizer(type, {"learning_rate": rate}, *refs), **rest)  # type: ignore[arg-type]


@pytest.fixture
def networks() -> Document:
    """A generator and a discriminator, each trained on its own loss."""
    g = GraphBuilder()
    z, x = g.placeholder("z", shape=(2,)), g.placeholder("x", shape=(2,))
    made, judged = g.variable("G/w", shape=(2,)), g.variable("D/w", shape=(2,))
    fake = g.one("Mul", g.one("Mul", z, made, name="fake"), judged, name="d_fake")
    real = g.one("Mul", x, judged, name="d_real")
    g.one("Square", fake - g.constant(1.0), name="g_loss")
    off = g.one("Square", real - g.constant(1.0))
    g.one("AddV2", g.one("Square", fake), off, name="d_loss")
    values = {"G/w": [0.5, -1], "D/w": [1, 2], "z:0": [1, 2], "x:0": [2, 0.5]}
    held = {name: Constant(np.array(value, np.float32)) for name, value in values.items()}
    return Document(
        graph=g.build(),
        initial={name: held[name] for name in ("G/w", "D/w")},
        feeds={name: held[name] for name in ("z:0", "x:0")},
        optimizers=(
            optimizer("Adam", "d_loss", "D/w", 0.1, name="train_D"),
            optimizer("Adam", "g_loss", "G/w", 0.01, name="train_G", scales={"G/w": 0.5}),
        ),
    )


def after_a_run(program: Program) -> dict[str, np.ndarray]:
    session = DebugSession(program)
    session.continue_()
    assert session.stop.error is None
    frame = session.frame()
    return {name: frame.value(TensorRef(name)) for name in program.initial}  # type: ignore[misc]


def test_each_has_its_loss_its_variables_and_its_slots(networks: Document) -> None:
    program = derive(networks)
    assert program.problems == ()
    assert program.targets[-2:] == ("train_D", "train_G")
    found = after_a_run(program)
    for name, value in AFTER.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-7, err_msg=name)
    assert {"gradients/D/w_grad/AddN", "gradients_1/fake_grad/Mul_1"} <= set(
        program.graph.operations
    )
    names = ["gradients/D/w_grad/AddN", "train_G/update_G/w/ApplyAdam"]
    texts = {said.op: said.text for said in notate(DebugSession(program), names).steps}
    assert texts["gradients/D/w_grad/AddN"].startswith("∂d_loss/∂w = ")
    assert texts["train_G/update_G/w/ApplyAdam"] == "w ← ApplyAdam(w, 0.01, 0.5 ⊙ ∂g_loss/∂w)"


def test_a_switched_off_one_is_there_and_does_nothing(networks: Document) -> None:
    first, second = networks.optimizers
    program = derive(
        document_edits.set_optimizers(networks, (first, replace(second, enabled=False)))
    )
    found = after_a_run(program)
    np.testing.assert_array_equal(found["G/w"], networks.initial["G/w"].array)
    np.testing.assert_array_equal(found["D/w"], np.array(AFTER["D/w"], np.float32))
    assert "train_G" in program.graph
    assert program.slots["G/w"] == ("G/w/Adam", "G/w/Adam_1")


def test_optimizers_of_one_loss_share_its_gradients() -> None:
    """Each variable has a rate of its own: the step of `b` is ten times that of `a`."""
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.one("AddV2", g.one("Square", a), g.one("Square", b), name="loss")
    document = Document(
        graph=g.build(),
        request=GradientRequest.to("loss", "a", "b"),
        initial={name: Constant(np.array(3.0, np.float32)) for name in ("a", "b")},
        optimizers=tuple(optimizer("Adam", "loss", v, r) for v, r in (("a", 1e-3), ("b", 1e-2))),
    )
    program = derive(document)
    found = after_a_run(program)
    assert not any(name.startswith("gradients_1/") for name in program.graph.operations)
    assert program.targets == ("train", "train_1")
    moved = 3 - found["b"], 3 - found["a"]
    np.testing.assert_allclose(moved[0], 10 * moved[1], rtol=1e-3)


@pytest.mark.parametrize(
    ("wrt", "words"),
    [
        ("G/w", "No gradients provided for any variable, check your graph for ops that do not "),
        ("x", "Trying to update a Tensor x:0"),
    ],
)
def test_what_cannot_be_trained_says_why(networks: Document, wrt: str, words: str) -> None:
    g = GraphBuilder(networks.graph)
    g.one("Square", g.get("D/w"), name="alone")
    last = optimizer("Adam", "alone", wrt, 0.1)
    document = networks.with_(graph=g.build(), optimizers=(*networks.optimizers, last))
    program = derive(document)
    assert [p.code for p in program.problems] == ["optimizer"]
    assert program.problems[0].text.startswith(words)
    assert program.targets[-2:] == ("train_D", "train_G")


@pytest.mark.parametrize("type", sorted(OPTIMIZERS))
def test_a_variable_that_is_listed_twice_is_said(networks: Document, type: str) -> None:
    w = TensorRef("D/w")
    made = Optimizer(type, {"learning_rate": 0.1}, (TensorRef("d_loss"),), (w, w))
    document = networks.with_(optimizers=(made,))
    (problem,) = [found for found in derive(document).problems if found.severity == "error"]
    assert (problem.node, problem.kind) == ("D/w", "ValueError")
    assert problem.text == f"{type} would update 'D/w' twice in every run"


def test_a_variable_of_two_optimizers_is_warned_about(networks: Document) -> None:
    again = optimizer("GradientDescent", "g_loss", "D/w", 0.1)
    program = derive(networks.with_(optimizers=(*networks.optimizers, again)))
    assert [(p.code, p.node, p.severity) for p in program.problems] == [
        ("updated-twice", "D/w", "warning")
    ]


def test_nothing_to_train_and_nothing_to_minimize() -> None:
    g = GraphBuilder()
    g.one("Square", g.placeholder("x", shape=()), name="loss")
    document = Document(graph=g.build(), optimizers=(Optimizer("Adam", {}),))
    assert derive(document).problems[0].text == "Adam has nothing to minimize"
    asked = document.with_(request=GradientRequest.to("loss", "x"))
    assert derive(asked).problems[0].text == "No variables to optimize."


def test_after_an_edit_what_is_not_touched_is_the_same(networks: Document) -> None:
    before = derive(networks)
    document = document_edits.set_attr(networks, "x", "shape", networks.graph["z"].attrs["shape"])
    document = document_edits.rename_operation(document, "d_real", "judged")
    program = derive(document, previous=before)
    again = derive(document)
    assert list(program.graph.operations) == list(again.graph.operations)
    kept = [n for n, op in program.graph.operations.items() if before.graph.operations.get(n) is op]
    assert sum(n.startswith("gradients_1/") for n in kept) > 5
    found, expected = after_a_run(program), after_a_run(again)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_edits_carry_them_along(networks: Document) -> None:
    renamed = document_edits.rename_operation(networks, "G/w", "G/weights")
    assert renamed.optimizers[1].wrt == (TensorRef("G/weights"),)
    assert dict(renamed.optimizers[1].scales) == {"G/weights": 0.5}
    removed = document_edits.remove_operations(networks, ["G/w", "g_loss"])
    assert (removed.optimizers[1].of, removed.optimizers[1].wrt) == ((), ())
    assert not removed.optimizers[1].scales


def test_files_and_scripts_hold_all_of_them(networks: Document, tmp_path: Path) -> None:
    gradstep_file.save(tmp_path / "two.gradstep", networks)
    assert gradstep_file.load(tmp_path / "two.gradstep").optimizers == networks.optimizers
    older = b'{"version":1,"operations":[],"optimizer":{"type":"Adam","hyper":{"beta1":0.8}}}'
    opened = gradstep_file.from_bytes(pack({"document.json": older}))
    assert opened.optimizers == (Optimizer("Adam", {"beta1": 0.8}),)
    script = to_python(networks).decode()
    assert "AdamOptimizer(learning_rate=0.1).minimize(tensor('d_loss')" in script
    assert "train_1_scales = {'G/w': 0.5}" in script
    assert "session.run([train, train_1], feeds)" in script


def test_an_init_made_before_the_optimizer_leaves_its_slots_empty() -> None:
    """TensorFlow's trap, as an imported training graph has it."""
    g = GraphBuilder()
    w, slot = g.variable("w", shape=(2,)), g.variable("w/Momentum", shape=(2,))
    zeros = g.constant(np.zeros(2, np.float32))
    first = g.one("Assign", w, zeros, name="w/Assign")
    g.one("Assign", slot, zeros, name="w/Momentum/Assign")
    g.op("NoOp", name="init", control_inputs=[first.ref.op])
    rates = [g.constant(np.float32(0.1)), g.constant(np.ones(2, np.float32))]
    g.one("ApplyMomentum", w, slot, *rates, g.constant(np.float32(0.9)), name="train")
    document = Document(graph=g.build(), init="init", targets=("train",))
    (problem,) = derive(document).problems
    assert (problem.node, problem.severity) == ("w/Momentum", "warning")
    assert problem.text.startswith("Attempting to use uninitialized value w/Momentum: 'init' does")
    assert problem.fix.startswith("run w/Momentum/Assign first, or give w/Momentum an initial")
    assert derive(document.with_(targets=("w/Momentum/Assign", "init"))).problems == ()


def test_the_gradients_of_every_loss_are_checked(networks: Document) -> None:
    service = EngineService(CpuOnly())
    service.handle(m.Open(), [gradstep_file.to_bytes(networks)])
    table, _ = service.handle(m.CheckGradients())
    assert isinstance(table, m.GradientTable)
    assert [(row.name, row.native) for row in table.rows] == [
        ("D/w", 4.5), ("D/w", 16.0), ("G/w", -1.0), ("G/w", -40.0)
    ]  # fmt: skip
    assert all(row.agrees for row in table.rows)
    assert "fake" in {node.node for node in table.nodes}
    assert table.text.startswith("d_loss: The gradients agree with finite differences. g_loss: ")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("differentiate", "the gradient of 'd_loss' could not be derived"),
        ("apply_updates", "the updates of Adam could not be made"),
    ],
)
def test_what_fails_unforeseen_is_a_problem_beside_the_forward_program(
    networks: Document, monkeypatch: pytest.MonkeyPatch, part: str, text: str
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise TypeError("'NoneType' object is not subscriptable")

    monkeypatch.setattr(f"gradstep.core.program.training_updates.{part}", breaks)
    reply, _ = EngineService(CpuOnly()).handle(m.Open(), [gradstep_file.to_bytes(networks)])
    assert isinstance(reply, m.Opened)
    assert text in [problem.message for problem in reply.program.problems]
    assert not any("NoneType" in problem.message for problem in reply.program.problems)
    assert {"d_loss", "g_loss"} <= {step.op for step in reply.program.steps}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_optimizer_moves_no_variable_of_integers(optimizer: str) -> None:
    g = GraphBuilder()
    counted = g.variable("counted", shape=[2], dtype=DType.INT32)
    g.one("Mul", counted, counted, name="loss")
    hyper = {name: 0.1 for name, value in OPTIMIZERS[optimizer].items() if value is None}
    document = Document(
        graph=g.build(),
        initial={"counted": Constant(np.array([1, 2], np.int32))},
        request=replace(GradientRequest.to("loss", "counted"), unconnected_zero=True),
        optimizers=(Optimizer(optimizer, hyper),),
    )
    (problem,) = derive(document).problems
    assert problem.node == "counted"
    assert problem.text.startswith("Invalid type tf.int32 for counted")
