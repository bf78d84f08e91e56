"""What a number format does: shares that add up, the fewest operations in float32, loss scales."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.precision.error_shares import find_shares
from gradstep.core.checks.precision.mixed_runs import MixedRuns
from gradstep.core.checks.precision.number_formats import FORMATS
from gradstep.core.checks.precision.precision_report import Question, examine, target_of
from gradstep.core.checks.precision.trained_losses import trained_losses
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.number_format_names import NUMBER_FORMATS
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from gradstep.core.program.trust.example_index import EXAMPLES

SHORT = ("bfloat16", "float16")


def example(name: str) -> Program:
    return derive(gradstep_file.load(EXAMPLES / f"{name}.gradstep"), {})


def made(build: Callable[[GraphBuilder], Tensor], feeds: dict[str, object]) -> Program:
    """A program that fetches what `build` gives."""
    builder = GraphBuilder()
    with builder.as_default():
        result = build(builder)
    arrays = {TensorRef(name): np.asarray(x, np.float32) for name, x in feeds.items()}
    return Program(builder.build(), builder.build(), fetches=(result.ref,), feeds=arrays)


def bfloat16(x: object) -> np.ndarray:
    return np.asarray(x, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def test_the_command_line_knows_all_formats() -> None:
    assert tuple(FORMATS) == NUMBER_FORMATS


@pytest.mark.parametrize("format_", SHORT)
@pytest.mark.parametrize("name", ["tutorial", "cnn_digits", "lstm", "focal_loss"])
def test_shares_are_what_the_result_moves_by_and_add_up(name: str, format_: str) -> None:
    """Each operation put in after those before it, computed here one by one."""
    program = example(name)
    runs = MixedRuns(program, FORMATS[format_], target_of(program, ""))
    order = runs.candidates
    shares = find_shares(runs, order, 1000)
    steps = [runs.result(order[:count]) for count in range(len(order) + 1)]
    moved = {op: after - before for op, (before, after) in zip(order, pairwise(steps), strict=True)}
    error = steps[-1] - steps[0]
    assert np.linalg.norm(error) > 0
    for one in shares:
        together = sum(moved[op] for op in one.names)
        assert one.size == pytest.approx(np.linalg.norm(together))
        assert one.share == pytest.approx(together @ error / (error @ error))
        assert len(one.names) == 1 or not one.size
    assert sorted(op for one in shares for op in one.names) == sorted(order)
    assert sum(one.share for one in shares) == pytest.approx(1)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_with_few_runs_operations_are_looked_at_together(most: int) -> None:
    program = example("cnn_digits")
    runs = MixedRuns(program, FORMATS["bfloat16"], target_of(program, 'grad["conv1/kernel"]'))
    shares = find_shares(runs, runs.candidates, most)
    assert len(shares) == most + 1
    assert runs.count == most + 2
    assert sorted(op for one in shares for op in one.names) == sorted(runs.candidates)
    assert sum(one.share for one in shares) == pytest.approx(1)


@pytest.mark.parametrize("target", ["", 'grad["conv1/kernel"]'])
@pytest.mark.parametrize("format_", SHORT)
def test_what_is_kept_is_enough_and_nothing_of_it_can_be_spared(format_: str, target: str) -> None:
    program = example("cnn_digits")
    found = examine(program, Question(format_, target))
    assert found.kept_error <= found.limit < found.error
    runs = MixedRuns(program, FORMATS[format_], target_of(program, target))
    plain = runs.result(())
    for spared in found.kept:
        chosen = [op for op in runs.candidates if op == spared or op not in found.kept]
        assert np.linalg.norm(runs.result(chosen) - plain) > found.limit


def test_a_product_is_of_rounded_factors_and_rounded_itself() -> None:
    factors = np.random.default_rng(1).normal(size=(2, 5, 5)).astype(np.float32)

    def product(b: GraphBuilder) -> Tensor:
        return b.one("MatMul", b.placeholder("x", shape=(5, 5)), b.placeholder("y", shape=(5, 5)))

    program = made(product, dict(zip("xy", factors, strict=True)))
    result = MixedRuns(program, FORMATS["bfloat16"], program.fetches[0]).result(["MatMul"])
    x, y = map(bfloat16, factors)
    assert result.tolist() == bfloat16(x @ y).reshape(-1).tolist()


def test_the_iterations_of_a_loop_are_rounded() -> None:
    program = example("lstm")
    runs = MixedRuns(program, FORMATS["bfloat16"], target_of(program, ""))
    loops = [op for op in runs.candidates if program.graph[op].type == "While"]
    assert loops
    assert runs.result(loops).tolist() != runs.result(()).tolist()


def test_what_overflows_is_named_and_stays_in_float32() -> None:
    def chain(b: GraphBuilder) -> Tensor:
        large = b.one("Mul", b.placeholder("x", shape=(3,)), 1e4, name="large")
        back = b.one("Mul", large, 1e-4, name="back")
        return b.one("Sum", back, np.int32(0), name="total")

    found = examine(made(chain, {"x": [10.1, 20.2, 30.3]}), Question("float16"))
    assert set(found.overflows) >= {"large"}
    assert np.isfinite(found.error)
    fine = examine(made(chain, {"x": [10.1, 20.2, 30.3]}), Question("bfloat16"))
    assert not fine.overflows


def test_only_what_is_in_a_scope_with_its_gradients() -> None:
    program = example("cnn_digits")
    target = target_of(program, 'grad["conv1/kernel"]')
    runs = MixedRuns(program, FORMATS["bfloat16"], target, ["conv2"])
    ops = [program.graph[name] for name in runs.candidates]
    assert {op.phase.value for op in ops} == {"forward", "backward"}
    assert all((op.origin or op.name).startswith("conv2/") for op in ops)


def test_gradients_too_small_for_float16_have_room_times_the_scale() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(4,))
        builder.one("Sum", builder.one("Mul", x, 1e-9, name="y"), np.int32(0), name="loss")
    document = Document(
        builder.build(),
        GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("x"),)),
        feeds={"x:0": Constant(np.ones(4, np.float32))},
    )
    scale = examine(derive(document, {}), Question("float16")).scale
    assert scale is not None
    (lost,) = [one for one in scale.gradients if one.lost]
    assert (lost.name, lost.lost, lost.lost_scaled) == ("x", 1.0, 0.0)
    largest = max(one.largest for one in scale.gradients)
    assert 2**-5 * 65504 < largest * scale.scale <= 2**-4 * 65504


def test_a_training_in_float32_is_the_sessions_own() -> None:
    program = example("cnn_digits")
    loss = program.request.of[0]
    session = Session(program.graph, initial={})
    for name, array in program.initial.items():
        session.store.set(name, array)
    own = [float(session.run([loss], program.feeds, program.targets)[0]) for _ in range(3)]
    assert trained_losses(program, FORMATS["float16"], loss, 3, None) == own
    short = trained_losses(program, FORMATS["bfloat16"], loss, 3, [])
    assert short != own
    assert short == pytest.approx(own, rel=0.05)


def test_what_cannot_be_asked() -> None:
    program = example("tutorial")
    for target, sentence in [
        ("nothing", "there is no operation named 'nothing'"),
        ('grad["nothing"]', "there is no operation named 'nothing'"),
    ]:
        with pytest.raises(GradstepError, match=sentence):
            examine(program, Question("bfloat16", target))
    with pytest.raises(GradstepError, match="nothing that loss needs"):
        examine(program, Question("bfloat16", scopes=("no/scope",)))
