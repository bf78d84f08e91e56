"""What a setting sets: optimizers, values of nodes, attributes, parts of other settings; seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.sweep.run_seed import is_seeded, seeded_text, with_seed
from gradstep.core.sweep.setting_syntax import parse_setting
from gradstep.core.sweep.setting_targets import apply_settings, check_settings, settable_names
from tests.support.each_case import each_of


def document(*optimizers: Optimizer) -> Document:
    g = GraphBuilder()
    x = g.one("Placeholder", dtype=DType.FLOAT32, shape=Shape.of(2, 3), name="x")
    w = g.variable("net/w", shape=(3, 4))
    noise = g.one("RandomStandardNormal", [2, 4], dtype=DType.FLOAT32, name="noise")
    g.one("RandomUniform", [2], dtype=DType.FLOAT32, seed2=7, name="other")
    scale = g.constant(np.float32(2), name="scale")
    total = g.one("AddV2", g.one("MatMul", x, w, name="product"), noise)
    g.one("Sum", g.one("Mul", total, scale), [0, 1], name="loss")
    return Document(
        graph=g.build(),
        request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("net/w"),)),
        initial={"net/w": Constant(np.zeros((3, 4), np.float32))},
        optimizers=optimizers or (Optimizer("Adam", {"learning_rate": 0.5}),),
    )


def test_an_optimizers_own() -> None:
    found = apply_settings(document(), {"learning_rate": "0.25", "beta1": "0.5"}, None)
    assert found.optimizers[0].hyper == {"learning_rate": 0.25, "beta1": 0.5}
    two = document(Optimizer("Adam", {}), Optimizer("Momentum", {"learning_rate": 1.0}))
    both = {"train.learning_rate": "3", "train_1.learning_rate": "4", "use_nesterov": "true"}
    rates = [o.hyper for o in apply_settings(two, both, None).optimizers]
    assert rates == [{"learning_rate": 3.0}, {"learning_rate": 4.0, "use_nesterov": 1.0}]
    with pytest.raises(GradstepError) as caught:
        check_settings(two, [parse_setting("learning_rate=1")], False)
    assert caught.value.hint == "write train.learning_rate or train_1.learning_rate"
    root_mean_square = apply_settings(document(Optimizer("RMSProp", {})), {"decay": "0.8"}, None)
    assert root_mean_square.optimizers == (Optimizer("RMSProp", {"decay": 0.8}),)


def test_values_of_nodes() -> None:
    values = {"scale": "3", "net/w": "full(0.5)", "x:0": "ones()"}
    found = apply_settings(document(), values, None)
    assert found.graph["scale"].attrs["value"].array == 3
    assert (found.initial["net/w"].array == 0.5).all()
    assert found.feeds["x:0"].array.tolist() == [[1, 1, 1]] * 2


def test_a_value_of_another_shape_changes_what_is_declared() -> None:
    found = apply_settings(document(), {"net/w": "zeros([3, {hidden}])", "hidden": "8"}, None)
    assert found.graph["net/w"].attrs["shape"] == Shape.of(3, 8)
    assert found.initial["net/w"].array.shape == (3, 8)


def test_attributes() -> None:
    values = {"product.transpose_a": "true", "noise.seed": "5", "x.shape": "[-1, 3]"}
    graph = apply_settings(document(), values, None).graph
    assert graph["product"].attrs["transpose_a"] is True
    assert graph["noise"].attrs["seed"] == 5
    assert graph["x"].attrs["shape"] == Shape.of(None, 3)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("learning_rate", "fast", "learning_rate=fast: it is a number"),
        ("scale", "words", "scale=words: 'words' is not a value"),
        ("product.transpose_a", "7", "'7' is not true or false"),
        ("noise.seed", "0.5", "'0.5' is not a whole number"),
        ("net/w", "normal(1, 2, 3, 4, 5)", "was given 5 arguments"),
    ],
)
def test_a_value_that_cannot_be_there_is_said(name: str, value: str, words: str) -> None:
    check_settings(document(), [parse_setting(f"{name}={value}")], False)
    with pytest.raises(GradstepError) as caught:
        apply_settings(document(), {name: value}, None)
    assert words in caught.value.message


def test_names_that_are_nothing_are_said_before_anything_runs() -> None:
    for name, hint in (("lerning_rate", "learning_rate"), ("net/v", "net/w"), ("hidden", "it can")):
        with pytest.raises(GradstepError) as caught:
            check_settings(document(), [parse_setting(f"{name}=1")], False)
        assert caught.value.message == f"nothing is called '{name}' that could be set"
        assert hint in caught.value.hint
    with pytest.raises(GradstepError):
        check_settings(document(), [parse_setting("batch=4")], False)
    check_settings(document(), [parse_setting("batch=4")], True)
    mentioned = [parse_setting("hidden=4,8"), parse_setting("net/w=zeros([3, {hidden}])")]
    check_settings(document(), mentioned, False)


def test_what_can_be_set_is_listed() -> None:
    names = settable_names(document())
    assert names[:4] == ["learning_rate", "beta1", "beta2", "epsilon"]
    assert {"x", "net/w", "scale"} <= {*names}


def test_a_seed_is_that_of_all_that_is_random() -> None:
    one, two = with_seed(document(), 1).graph, with_seed(document(), 2).graph
    assert [g["noise"].attrs["seed"] for g in (one, two)] == [1, 2]
    assert one["noise"].attrs["seed2"] == two["noise"].attrs["seed2"] != 0
    assert one["other"].attrs["seed2"] == 7  # its own stays
    assert one["noise"].attrs["seed2"] != with_seed(document(), 1).graph["other"].attrs["seed2"]
    assert is_seeded(document(), ())


@each_of(
    ("text", "seeded"),
    [
        ("normal(0, 0.1)", "normal(0, 0.1, seed=3)"),
        ("normal([4, 2], 0, 0.1)", "normal([4, 2], 0, 0.1, seed=3)"),
        ("glorot_uniform", "glorot_uniform(seed=3)"),
        ("normal(0, 1, 9)", "normal(0, 1, 9)"),
        ("normal(0, 1, seed=9)", "normal(0, 1, seed=9)"),
        ("zeros()", "zeros()"),
        ("0.5", "0.5"),
        ("@file.npy", "@file.npy"),
    ],
)
def test_generators_without_a_seed_get_that_of_the_run(text: str, seeded: str) -> None:
    assert seeded_text(text, 3) == seeded
    assert seeded_text(text, None) == text


def test_another_seed_starts_elsewhere() -> None:
    first, again, other = (
        apply_settings(document(), {"net/w": "normal()"}, seed).initial["net/w"].array
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_rows_of_a_step_and_their_order_are_the_documents() -> None:
    data = Dataset({"x:0": "@xor:x"}, batch=4, shuffle=7)
    document = Document().with_(data=data)
    check_settings(document, [parse_setting("batch=2,4")], with_batch=False)
    assert "batch" in settable_names(document)
    changed = apply_settings(with_seed(document, 3), {"batch": "2"}, 3)
    assert changed.data == replace(data, batch=2, shuffle=10)
    assert is_seeded(document, ())
    in_order = document.with_(data=replace(data, shuffle=None))
    assert not is_seeded(in_order, ())
    assert with_seed(in_order, 3).data == in_order.data
    for wrong in ("0", "2.5", "many"):
        with pytest.raises(GradstepError, match=f"{wrong} is no number of rows"):
            apply_settings(document, {"batch": wrong}, None)
    with pytest.raises(GradstepError, match="nothing is called 'batch'"):
        check_settings(Document(), [parse_setting("batch=2")], with_batch=False)
