"""Training on batches: --data, --batch, --epochs, --shuffle, --validate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.data_source import split_rows
from gradstep.core.data.row_order import row_order
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

DIGITS = Path(__file__).parents[3] / "assets" / "examples" / "softmax_digits.gradstep"
NORM = DIGITS.with_name("batch_norm_updates.gradstep")
DATA = ("--data", "images=@digits:images | scale(1/16)", "labels=@digits:labels | one_hot(10)")


def softmax_regression(
    images: np.ndarray, labels: np.ndarray, batches: list[np.ndarray]
) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Losses of each batch, and the weights and bias afterwards: written out, at rate 0.5."""
    weights, bias, losses = np.zeros((64, 10)), np.zeros(10), []
    for rows in batches:
        x, wanted = images[rows].reshape(-1, 64) / 16, np.eye(10)[labels[rows]]
        logits = x @ weights + bias
        logits -= logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        losses.append(-(wanted * log_p).sum(axis=1).mean())
        wrong = (np.exp(log_p) - wanted) / len(rows)
        weights, bias = weights - 0.5 * x.T @ wrong, bias - 0.5 * wrong.sum(axis=0)
    return losses, weights, bias


def test_it_learns_as_a_loop_by_hand_does_on_the_same_batches(cli: Cli) -> None:
    result = cli(
        "train", DIGITS, *DATA, "--batch", 100, "--epochs", 2, "--shuffle", 7,
        "--validate", 0.25, "--limit", 700, "--every", 1, "--json",
    )  # fmt: skip
    assert result.status == 0, result.err
    parts = SETS["digits"].parts
    train, held, _ = split_rows(700, 0.25, 7)
    orders = [train[row_order(len(train), 7, epoch)] for epoch in range(2)]
    batches = [order[at : at + 100] for order in orders for at in range(0, len(train), 100)]
    losses, *_ = softmax_regression(parts["images"], parts["labels"], [*batches, held])
    shown = [step["values"]["loss"]["data"] for step in result.json["shown"]]
    assert shown == pytest.approx(losses[:-1], rel=1e-5)
    assert [(v["epoch"], v["step"]) for v in result.json["validation"]] == [(1, 6), (2, 12)]
    assert result.json["validation"][1]["losses"]["loss"] == pytest.approx(losses[-1], rel=1e-5)


def test_tables_and_the_words_for_people(cli: Cli, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [[*rng.integers(0, 17, 64), label] for label in rng.integers(0, 10, 20)]
    header = ",".join([*(f"p{i}" for i in range(64)), "digit"])
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "d.csv").write_text(text)
    place = f"@{tmp_path / 'd.csv'}"
    data = (f"images={place}:p0..p63 | standardise", f"labels={place}:digit | one_hot(10)")
    result = cli("train", DIGITS, "--data", *data, "--batch", 8, "--epochs", 2, "--validate", 0.2)
    assert result.status == 0, result.err
    assert "epoch 2  validation loss " in result.out
    assert "step 4  loss" in result.out
    assert cli("train", DIGITS, "--data", *data, "--steps", 3).status == 0


def test_a_folder_of_images(cli: Cli, tmp_path: Path) -> None:
    """The digits as PNG files learn as the built-in ones do."""
    for number, image in enumerate(SETS["digits"].parts["images"][:40]):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
    np.save(tmp_path / "labels.npy", SETS["digits"].parts["labels"][:40])
    folder = f"images=@{tmp_path}/*.png | scale(1/16)"
    own = f"labels=@{tmp_path}/labels.npy | one_hot(10)"
    shown = []
    for images, labels in ((DATA[1], DATA[2]), (folder, own)):
        result = cli(
            "train", DIGITS, "--data", images, labels, "--batch", 20, "--epochs", 2,
            "--limit", 40, "--every", 1, "--json",
        )  # fmt: skip
        assert result.status == 0, result.out
        shown.append(result.json["shown"])
    assert shown[0] == shown[1]


