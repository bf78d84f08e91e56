"""What TensorFlow's users have on disk opens, with the values and gradients that TensorFlow has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.variable import TRAINABLE, VARIABLES
from gradstep.core.program.derive import derive
from gradstep.core.program.user_code import functions_of
from tests.support import saved_models
from tests.support.saved_models import Facts

NEAR = 1e-6  # relative to the largest number


def _near(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.shape == wanted.shape
    scale = float(np.abs(wanted).max(initial=0)) + 1e-7
    assert float(np.abs(got - wanted).max(initial=0)) <= NEAR * scale


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Document, Facts]]:
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name in saved_models.names():
        facts = saved_models.unpack(name, folder)
        found[name] = read(facts.open), facts
    return found


def _given(document: Document) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in document.initial.items()}


@pytest.mark.parametrize("name", saved_models.names())
def test_values_and_gradients_are_those_of_tensorflow(
    name: str, opened: dict[str, tuple[Document, Facts]]
) -> None:
    document, facts = opened[name]
    assert not derive(document, trusted=True).problems
    gradients = facts.of_kind("gradient")
    wrt = saved_models.variables(document, gradients)
    request = GradientRequest((facts.tensor(facts.of),), tuple(map(TensorRef, wrt.values())))
    functions, _ = functions_of(document.code.values(), trusted=True)
    derived = differentiate(document.graph, request, functions)
    session = Session(derived.graph, initial=_given(document))
    feeds = {facts.tensor(k).short: value for k, value in facts.of_kind("feed").items()}
    if document.init:
        session.run([], feeds, [document.init])
    values = facts.of_kind("value")
    slopes = [derived.gradients[TensorRef(variable)] for variable in wrt.values()]
    found = session.run([*(facts.tensor(k).short for k in values), *slopes], feeds)
    for got, wanted in zip(found, [*values.values(), *gradients.values()], strict=True):
        _near(got, wanted)


@pytest.mark.parametrize("name", saved_models.names())
def test_what_is_trained_is_what_the_program_trained(
    name: str, opened: dict[str, tuple[Document, Facts]]
) -> None:
    document, facts = opened[name]
    graph = document.graph
    trained = {n for n in graph.of_types(VARIABLES) if graph[n].attrs.get(TRAINABLE) is not False}
    assert trained == {*saved_models.variables(document, facts.trained).values()}


def test_a_signature_is_what_a_run_computes(opened: dict[str, tuple[Document, Facts]]) -> None:
    document, _ = opened["tf2_control"]
    assert [str(ref) for ref in document.fetches] == [
        "StatefulPartitionedCall:0",
        "StatefulPartitionedCall:1",
    ]
    assert "feed n = serving_default_n:0 (int32[]); x = serving_default_x:0" in document.note
    assert "3 variables have the values of the checkpoint in its folder." in document.note
    assert "NoOp" not in document.graph, "it would do nothing"
    assert document.title == "model"
    assert "Signature serve is as serving_default." in opened["tf2_cnn"][0].note


def test_functions_without_signatures_are_called_once_each(
    opened: dict[str, tuple[Document, Facts]],
) -> None:
    document, _ = opened["tf2_functions"]
    assert "Signature encode: feed x = encode_x:0 (float[?, 3])" in document.note
    assert "these are its functions" in document.note
    assert [str(ref) for ref in document.fetches] == ["decode:0"]
    assert document.graph["encode_x"].type == "Placeholder"


def test_what_saves_and_restores_is_left_out(opened: dict[str, tuple[Document, Facts]]) -> None:
    for name, (document, _) in opened.items():
        if name != "tf1_events":
            types = {op.type for op in document.graph}
            assert not types & {"SaveV2", "RestoreV2", "ShardedFilename", "StringJoin"}, name


def test_datasets_are_left_out_and_what_they_give_is_fed(
    opened: dict[str, tuple[Document, Facts]],
) -> None:
    document, facts = opened["tf1_dataset"]
    assert not [op for op in document.graph if "Dataset" in op.type or op.type == "MakeIterator"]
    assert {facts.tensor(name).op for name in facts.of_kind("feed")} == {"IteratorGetNext"}
    feeds = {facts.tensor(k).short: value for k, value in facts.of_kind("feed").items()}
    session = Session(document.graph, initial=_given(document))
    session.run([], feeds, ["begin"])  # which filled the iterator, too
    session.run([], feeds, ["train"])


def test_gradients_in_loops_of_functions_train(
    opened: dict[str, tuple[Document, Facts]],
) -> None:
    document, facts = opened["tf1_control_2"]
    session = Session(document.graph, initial=_given(document))
    session.run([], facts.of_kind("feed"), ["train"])
    after = session.store["w"]
    before, slope = document.initial["w"].array, facts.arrays["gradient/w"]
    np.testing.assert_allclose(after, before - 0.1 * slope, rtol=1e-5, atol=1e-6)


def test_a_checkpoints_graph_trains_on(opened: dict[str, tuple[Document, Facts]]) -> None:
    document, _ = opened["tf1_saver"]
    assert document.targets == ("Momentum",)
    assert [str(ref) for ref in document.fetches] == ["mean_squared_error/value:0"]
    assert document.initial["global_step"].array == 3
    assert document.imported
    assert not document.init


def test_parts_of_a_variable_have_their_own_rows(
    opened: dict[str, tuple[Document, Facts]],
) -> None:
    document, _ = opened["tf1_saver"]
    shapes = [document.initial[f"embedding/part_{n}"].array.shape for n in range(3)]
    assert shapes == [(3, 4), (2, 4), (2, 4)]


# -- what is not there, or not as it should be -----------------------------------------------------


def _message(path: Path) -> str:
    with pytest.raises(GradstepError) as caught:
        read(path)
    error = caught.value
    assert error.kind == "FileError"
    assert error.hint
    assert "\n" not in error.message + error.hint
    return error.message


def test_a_graph_without_its_checkpoint_opens_and_says_so(tmp_path: Path) -> None:
    facts = saved_models.unpack("tf1_saver", tmp_path)
    for path in facts.open.parent.glob("model.ckpt-3.[di]*"):
        path.unlink()
    document = read(facts.open)
    assert not document.initial
    assert document.init
    assert "Its variables have no values" in document.note


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    facts = saved_models.unpack("tf1_sharded", tmp_path)
    shard = facts.open.with_name("model.ckpt.data-00000-of-00002")
    shard.unlink()
    assert shard.name in _message(facts.open)


def test_another_checkpoint_is_refused(tmp_path: Path) -> None:
    facts = saved_models.unpack("tf1_saver", tmp_path)
    other = saved_models.unpack("tf1_sharded", tmp_path)
    for path in other.open.parent.glob("model.ckpt.[di]*"):
        path.rename(facts.open.parent / path.name.replace("model.ckpt", "model.ckpt-3"))
    document = read(facts.open)
    assert not document.initial
    assert "No value was saved of" in document.note


def test_a_missing_asset_is_named(tmp_path: Path) -> None:
    facts = saved_models.unpack("tf2_tables", tmp_path)
    (facts.open / "assets" / "vocabulary.txt").unlink()
    assert "vocabulary.txt: there is no such file" in _message(facts.open)


@pytest.mark.parametrize("cut", [0.5, 0.99])
def test_a_model_that_is_cut_off_is_called_what_it_is(tmp_path: Path, cut: float) -> None:
    for name, called in (("tf2_lstm", "a SavedModel"), ("tf1_saver", "a MetaGraph")):
        facts = saved_models.unpack(name, tmp_path)
        path = facts.open / "saved_model.pb" if facts.open.is_dir() else facts.open
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * cut)])
        assert f"is {called} that cannot be read: " in _message(path)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("damaged")
    found = {}
    for name in ("tf2_control", "tf2_tape", "tf1_sharded", "tf1_events"):
        path = saved_models.unpack(name, folder).open
        found[name] = path / "saved_model.pb" if path.is_dir() else path
    return found


@settings(deadline=None)
@given(st.data())
def test_damage_is_said_in_one_line(damaged: dict[str, Path], data: st.DataObject) -> None:
    """Bytes changed, taken out, or cut off: it opens, or one line says why not."""
    path = damaged[data.draw(st.sampled_from([*damaged]))]
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    gone = data.draw(st.integers(0, 40))
    put = data.draw(st.binary(max_size=3))
    broken = path.with_name(f"broken{path.suffix}")
    broken.write_bytes(whole[:place] + put + whole[place + gone :])
    said = _refusal(broken)
    assert said is None or "\n" not in said.message
    assert said is None or said.kind in ("FileError", "InvalidArgumentError", "MemoryLimitError")


def _refusal(path: Path) -> GradstepError | None:
    try:
        read(path)
    except GradstepError as error:
        return error
    return None
