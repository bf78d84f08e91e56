"""--restore: variables as a checkpoint has them, by name; what does not fit is said."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.data.array_files import Reading, read_array
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.core.io.tensorflow.tensor_bundle import TensorBundle
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

pytestmark = pytest.mark.usefixtures("forked_workers")

TUTORIAL = FOLDER / "tutorial.gradstep"
SAMPLES = Path(__file__).parents[2] / "data" / "checkpoints" / "bundles.zip"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    with zipfile.ZipFile(SAMPLES) as archive:
        archive.extractall(folder)
    return folder


def save_variables(path: Path, **shapes: tuple[int, ...]) -> Path:
    """A document of such variables, / written as __, all of which start as zeros."""
    g = GraphBuilder()
    named = {name.replace("__", "/"): shape for name, shape in shapes.items()}
    for name, shape in named.items():
        g.variable(name, shape=shape)
    zeros = {name: Constant(np.zeros(shape, np.float32)) for name, shape in named.items()}
    gradstep_file.save(path, Document(g.build(), initial=zeros))
    return path


@pytest.mark.parametrize("place", ["model.ckpt-2", "model.ckpt-2.index", ""])
def test_a_saver_s_variables_by_name(cli: Cli, theirs: Path, tmp_path: Path, place: str) -> None:
    """A folder gives the newest that its list names."""
    path = theirs / "saver" / place
    file = save_variables(tmp_path / "d.gradstep", layer__w=(2, 2), layer__b=(2,))
    out = tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", path)
    assert found.status == 0
    bundle = TensorBundle(theirs / "saver/model.ckpt-2")
    initial = gradstep_file.load(out).initial
    for name in ("layer/w", "layer/b"):
        assert initial[name].array.tobytes() == bundle.read(name).tobytes()
    assert found.err.startswith("gradstep: 7 tensors of model.ckpt-2 belong to no variable here: ")
    assert "beta1_power" in found.err


def test_objects_variables_by_what_they_call_themselves(
    cli: Cli, theirs: Path, tmp_path: Path
) -> None:
    file = save_variables(tmp_path / "d.gradstep", dense__kernel=(2, 1), dense__bias=(1,))
    out = tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", theirs / "objects")
    initial = gradstep_file.load(out).initial
    assert initial["dense/kernel"].array.tolist() == [[1], [2]]
    assert initial["dense/bias"].array.tolist() == [0.25]
    assert "save_counter" in found.err


@pytest.mark.parametrize("folder", ["saved_1", "saved_1/variables"])
def test_a_saved_models_variables(cli: Cli, tmp_path: Path, folder: str) -> None:
    with zipfile.ZipFile(SAMPLES.parents[1] / "foreign" / "samples.zip") as archive:
        archive.extractall(tmp_path)
    file, out = save_variables(tmp_path / "d.gradstep", w=(2, 1)), tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", tmp_path / folder)
    assert (found.status, found.err) == (0, "")
    assert gradstep_file.load(out).initial["w"].array.all()


def test_what_does_not_fit_is_said_and_stays(cli: Cli, theirs: Path, tmp_path: Path) -> None:
    file = save_variables(tmp_path / "d.gradstep", layer__w=(2, 3), layer__b=(2,), other=(1,))
    out = tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", theirs / "saver/model.ckpt-1")
    assert found.status == 0
    assert "initial value of shape [2, 2] does not fit variable 'layer/w'" in found.err
    assert "one variable is not in model.ckpt-1, and as before: other" in found.err
    initial = gradstep_file.load(out).initial
    assert not initial["layer/w"].array.any()
    assert initial["layer/b"].array.all()


@pytest.mark.parametrize(
    ("shapes", "place", "said"),
    [
        ({"layer__v": (2, 2)}, "saver", "fits no variable: it has no tensor named 'layer/v'"),
        ({"layer__w": (3,)}, "saver", "fits no variable: initial value of shape [2, 2] does not"),
        ({}, "saver", "the document has no variable"),
        ({"a": (2,)}, "saver/model.ckpt-3", "model.ckpt-3: there is no such file"),
        ({"a": (2,)}, "types", None),
        ({"a": (2,)}, "saver/checkpoint", "checkpoint holds no tensors by name"),
        ({"a": (2,)}, ".", "has no checkpoints"),
    ],
)
def test_what_cannot_be_restored_is_refused(
    cli: Cli,
    theirs: Path,
    tmp_path: Path,
    shapes: dict[str, tuple[int, ...]],
    place: str,
    said: str | None,
) -> None:
    file = save_variables(tmp_path / "d.gradstep", **shapes)
    found = cli("convert", file, tmp_path / "out.gradstep", "--restore", theirs / place)
    assert found.status == 1
    assert (said or "fits no variable") in found.err
    assert "Traceback" not in found.err
    assert not (tmp_path / "out.gradstep").exists()


@pytest.mark.parametrize("form", ["kept", "kept/model.ckpt"])
def test_training_begins_where_another_ended(cli: Cli, tmp_path: Path, form: str) -> None:
    """With what a training kept in either form, or what it saved as a document."""
    kept, out = tmp_path / form, tmp_path / "out.gradstep"
    cli("train", TUTORIAL, "--steps", 5, "--checkpoint", kept, "--out", out)
    steps = ("--steps", 2, "--every", 1, "--json")
    saved = cli("train", out, *steps).json["shown"]
    restored = cli("train", TUTORIAL, "--restore", tmp_path / "kept", *steps).json["shown"]
    assert restored == saved
    assert restored != cli("train", TUTORIAL, *steps).json["shown"]


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_other_files_of_tensors(cli: Cli, tmp_path: Path, suffix: str) -> None:
    from tests.core.data.test_array_files import save_safetensors

    path = tmp_path / f"values{suffix}"
    values = {"w": np.array([3, 4], np.float32)}
    np.savez(path, **values) if suffix == ".npz" else save_safetensors(path, **values)
    file, out = save_variables(tmp_path / "d.gradstep", w=(2,)), tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", path)
    assert (found.status, found.err) == (0, "")
    assert gradstep_file.load(out).initial["w"].array.tolist() == [3, 4]


@pytest.mark.slow
def test_a_sweep_begins_with_it(cli: Cli, tmp_path: Path) -> None:
    write_bundle(str(tmp_path / "m.ckpt"), {"c": np.zeros(2, np.float32)})
    words = ("--set", "learning_rate=0,0.1", "--steps", 1, "--workers", 1)
    found = cli(
        "sweep", TUTORIAL, *words, "--restore", tmp_path / "m.ckpt", "--out", tmp_path / "s"
    )
    assert found.status == 0
    assert not gradstep_file.load(tmp_path / "s/document.gradstep").initial["c"].array.any()


def test_one_tensor_is_a_value(cli: Cli, theirs: Path) -> None:
    place = theirs / "saver/model.ckpt-2.index"
    fed = cli("run", TUTORIAL, "--feed", f"data=@{place}:layer/b", "--fetch", "data", "--json")
    bundle = TensorBundle(place)
    found = np.float32(fed.json["runs"][0]["fetches"]["data"]["data"])
    assert found.tobytes() == bundle.read("layer/b").tobytes()
    missing = cli("run", TUTORIAL, "--feed", f"data=@{place}:layer/c")
    assert "has no tensor named 'layer/c'" in missing.err
    several = cli("run", TUTORIAL, "--feed", f"data=@{place}")
    assert "holds several tensors" in several.err
    wrong = cli("run", TUTORIAL, "--feed", f"data=@{place}:layer/w")
    assert "Cannot feed value of shape (2, 2)" in wrong.err


# -- the first version, and parts ----------------------------------------------------------------


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of TensorFlow's first version."""
    folder = tmp_path_factory.mktemp("first")
    with zipfile.ZipFile(SAMPLES.with_name("first_version.zip")) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("place", ["model.ckpt-2", ""])