def test_a_validation_leaves_no_trace_in_what_is_drawn(cli: Cli, tmp_path: Path) -> None:
    """Random operations draw in training what they draw without it."""
    g = GraphBuilder()
    x = g.placeholder("x", "float32", (None, 2))
    w = g.variable("w", "float32", (2,))
    shape = g.constant([2], "int32", name="shape")
    noise = g.one("RandomUniform", shape, name="noise", dtype="float32", seed=3)
    product = g.one("Mul", x, g.one("Mul", w, noise, name="noisy"), name="product")
    g.one("Mean", product, g.constant([0, 1], "int32", name="axes"), name="loss")
    document = Document(
        graph=g.build(),
        initial={"w": Constant(np.ones(2, np.float32))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}, of=(TensorRef("loss"),)),),
    )
    path = tmp_path / "noisy.gradstep"
    gradstep_file.save(path, document)
    np.save(tmp_path / "x.npy", np.ones((8, 2)))
    told = ["train", path, "--data", f"x=@{tmp_path / 'x.npy'}", "--batch", 2, "--steps", 9]
    shown: list[Any] = [
        cli(*told, "--every", 1, "--json", *more).json["shown"]
        for more in ([], ["--validate", "0.25"])
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--batch", "3"], 2, "--batch is about --data"),
        (["--shuffle", "0"], 2, "--shuffle is about --data"),
        ([*DATA, "--steps", "3", "--epochs", "3"], 2, "both say when to end"),
        ([*DATA, "--feed", "images=zeros([3, 64])"], 2, "'images' is given by --feed and by"),
        ([*DATA, "--validate", "2"], 2, "'2' is no share"),
        ([*DATA, "--batch", "99999", "--drop-last"], 1, "and no batch of 99999"),
        ([*DATA, "--limit", "1", "--validate", "0.5"], 2, "leaves none"),
        (["--data", "images"], 2, "is not NAME=ROWS"),
        (["--data", "imags=@digits:images"], 1, "imags"),
        (["--data", "images=@digits"], 2, "write @digits:images"),
        (["--data", "images=3"], 2, "3 is one number for images"),
        (["--data", "images=zeros([0, 64])"], 2, "is no rows for images"),
        (["--data", "images=@digits:images", "images=@digits:images"], 2, "given twice by --data"),
        (["--data", "images=@digits:images|scal(2)"], 2, "did you mean scale?"),
        (["--data", "images=@digits:labels"], 1, "rows 0 to 31 of images: shape [32] does not fit"),
        (["--data", "images=@digits:images", "labels=@xor:y"], 1, "images 1797, labels 4"),
    ],
)
def test_mistakes(cli: Cli, arguments: list[str], status: int, said: str) -> None:
    result = cli("train", DIGITS, *arguments)
    assert result.status == status, result.err
    assert said in result.err
    assert len(result.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a batch has 32\n  take batches of 8 (--batch 8), or give it the shape [?, 3]"),
        (["--batch", 8, "--limit", 60], "batch of an epoch has 4\n  leave that out (--drop-last)"),
        (
            ["--batch", 8, "--limit", 5],
            "there are 5\n  give it 8 rows, or give it the shape [?, 3]",
        ),
        (["--limit", 5], "there are 5\n  give it 8 rows"),
        (
            ["--batch", 8, "--drop-last", "--validate", 0.2],
            "the last batch of those held back has 4\n  give it the shape [?, 3]",
        ),
        (["--batch", 8], ""),
        (["--batch", 8, "--limit", 60, "--drop-last"], ""),
    ],
)
def test_a_placeholder_of_a_fixed_number_of_rows_says_which_batch_fits(
    cli: Cli, words: list[object], said: str
) -> None:
    found = cli("train", NORM, "--data", "x=normal([64,3])", "--steps", 1, *words)
    assert found.err.strip().startswith(
        "gradstep: x takes 8 rows in each run, and " if said else ""
    )
    assert said in found.err
    assert (found.status == 0) == (not said)


@pytest.mark.parametrize(
    ("words", "epochs"), [([], [1, 10, 20, 30, 35]), (["--every", 17], [1, 17, 34, 35])]
)
def test_validations_are_as_few_as_the_steps_that_are_shown(
    cli: Cli, words: list[object], epochs: list[int]
) -> None:
    """An epoch of one step: of 35, as many come out as of the steps; the last one always."""
    told = ["train", DIGITS, *DATA, "--limit", 4, "--validate", 0.25, "--steps", 35]
    lines = cli(*told, "--every", 10, *words).out.splitlines()
    assert [int(one.split()[1]) for one in lines if one.startswith("epoch ")] == epochs
    assert len([one for one in lines if one.startswith("step ")]) == len(epochs)
    validated = cli(*told, "--every", 10, *words, "--json").json["validation"]
    assert [each["epoch"] for each in validated] == epochs


