"""One network of four frameworks, pair by pair: nothing is other, and a port's mistake is named."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.checks.alignment.network_alignment import align
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.user_code import functions_of
from tests.examples.build import FOLDER
from tests.support.alike import FILES, MISTAKES, onnx_model
from tests.traces.trace_archive import traces

FRAMEWORKS = (*FILES, "onnx")
CAPTURED = tuple(FILES)
RULES = {
    "epsilon": "epsilon: 1e-05 in FILE, 0.001 in OTHER",
    "variance": "variance: OTHER divides by n - 1, the other by n = 6",
    "gelu": "GELU: exact (erf) in FILE, by tanh in OTHER",
    "padding": "padding: 1+1 × 1+1 (",
    "transposed": "transposed weight: OTHER multiplies by the transpose of ",
    "bias": "missing weight: ",
    "statistics": "epsilon: 0.001 in FILE, 0.01 in OTHER",
    "flatten": "order of numbers: last/Reshape holds them in an order",
}
# The part of the model in ONNX in which each mistake is.
PLACES = {
    "epsilon": ("norm/",), "variance": ("norm/",), "gelu": ("gelu/",), "padding": ("conv/",),
    "transposed": ("hidden/",), "bias": ("tanh/",), "flatten": ("last/",),
    "statistics": ("bn/", "conv/BiasAdd"),
}  # fmt: skip


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Loaded]:
    """The four, and the ports to ONNX with one mistake by what that is."""
    folder, found = tmp_path_factory.mktemp("alike"), dict(FILES)
    for mistake in ("", *MISTAKES):
        found[mistake or "onnx"] = folder / f"{mistake or 'right'}.onnx"
        found[mistake or "onnx"].write_bytes(onnx_model(mistake))
    return {name: _loaded(path) for name, path in found.items()}


def _loaded(path: Path) -> Loaded:
    return Loaded(read(str(path), Budget.unlimited()), {})


@pytest.mark.parametrize("pair", [*permutations(FRAMEWORKS, 2)], ids="-".join)
def test_the_same_network_is_the_same(
    networks: Mapping[str, Loaded], pair: tuple[str, str]
) -> None:
    """All weights are found, whatever their order of axes, and most operations."""
    found = align(*map(networks.__getitem__, pair))
    assert found.agrees
    assert not found.differences
    for side in (found.file, found.other):
        assert side.weights == 12
        assert not side.unmet_weights
        assert side.met + side.inside + len(side.behind) == side.operations
        assert side.met > side.operations / 3
    assert len(found.inputs) == 1 + ("onnx" not in pair)


@pytest.mark.parametrize("pair", [*permutations(CAPTURED, 2)], ids="-".join)
def test_gradients_are_aligned_where_one_asks_for_a_loss(
    networks: Mapping[str, Loaded], pair: tuple[str, str]
) -> None:
    """Of what is trained on both sides: averages of a normalization are not."""
    found = align(*map(networks.__getitem__, pair)).gradients
    assert found is not None
    assert len(found) == 10
    assert max(one.distance for one in found) < 2e-6
    assert found[0].distance >= 0


def test_without_a_loss_there_are_no_gradients(networks: Mapping[str, Loaded]) -> None:
    assert align(networks["onnx"], networks["tensorflow"]).gradients is None


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("framework", CAPTURED)
def test_a_mistake_of_a_port_is_found_and_named(
    networks: Mapping[str, Loaded], framework: str, mistake: str
) -> None:
    """It is the only difference: with it made good the rest agrees."""
    found = align(networks[framework], networks[mistake])
    (one,) = found.differences
    assert not found.agrees
    assert found.gradients is None
    (rule,) = one.rules
    assert rule.startswith(RULES[mistake])
    assert one.meeting is not None
    assert {name for name, _ in one.other}
    assert all(name.startswith(PLACES[mistake]) for name, _ in one.other)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_other_way_round_it_is_found_too(networks: Mapping[str, Loaded], mistake: str) -> None:
    found = align(networks[mistake], networks["torch"])
    (one,) = found.differences
    (rule,) = one.rules
    assert rule.partition(":")[0] == RULES[mistake].partition(":")[0]


def test_of_two_mistakes_both_are_found_in_order(networks: Mapping[str, Loaded]) -> None:
    found = align(networks["bias"], networks["padding"])
    assert [one.rules[0].partition(":")[0] for one in found.differences] == [
        "padding",
        "missing weight",
    ]


def test_a_mistake_before_the_first_weight_is_one_of_the_inputs(
    networks: Mapping[str, Loaded],
) -> None:
    """What FILE is fed both are fed, whatever OTHER says."""
    theirs = networks["jax"]
    feeds = {**theirs.document.feeds, "x:0": Constant(np.ones((2, 8, 8, 3), np.float32))}
    assert align(networks["torch"], Loaded(theirs.document.with_(feeds=feeds), {})).agrees


def test_other_weights_are_named(networks: Mapping[str, Loaded]) -> None:
    theirs = networks["jax"]
    initial = dict(theirs.document.initial)
    initial["p/shift"] = Constant(initial["p/shift"].array + 1)
    found = align(networks["torch"], Loaded(theirs.document.with_(initial=initial), {}))
    (one,) = found.differences
    assert "weights: bn/bias of FILE and p/shift of OTHER are other numbers" in one.rules
    assert found.file.unmet_weights == ("bn/bias",)
    assert found.other.unmet_weights == ("p/shift",)


def test_a_gradient_that_is_stopped_is_other(networks: Mapping[str, Loaded]) -> None:
    """Values are the same, and the loss as well."""
    theirs = networks["jax"]
    graph = theirs.document.graph
    copy = graph["copy/Identity"]
    operations = {
        **graph.operations,
        copy.name: type(copy)(copy.name, "StopGradient", copy.inputs),
    }
    other = theirs.document.with_(graph=type(graph)(operations))
    found = align(networks["torch"], Loaded(other, {}))
    assert not found.differences
    assert not found.agrees
    assert found.gradients is not None
    apart = [one.file for one in found.gradients if one.distance > one.limit]
    assert set(apart) == {"bn/weight", "bn/bias", "conv/weight", "conv/bias"}


@pytest.mark.parametrize(
    "name", ["cnn_digits", "two_spirals", "batch_norm_updates", "cond_gradients", "lstm", "gan"]
)
def test_every_network_is_itself(name: str) -> None:
    """With weights of equal numbers in it, several losses, conds and loops."""
    document = read(str(FOLDER / f"{name}.gradstep"), Budget.unlimited())
    itself = Loaded(document, functions_of(document.code.values(), True)[0])
    found = align(itself, itself)
    assert found.agrees
    assert found.file.met == found.file.operations


@pytest.mark.parametrize(
    ("name", "other"),
    [("core_resnet", "resnet18"), ("core_llama", "llama"), ("core_functional", "functional")],
)
def test_a_model_is_itself_taken_apart(name: str, other: str) -> None:
    """Recorded twice, once in PyTorch's core operations: gradients that should be zero included."""
    found = align(*(_loaded(traces() / f"{one}.gstrace") for one in (name, other)))
    assert found.agrees
    assert found.gradients
    assert found.file.met > 0.85 * found.file.operations