def test_a_checkpoint_of_the_first_version(
    cli: Cli, first: Path, tmp_path: Path, place: str
) -> None:
    file = save_variables(tmp_path / "d.gradstep", layer__w=(2, 2), layer__b=(2,))
    out = tmp_path / "out.gradstep"
    assert cli("convert", file, out, "--restore", first / "saver" / place).status == 0
    with np.load(first / "saver/expected.npz") as expected:
        for name, value in gradstep_file.load(out).initial.items():
            assert value.array.tobytes() == expected[name.replace("/", "|")].tobytes()


@pytest.mark.parametrize("place", ["model.ckpt", "model.ckpt-00001-of-00002", ""])
def test_one_that_was_saved_in_several_files(
    cli: Cli, first: Path, tmp_path: Path, place: str
) -> None:
    file = save_variables(tmp_path / "d.gradstep", a=(2,))
    out = tmp_path / "out.gradstep"
    found = cli("convert", file, out, "--restore", first / "sharded" / place)
    assert gradstep_file.load(out).initial["a"].array.tolist() == [1, 2]
    assert "belongs to no variable here: b" in found.err


def test_one_tensor_of_it_is_a_value(cli: Cli, first: Path) -> None:
    place = f"@{first}/saver/model.ckpt-2:layer/w"
    array, _ = read_array(place[1:], Reading())
    with np.load(first / "saver/expected.npz") as expected:
        assert np.array_equal(array, expected["layer|w"])
    assert "holds several tensors" in cli("run", TUTORIAL, "--feed", "c=" + place[:-8]).err


@pytest.mark.parametrize("version", ["first", "second"])
def test_variables_in_parts_are_stretches_of_the_whole(
    cli: Cli, theirs: Path, first: Path, tmp_path: Path, version: str
) -> None:
    """As a graph has them that tf.get_variable made with a partitioner."""
    shapes: dict[str, tuple[int, ...]] = {
        "by__rows__part_0": (4, 2), "by__rows__part_1": (3, 2), "by__rows__part_2": (3, 2)
    }  # fmt: skip
    file = save_variables(tmp_path / "d.gradstep", **shapes)
    out = tmp_path / "out.gradstep"
    path = {"first": first, "second": theirs}[version] / "partitioned/model.ckpt"
    found = cli("convert", file, out, "--restore", path)
    values = gradstep_file.load(out).initial
    parts = [values[name.replace("__", "/")].array for name in shapes]
    assert np.concatenate(parts).ravel().tolist() == list(range(20))
    assert "by/rows" not in found.err


def test_parts_that_are_none_of_the_whole_are_said(cli: Cli, theirs: Path, tmp_path: Path) -> None:
    file = save_variables(
        tmp_path / "d.gradstep", by__rows__part_0=(4, 2), by__rows__part_1=(5, 2), whole=()
    )
    found = cli("convert", file, tmp_path / "o.gradstep", "--restore", theirs / "partitioned")
    assert "[10, 2] does not fit variable 'by/rows/part_0'" in found.err
    assert found.status == 0
