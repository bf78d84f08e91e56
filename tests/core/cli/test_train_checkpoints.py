"""gradstep train --checkpoint, --resume: stopping and going on gives the bits of not stopping."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
DIGITS = FOLDER / "softmax_digits.gradstep"
QUEUES = FOLDER / "queue_train_validation.gradstep"


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """A document whose loss draws random numbers, trained with slots."""
    g = GraphBuilder()
    w = g.variable("w", shape=(3,))
    shape = g.constant(np.array([3], np.int32))
    noise = g.one("RandomStandardNormal", shape, seed=5, dtype="float32")
    g.one("L2Loss", g.one("Sub", w, noise), name="loss")
    path = tmp_path / "noisy.gradstep"
    gradstep_file.save(
        path,
        Document(
            graph=g.build(),
            request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),)),
            initial={"w": Constant(np.arange(3, dtype=np.float32))},
            optimizers=(Optimizer("Adam", {"learning_rate": 0.1}),),
        ),
    )
    return path


def losses(cli: Cli, *words: object) -> dict[int, object]:
    """By step, of a training that shows each."""
    shown = cli("train", *words, "--every", 1, "--json").json["shown"]
    return {one["step"]: one["values"]["loss"] for one in shown}


@pytest.mark.parametrize("stops", [(1,), (4,), (2, 5, 6)])
def test_stopping_changes_no_bit(
    cli: Cli, noisy: Path, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    whole = losses(cli, noisy, "--steps", 8)
    assert len({json.dumps(loss) for loss in whole.values()}) == 8  # each draws other numbers
    found: dict[int, object] = {}
    for steps in (*stops, 8):
        kept = ("--checkpoint", tmp_path / "kept", "--resume")
        found |= losses(cli, noisy, "--steps", steps, *kept)
    assert found == whole


@pytest.mark.parametrize(("steps", "batch"), [("", 7), ("|scale(1/16)|crop(8,8,1)|flip()", 700)])
def test_batches_go_on_where_they_were(cli: Cli, tmp_path: Path, steps: str, batch: int) -> None:
    """Amid an epoch, and in the next one, which draws anew how images are moved and turned."""
    batches = ("--data", f"images=@digits:images{steps}", "labels=@digits:labels|one_hot(10)")
    words = (DIGITS, *batches, "--batch", batch, "--shuffle", 3)
    whole = losses(cli, *words, "--steps", 6)
    found: dict[int, object] = {}
    for made in (2, 6):
        kept = ("--checkpoint", tmp_path / "kept", "--resume")
        found |= losses(cli, *words, "--steps", made, *kept)
    assert found == whole
    assert len({json.dumps(loss) for loss in whole.values()}) == 6


ROWS = ("images=@digits:images", "labels=@digits:labels|one_hot(10)")
OF_ROWS = ("--batch", 8, "--shuffle", 3, "--validate", 0.2, "--limit", 50)
OTHERS = [
    (("--batch", 16), "--batch 8 there, 16 here", "say --batch 8"),
    (("--shuffle", 4), "--shuffle 3 there, 4 here", "say --shuffle 3"),
    (("--limit", 60), "--limit 50 there, 60 here", "say --limit 50"),
    (("--validate", 0.1), "--validate 0.2 there, 0.1 here", "say --validate 0.2"),
    (("--test", 0.1), "--test none there, 0.1 here", "leave --test away"),
    (("--drop-last",), "--drop-last none there, on here", "leave --drop-last away"),
    (("--batch", 4, "--shuffle", 0), "--shuffle 3 there, 0 here", "say --batch 8 --shuffle 3;"),
    (
        ("--data", "images=@digits:images|scale(2)", ROWS[1]),
        "images is @digits:images there, @digits:images | scale(2) here",
        "give it the same --data",
    ),
]


@pytest.mark.parametrize("name", ["", "/model.ckpt"])
def test_a_checkpoint_knows_its_data(cli: Cli, tmp_path: Path, name: str) -> None:
    kept = ("--checkpoint", f"{tmp_path}/kept{name}", "--resume")
    cli("train", DIGITS, "--data", *ROWS, *OF_ROWS, "--steps", 7, *kept)
    files = {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    for words, said, hint in OTHERS:
        data = () if "--data" in words else ("--data", *ROWS)
        found = cli("train", DIGITS, *OF_ROWS, *data, *words, "--steps", 9, *kept)
        assert found.status == 1, words
        what, do = found.err.splitlines()
        assert said in what
        assert hint in do
        assert not found.out
    assert {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == files
    found = cli("train", DIGITS, "--data", *ROWS, *OF_ROWS, "--steps", 9, *kept)
    assert (found.status, found.err) == (0, "")
    assert "went on after step 7, with batch 3 of epoch 2, rows " in found.out


def test_data_that_has_changed_its_rows_or_is_gone_is_said(cli: Cli, tmp_path: Path) -> None:
    kept = ("--steps", 2, "--checkpoint", tmp_path / "kept", "--resume", "--json")
    for rows in (20, 21):
        np.save(tmp_path / "rows.npy", np.zeros((rows, 64), np.float32))
        np.save(tmp_path / "labels.npy", np.zeros((rows, 10), np.float32))
        data = [f"images=@{tmp_path}/rows.npy", f"labels=@{tmp_path}/labels.npy"]
        found = cli("train", DIGITS, "--data", *data, *kept)
    assert "20 rows there, 21 here" in found.json["error"]["message"]
    assert "data there, none here" in cli("train", DIGITS, *kept).json["error"]["message"]


def test_one_that_does_not_know_its_data_is_gone_on_from(cli: Cli, tmp_path: Path) -> None:
    cli("train", DIGITS, "--data", *ROWS, *OF_ROWS, "--steps", 1, "--checkpoint", tmp_path)
    archive = tmp_path / "step-1.npz"
    with zipfile.ZipFile(archive) as held:
        members = {name: held.read(name) for name in held.namelist()}
    about = json.loads(members["gradstep.json"])
    assert (about["data"]["epoch"], about["data"]["number"]) == (0, 1)
    members["gradstep.json"] = json.dumps({**about, "data": None}).encode()
    with zipfile.ZipFile(archive, "w") as held:
        for name, data in members.items():
            held.writestr(name, data)
    words = ("--batch", 5, "--steps", 2, "--checkpoint", tmp_path, "--resume")
    assert cli("train", DIGITS, "--data", *ROWS, *OF_ROWS, *words).status == 0


def test_the_newest_stay_and_the_best(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "made/here"
    words = ("--checkpoint", folder, "--checkpoint-every", 4, "--keep", 2)
    done = cli("train", TUTORIAL, "--steps", 14, *words, "--json").json
    assert done["checkpoint"] == str(folder / "step-14.npz")
    assert sorted(path.name for path in folder.iterdir()) == [
        "best.npz", "step-12.npz", "step-14.npz",
    ]  # fmt: skip
    with np.load(folder / "best.npz") as best:
        assert json.loads(best["gradstep.json"])["step"] == 14
        assert best["c/Adam_1"].shape == (2,)
    again = cli("train", TUTORIAL, "--steps", 14, *words, "--resume", "--json").json
    assert (again["resumed"], again["steps"], again["shown"]) == (14, 14, [])


def test_the_best_is_not_the_newest_where_the_loss_grows(cli: Cli, tmp_path: Path) -> None:
    words = ("--checkpoint", tmp_path / "a", "--checkpoint-every", 1, "--feed")
    cli("train", TUTORIAL, "--steps", 3, *words, "data=[1,2]")
    cli("train", TUTORIAL, "--steps", 5, "--resume", *words, "data=[9,-9]")
    with np.load(tmp_path / "a/best.npz") as best:
        assert json.loads(best["gradstep.json"])["step"] == 3


def test_without_a_checkpoint_resume_starts(cli: Cli, tmp_path: Path) -> None:
    found = cli("train", TUTORIAL, "--steps", 1, "--checkpoint", tmp_path / "no", "--resume")
    assert found.status == 0
    assert "went on" not in found.out
    assert (tmp_path / "no/step-1.npz").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume",), "--resume is about --checkpoint"),
        (("--keep", 4), "--keep is about --checkpoint"),
        (("--checkpoint-every", 4), "--checkpoint-every is about --checkpoint"),
    ],
)
def test_alone_they_are_refused(cli: Cli, words: tuple[object, ...], said: str) -> None:
    found = cli("train", TUTORIAL, *words)
    assert found.status == 2
    assert said in found.err


def test_what_a_queue_holds_is_said_before_anything_runs(cli: Cli, tmp_path: Path) -> None:
    found = cli("train", QUEUES, "--steps", 1, "--checkpoint", tmp_path / "no")
    assert found.status == 1
    assert "queue 'train/queue' holds cannot be kept" in found.err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("name", ["", "/model.ckpt"])
def test_a_folder_that_cannot_be_made_is_said_before_anything_runs(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("")
    found = cli("train", TUTORIAL, "--steps", 2, "--checkpoint", f"{tmp_path}/file/kept{name}")
    assert found.status == 1
    assert "cannot make the folder" in found.err
    assert "step" not in found.out


def test_another_documents_checkpoint_changes_nothing(
    cli: Cli, noisy: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    cli("train", noisy, "--steps", 1, "--checkpoint", folder)
    before = (folder / "step-1.npz").read_bytes()
    found = cli("train", TUTORIAL, "--steps", 2, "--checkpoint", folder, "--resume")
    assert found.status == 1
    assert "the checkpoint is of another document: 'c" in found.err
    assert [path.name for path in folder.glob("step-*")] == ["step-1.npz"]
    assert (folder / "step-1.npz").read_bytes() == before


@pytest.mark.parametrize("name", ["step-{}.npz", "model.ckpt-{}"])
def test_beside_a_damaged_one_the_next_older_is_named(cli: Cli, tmp_path: Path, name: str) -> None:
    """The next that can be read."""
    where = tmp_path / "model.ckpt" if "ckpt" in name else tmp_path
    kept = ("--checkpoint", where, "--resume", "--checkpoint-every", 1)
    cli("train", TUTORIAL, "--steps", 4, *kept)
    for step in (3, 4):
        path = tmp_path / (name.format(step) + ("" if name.endswith("npz") else ".index"))
        path.write_bytes(path.read_bytes()[:40])
    found = cli("train", TUTORIAL, "--steps", 6, *kept)
    assert found.status == 1
    files = [name.format(step) + ("" if name.endswith("npz") else ".*") for step in (4, 3)]
    assert f"take {', '.join(files)} out of the folder" in found.err
    assert f"to go on from {name.format(2)}\n" in found.err


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"nothing of the kind"])
def test_a_damaged_one_is_named(cli: Cli, tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "step-3.npz").write_bytes(damage)
    found = cli("train", TUTORIAL, "--steps", 4, "--checkpoint", tmp_path, "--resume")
    assert found.status == 1
    assert "step-3.npz" in found.err
    assert "Traceback" not in found.err


def test_a_step_that_fails_leaves_the_last_checkpoint(cli: Cli, tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w", shape=())
    g.one("Square", g.one("Square", w), name="loss")
    path = tmp_path / "diverges.gradstep"
    request = GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),))
    rate = {"learning_rate": 0.5}
    start = {"w": Constant(np.float32(2))}
    gradstep_file.save(
        path, Document(g.build(), request=request, initial=start).with_(
            optimizers=(Optimizer("GradientDescent", rate),)
        )
    )  # fmt: skip
    words = ("--steps", 50, "--checkpoint", tmp_path / "kept", "--checkpoint-every", 1, "--json")
    found = cli("train", path, *words).json
    assert found["error"]["type"] == "NanLossDuringTrainingError"
    assert found["checkpoint"] == str(tmp_path / f"kept/step-{found['steps']}.npz")