def test_another_network_is_refused(networks: Mapping[str, Loaded]) -> None:
    other = Loaded(read(str(FOLDER / "two_spirals.gradstep"), Budget.unlimited()), {})
    with pytest.raises(GradstepError, match="not one weight and no value of FILE is in OTHER"):
        align(networks["torch"], other)


def test_what_has_no_inputs_is_refused() -> None:
    empty = Loaded(Document(), {})
    with pytest.raises(GradstepError, match="nothing that computes with an input"):
        align(empty, empty)


def _nearly_the_identity(epsilon: float) -> Loaded:
    """A batch normalization of what is normal already, and what comes behind it."""
    g, rng = GraphBuilder(), np.random.default_rng(0)
    x = g.one("Placeholder", name="x", dtype=DType.FLOAT32, shape=Shape.of(2, 4, 4, 3))
    names = ("scale", "shift", "mean", "variance")
    read = [g.variable(name, shape=(3,)) for name in names]
    made = g.op("FusedBatchNormV3", x, *read, name="bn", epsilon=epsilon, is_training=False)
    g.one("Exp", made[0], name="y")
    ones = dict(zip(names, (1, 0, 0, 1), strict=True))
    initial = {name: Constant(np.full(3, one, np.float32)) for name, one in ones.items()}
    feeds = {"x:0": Constant(rng.normal(size=(2, 4, 4, 3)).astype(np.float32))}
    return Loaded(Document(graph=g.build(), initial=initial, feeds=feeds), {})


def test_a_weight_that_is_met_before_the_stretch_is_not_missing() -> None:
    """FILE's normalization gives what it reads, and so is no part of the stretch; OTHER's is."""
    found = align(_nearly_the_identity(1e-5), _nearly_the_identity(1e-2))
    assert not found.agrees
    assert found.file.unmet_weights == found.other.unmet_weights == ()
    assert not [rule for one in found.differences for rule in one.rules if "missing" in rule]
