"""gradstep train --checkpoint DIR/NAME.ckpt: TensorFlow's checkpoints, written and gone on from."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.core.io.tensorflow.checkpoint_state import newest_in
from gradstep.core.io.tensorflow.tensor_bundle import TensorBundle
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.core.cli.test_train_checkpoints import TUTORIAL, losses, noisy
from tests.support.rounding import Rounding, assert_rounded_alike

__all__ = ["noisy"]  # a fixture
SAMPLES = Path(__file__).parents[2] / "data" / "checkpoints" / "bundles.zip"


@pytest.fixture
def adam(tmp_path: Path) -> Path:
    """The graph of tests/data/checkpoints/make.py, with our own Adam."""
    g = GraphBuilder()
    w, b = g.variable("layer/w", shape=(2, 2)), g.variable("layer/b", shape=(2,))
    x = g.constant(np.array([[1, -1]], np.float32))
    squared = g.one("Square", g.one("Add", g.one("MatMul", x, w), b))
    g.one("Sum", squared, g.constant(np.array([0, 1], np.int32)), name="loss")
    path = tmp_path / "adam.gradstep"
    zeros = {"layer/w": np.zeros((2, 2), np.float32), "layer/b": np.zeros(2, np.float32)}
    document = Document(
        graph=g.build(),
        request=GradientRequest(
            of=(TensorRef("loss"),), wrt=(TensorRef("layer/w"), TensorRef("layer/b"))
        ),
        initial={name: Constant(array) for name, array in zeros.items()},
        optimizers=(Optimizer("Adam", {"learning_rate": 0.1}),),
    )
    gradstep_file.save(path, document)
    return path


def test_stopping_changes_no_bit(cli: Cli, noisy: Path, tmp_path: Path) -> None:
    whole = losses(cli, noisy, "--steps", 7)
    found: dict[int, object] = {}
    for steps in (2, 3, 7):
        kept = ("--checkpoint", tmp_path / "kept/model.ckpt", "--resume")
        found |= losses(cli, noisy, "--steps", steps, *kept)
    assert found == whole


def test_the_newest_stay_the_best_and_their_list(cli: Cli, tmp_path: Path) -> None:
    prefix = tmp_path / "made/here/model.ckpt"
    words = ("--checkpoint", prefix, "--checkpoint-every", 4, "--keep", 2)
    done = cli("train", TUTORIAL, "--steps", 14, *words, "--json").json
    assert done["checkpoint"] == f"{prefix}-14"
    names = {path.name.partition(".data")[0] for path in prefix.parent.iterdir()}
    kept = {"model.ckpt-12", "model.ckpt-14", "model.ckpt-best"}
    assert names == {"checkpoint"} | kept | {f"{name}.index" for name in kept}
    assert newest_in(prefix.parent) == Path(f"{prefix}-14")
    assert (prefix.parent / "checkpoint").read_text().count("all_model_checkpoint_paths") == 2
    best, last = (TensorBundle(f"{prefix}-{what}") for what in ("best", 14))
    assert best.read("c/Adam_1").shape == (2,)
    assert best.read("c").tobytes() == last.read("c").tobytes()
    again = cli("train", TUTORIAL, "--steps", 14, *words, "--resume", "--json").json
    assert (again["resumed"], again["steps"], again["shown"]) == (14, 14, [])


def test_tensorflows_own_are_gone_on_from_and_stay(cli: Cli, adam: Path, tmp_path: Path) -> None:
    """One step from TensorFlow's first leads to its second."""
    with zipfile.ZipFile(SAMPLES) as archive:
        archive.extractall(tmp_path)
    theirs = tmp_path / "saver"
    second = TensorBundle(theirs / "model.ckpt-2")
    expected = {name: second.read(name) for name in second.names}
    for part in theirs.glob("model.ckpt-2.*"):
        part.unlink()
    words = ("--checkpoint", theirs / "model.ckpt", "--keep", 1, "--resume", "--json")
    done = cli("train", adam, "--steps", 2, *words).json
    assert (done["resumed"], done["steps"]) == (1, 2)
    found = TensorBundle(theirs / "model.ckpt-2")
    for name in sorted({*expected} - {"global_step"}):
        assert_rounded_alike(found.read(name), expected[name], Rounding(terms=2, steps=8, size=1))
    assert "global_step" not in found.names  # the document counts no steps
    assert (theirs / "model.ckpt-1.index").exists()


def test_texts_are_kept_too(tmp_path: Path) -> None:
    from gradstep.core.io.checkpoint_files import CheckpointFolder
    from gradstep.core.io.checkpoints.training_state import Checkpoint

    state = {"w": np.arange(3.0), "said": np.array(b"text", object)}
    folder = CheckpointFolder(tmp_path / "model.ckpt", 1)
    for step, loss in ((3, 1.0), (4, 2.0), (5, np.nan)):
        folder.add(Checkpoint(step, loss, state))
    newest = CheckpointFolder(tmp_path / "model.ckpt", 1).newest()
    assert newest is not None
    assert (newest.step, np.isnan(newest.loss)) == (5, True)
    assert newest.variables["said"] == state["said"]
    assert newest.variables["w"].tolist() == [0, 1, 2]
    assert not (tmp_path / "model.ckpt-3.index").exists()


def test_one_of_them_is_no_folder(cli: Cli, tmp_path: Path) -> None:
    prefix = tmp_path / "model.ckpt-7"
    write_bundle(str(prefix), {"c": np.zeros(2, np.float32)})
    for name in (str(prefix), f"{prefix}.index"):
        found = cli("train", TUTORIAL, "--steps", 1, "--checkpoint", name)
        assert found.status == 2
        assert "is a checkpoint, and no folder of them" in found.err
        assert f"--restore {prefix}" in found.err
        assert f"name {tmp_path / 'model.ckpt'}" in found.err


@pytest.mark.parametrize("damage", ["cut", "text", "lost"])
def test_a_damaged_one_is_named(cli: Cli, tmp_path: Path, damage: str) -> None:
    prefix = tmp_path / "model.ckpt"
    cli("train", TUTORIAL, "--steps", 3, "--checkpoint", prefix)
    index = tmp_path / "model.ckpt-3.index"
    if damage == "lost":
        (tmp_path / "model.ckpt-3.data-00000-of-00001").unlink()
    else:
        index.write_bytes(index.read_bytes()[:90] if damage == "cut" else b"nothing")
    found = cli("train", TUTORIAL, "--steps", 4, "--checkpoint", prefix, "--resume")
    assert found.status == 1
    assert "model.ckpt-3" in found.err
    assert "Traceback" not in found.err
