"""Edits on branches as people write them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.edit_names import rename_in_edit
from gradstep.core.document.named_edits import edit_by_name, label_of, words_of
from gradstep.core.document.optimizer_labels import changes
from gradstep.core.document.repairs import REPAIRS
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.questions.edit_words import EXAMPLES, read_edit

ADAM, PLAIN = Optimizer("Adam", {"learning_rate": 0.1}), Optimizer("GradientDescent", {})


def _document(*optimizers: Optimizer) -> Document:
    b = GraphBuilder()
    w, v = b.variable("w", shape=(2,)), b.variable("train/v", shape=(2,))
    b.one("LeakyRelu", b.one("Mul", w, v, name="a"), name="train/r", alpha=0.25)
    return Document(
        graph=b.build(), request=GradientRequest.to("train/r", "w"), optimizers=optimizers
    )


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("stop a", ("stop", ("a",))),
        ("stop a<1", ("stop", ("a<1",))),
        ("unstop a", ("unstop", ("a:0",))),
        ("native a", ("native", ("a",))),
        ("override a Identity", ("override", ("Identity", "a", "op"))),
        ("override train/ Identity", ("override", ("Identity", "train/", "scope"))),
        ("override Mul Identity", ("override", ("Identity", "Mul", "type"))),
        ("set train/r.alpha=0.5", ("set", ("train/r", "alpha", "0.5"))),
        ("set nowhere.alpha = 0.5", ("set", ("nowhere", "alpha", "0.5"))),
        ("set beta1 = 0.5", ("hyper", ("train", "beta1", "0.5"))),
        ("set train.beta1 = 0.5", ("hyper", ("train", "beta1", "0.5"))),
        ("set train_1.learning_rate = 1", ("hyper", ("train_1", "learning_rate", "1"))),
        ("set", None),
        ("set beta1", None),
        ("stop a b", None),
        ("override a", None),
        ("", None),
        ("pray", None),
    ],
)
def test_what_is_meant(text: str, edit: tuple[str, tuple[str, ...]] | None) -> None:
    assert read_edit(_document(ADAM, PLAIN), text) == edit


@pytest.mark.parametrize(
    ("text", "optimizers", "said"),
    [
        ("set learning_rate = 1", (ADAM, PLAIN), "2 optimizers have a learning_rate"),
        ("set optimizer.learning_rate = 1", (ADAM, PLAIN), "no optimizer 'optimizer'"),
        ("set learning_rate = 1", (), "no optimizer has a setting 'learning_rate'"),
        ("set train_1.beta1 = 1", (ADAM, PLAIN), "no optimizer has a setting 'beta1'"),
    ],
)
def test_what_is_not_clear(text: str, optimizers: tuple[Optimizer, ...], said: str) -> None:
    with pytest.raises(GradstepError, match=said) as raised:
        read_edit(_document(*optimizers), text)
    assert raised.value.hint


def test_every_example_can_be_read() -> None:
    for text in EXAMPLES.split(", "):
        assert read_edit(_document(ADAM), text) is not None, text


def test_the_settings_of_an_optimizer_are_one_edit() -> None:
    document = _document(PLAIN, ADAM)
    names = ("train_1", "learning_rate", "0.5", "schedule", "cosine_decay(10)", "clip", "")
    edited = edit_by_name(document, "hyper", names)
    assert edited.optimizers[0] is PLAIN
    assert edited.optimizers[1].hyper == {"learning_rate": 0.5}
    assert edited.optimizers[1].schedule == "cosine_decay(10)"
    assert words_of("hyper", names[:3]) == "train_1.learning_rate = 0.5"
    assert label_of("hyper", ("train", "clip", "")) == "Set train.clip = none"
    assert rename_in_edit("hyper", names, lambda name: f"x/{name}") == [*names]
    for wrong in (("train_2", "learning_rate", "1"), ("train", "learning_rate", "much")):
        with pytest.raises(GradstepError):
            edit_by_name(document, "hyper", wrong)
    with pytest.raises(GradstepError, match="is not about train"):
        edit_by_name(document, "hyper", ("train", "learning_rate"))


REPAIRED: Mapping[str, tuple[str, ...]] = {  # what is renamed has a capital letter
    "add_epsilon": ("A<0", "1"),
    "keep_above": ("A<0", "1"),
    "keep_below": ("A<0", "1"),
    "safe_where": ("A<0", "B", "1", "1"),
    "expand": ("A<0", "1"),
    "div_no_nan": ("A",),
    "let_through": ("A",),
    "log_softmax": ("A", "B"),
    "leak": ("A",),
    "cast_first": ("A", "B"),
    "rewire": ("A<0", "B:0"),
    "feed": ("A:0", "1"),
    "unfeed": ("A:0",),
    "draw": ("A", "1"),
    "scale": ("A", "1"),
}


@pytest.mark.parametrize("kind", REPAIRS)
def test_only_names_are_renamed_in_a_repair(kind: str) -> None:
    names = REPAIRED[kind]
    other = [f"x/{name}" if name[0].isupper() else name for name in names]
    assert rename_in_edit(kind, names, lambda name: f"x/{name}") == other


def test_a_decay_of_weights_is_not_the_decay_that_an_optimizer_has_itself() -> None:
    plain, held = Optimizer("RMSProp", {"decay": 0.9}), {"decay": 0.5}
    bent = Optimizer("RMSProp", held, decay="l2(1)")
    document, pairs = _document(plain), changes(plain, bent)
    names = ("train", *(text for pair in pairs for text in pair))
    assert edit_by_name(document, "hyper", names).optimizers == (bent,)
    for text, optimizer in (
        ("set decay = 0.5", Optimizer("RMSProp", held)),
        ("set weight_decay = l2(1)", Optimizer("RMSProp", {"decay": 0.9}, decay="l2(1)")),
    ):
        edit = read_edit(document, text)
        assert edit is not None
        assert edit_by_name(document, *edit).optimizers == (optimizer,)