def test_rows_to_test_on_are_looked_at_once_at_the_end(cli: Cli, tmp_path: Path) -> None:
    """Their loss is that of the same variables over these rows, computed by hand."""
    out = tmp_path / "trained.gradstep"
    words: list[object] = [
        DIGITS,
        *DATA,
        "--steps",
        9,
        "--batch",
        40,
        "--shuffle",
        7,
        "--validate",
        0.25,
    ]
    words += ["--limit", 700]
    plain = cli("train", *words, "--json").json
    assert plain["test"] == {}
    found = cli("train", *words, "--test", 0.1, "--out", out, "--json").json
    *_, rows = split_rows(700, 0.25, 7, 0.1)
    assert len(rows) == 70
    weights = {name: value.array for name, value in read(out).initial.items()}
    x = SETS["digits"].parts["images"].reshape(-1, 64)[rows] / 16
    logits = x @ weights["softmax/weights"] + weights["softmax/bias"]
    of = logits[np.arange(70), SETS["digits"].parts["labels"][rows]]
    expected = float(np.mean(np.log(np.exp(logits).sum(axis=1)) - of))
    assert found["test"]["loss"] == pytest.approx(expected, rel=1e-4)
    said = cli("train", *words, "--test", 0.1).out
    assert f"test loss {found['test']['loss']:.6g}" in said.splitlines()
    refused = cli("train", *words, "--test", 0.9)
    assert refused.status == 1
    assert "1.15 of its rows are held back" in refused.err


def test_data_that_is_packed_is_trained_on_without_its_files(cli: Cli, tmp_path: Path) -> None:
    """`convert --pack-data` gives a file that moves alone, and trains to the same bits."""
    parts = SETS["digits"].parts
    np.savez(tmp_path / "d.npz", images=parts["images"][:60], labels=parts["labels"][:60])
    place = f"@{tmp_path.as_posix()}/d.npz"
    columns = {
        "images:0": f"{place}:images | scale(1/16)",
        "labels:0": f"{place}:labels | one_hot(10)",
    }
    data = Dataset(columns, batch=16, shuffle=7, validate=0.2, epochs=2)
    gradstep_file.save(tmp_path / "near.gradstep", read(DIGITS).with_(data=data))
    out = tmp_path / "else" / "alone.gradstep"
    out.parent.mkdir()
    found = cli("convert", tmp_path / "near.gradstep", out, "--pack-data")
    assert found.status == 0, found.err
    before = cli("train", tmp_path / "near.gradstep", "--every", 1, "--json").json
    (tmp_path / "d.npz").unlink()
    after = cli("train", out, "--every", 1, "--json").json
    assert (after["shown"], after["validation"]) == (before["shown"], before["validation"])
    assert len(after["shown"]) == 6
    again = cli("convert", out, tmp_path / "again.gradstep")
    assert again.status == 0, again.err
    assert (tmp_path / "again.gradstep").read_bytes() == out.read_bytes()
    doubled = "images=@packed:d.npz:images | scale(1/8)"
    other = cli("train", out, "--data", doubled, "labels=@packed:d.npz:labels | one_hot(10)")
    assert other.status == 0, other.err
    gone = cli("train", tmp_path / "near.gradstep")
    assert gone.status == 1
    assert "d.npz: there is no such file" in gone.err
    assert "rows that are packed into the document need no file" in gone.err


@pytest.mark.parametrize(
    ("source", "out", "said"),
    [
        (DIGITS, "a.gradstep", "has no data"),
        (DIGITS.with_name("digits_in_batches.gradstep"), "a.pb", "a.pb holds no data"),
    ],
)
def test_what_has_no_data_is_not_packed(
    cli: Cli, tmp_path: Path, source: Path, out: str, said: str
) -> None:
    found = cli("convert", source, tmp_path / out, "--pack-data")
    assert found.status == 2
    assert said in found.err
    assert not (tmp_path / out).exists()


def test_metrics_that_are_fetched_are_measured_over_the_rows_held_back(
    cli: Cli, tmp_path: Path
) -> None:
    """As means over the rows; what is no number of the rows is not."""
    result = cli(
        "train", DIGITS, *DATA, "--batch", 100, "--epochs", 1, "--validate", 0.25, "--test", 0.1,
        "--limit", 700, "--json", "--fetch", "accuracy", "axes", "cross_entropy",
        "--out", tmp_path / "t.gradstep",
    )  # fmt: skip
    assert result.status == 0, result.err
    parts, trained = SETS["digits"].parts, read(tmp_path / "t.gradstep").initial
    weights, bias = (trained[f"softmax/{name}"].array for name in ("weights", "bias"))
    taken = (parts["images"].reshape(-1, 64) / 16 @ weights + bias).argmax(1)
    _, held, tested = split_rows(700, 0.25, 0, 0.1)
    (last,) = result.json["validation"]
    for losses, rows in ((last["losses"], held), (result.json["test"], tested)):
        assert [*losses] == ["loss", "accuracy"]
        right = (taken == parts["labels"])[rows].mean()
        assert losses["accuracy"] == pytest.approx(right)
