"""gradstep train: the steps, how it ends, what it leaves, and the event files it writes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli import train
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.checksum import crc32c
from gradstep.core.io.event_files import EventFile
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.formats.protobuf import length_fields
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support.summary_messages import decode
from tests.traces.trace_archive import traces

GRAPHS = Path(__file__).parents[2] / "data" / "oracle" / "graphs"
TUTORIAL = FOLDER / "tutorial.gradstep"
DIGITS = FOLDER / "softmax_digits.gradstep"
SUMMARY, GRAPH, VERSION = 5, 4, 3  # fields of an Event
CHECKED = {  # RFC 3720, B.4, and the CRC catalogue's check value
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    b"123456789": 0xE3069283,
}


def documents(folder: Path, **changes: Any) -> Path:
    """A document that diverges: w ← w − 0.5·4w³ from 2."""
    g = GraphBuilder()
    w = g.variable("w", shape=())
    g.one("Square", g.one("Square", w), name="loss")
    document = Document(
        graph=g.build(),
        request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),)),
        initial={"w": Constant(np.float32(2))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.5}),),
    ).with_(**changes)
    gradstep_file.save(folder / "diverges.gradstep", document)
    return folder / "diverges.gradstep"


def test_a_step_is_a_fast_run(cli: Cli) -> None:
    steps = cli("train", TUTORIAL, "--steps", 3, "--every", 1, "--fetch", "c", "--json").json
    runs = cli("run", TUTORIAL, "--runs", 3, "--fast", "--json").json["runs"]
    losses = [shown["values"]["loss"] for shown in steps["shown"]]
    assert losses == [run["fetches"]["loss"] for run in runs]
    assert steps["shown"][0]["values"]["c"] != steps["shown"][2]["values"]["c"]
    text = cli("train", TUTORIAL, "--steps", 30).out.splitlines()
    assert [line.split()[1] for line in text] == [str(n) for n in (1, *range(3, 31, 3))]
    assert text[0].startswith("step  1  loss ")
    assert float(text[0].split()[-1]) == pytest.approx(0.66369414)


def test_a_graphdef_trains_by_its_own_operations(cli: Cli, tmp_path: Path) -> None:
    """Its slots are variables of its graph, so that it goes on as if it had not stopped."""
    path, out = GRAPHS / "simple_network_adam.pb", tmp_path / "out.gradstep"
    feeds = ("--feed", "data=[1,2]", "labels:0=[0,1]", "--fetch", "xent/value", "--every", 1)
    whole = cli("train", path, *feeds, "--steps", 5).out.splitlines()
    assert whole[0].startswith("step 1  xent/value ")
    assert float(whole[0].split()[-1]) == pytest.approx(0.66369414)
    assert cli("train", path, *feeds, "--steps", 3, "--out", out).status == 0
    rest = cli("train", out, *feeds, "--steps", 2).out.splitlines()
    assert [line.split()[-1] for line in rest] == [line.split()[-1] for line in whole[3:]]
    assert len({line.split()[-1] for line in whole}) == 5


def test_training_goes_on_from_what_was_written(cli: Cli, tmp_path: Path) -> None:
    file, out = tmp_path / "a.gradstep", tmp_path / "b.gradstep"
    gradstep_file.save(file, gradstep_file.load(TUTORIAL))
    whole = cli("train", file, "--steps", 5, "--every", 1, "--json").json["shown"]
    feed = ("--feed", "data=[9,9]")
    assert cli("train", file, "--steps", 1, *feed, "--out", out).status == 0
    assert (
        gradstep_file.load(out).feeds.keys() == gradstep_file.load(file).feeds.keys()
    )  # as they were
    assert gradstep_file.load(out).feeds["data:0"] == gradstep_file.load(file).feeds["data:0"]
    assert cli("train", file, "--steps", 3, "--out", file).status == 2
    assert cli("train", file, "--steps", 3, "--out", file, "--overwrite").status == 0
    more = cli("train", file, "--steps", 2, "--every", 1, "--json").json["shown"]
    assert more[0]["values"] == whole[3]["values"]


def test_nan_ends_it_and_can_be_looked_at(cli: Cli, tmp_path: Path) -> None:
    file, out = documents(tmp_path), tmp_path / "before.gradstep"
    result = cli("train", file, "--json")
    error, done = result.json["error"], result.json["steps"]
    assert result.status == 1
    assert error["message"] == f"step {done + 1}: Infinite loss during training. 'loss' is inf"
    assert error["node"] == "loss"
    command, there = error["hint"].removeprefix("`gradstep ").split("`, then ")
    script = f"{there.split(',')[0]}; run_to loss; step; print loss"
    assert cli(*shlex.split(command), "--script", script).out.endswith("inf\n")

    told = cli("train", file, "--out", out)
    assert f"ended after step {done} of 100" in told.out
    assert f"debug {out}`" in told.err
    assert cli("train", file, "--steps", done, "--out", tmp_path / "so_far.gradstep").status == 0
    assert out.read_bytes() == (tmp_path / "so_far.gradstep").read_bytes()
    assert cli("run", out, "--json").json["runs"][0]["fetches"]["loss"]["data"] == "Infinity"


def test_an_operation_that_fails_ends_it(cli: Cli, tmp_path: Path) -> None:
    g = GraphBuilder()
    counter = g.variable("counter", shape=(), dtype="int32")
    row = g.one("GatherV2", [10.0, 20.0], counter, 0, name="row")
    with g.control_dependencies([row.ref.op]):
        g.one("AssignAdd", counter, 1, name="next")
    file = tmp_path / "fails.gradstep"
    initial = {"counter": Constant(np.int32(0))}
    gradstep_file.save(file, Document(graph=g.build(), initial=initial, targets=("next",)))
    result = cli("train", file, "--fetch", "row")
    assert result.status == 1
    assert "step 3: indices = 2 is not in [0, 2) (at row)" in result.err
    assert "run_to 2:0" in result.err
    assert result.out.splitlines()[-2].split() == ["step", "2", "row", "20.0"]


def test_ctrl_c_ends_it_after_the_step(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = train.Training.step

    def pressed(self: train.Training) -> Any:
        if self.done == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self)

    monkeypatch.setattr(train.Training, "step", pressed)
    out = tmp_path / "out.gradstep"
    result = cli("train", TUTORIAL, "--steps", 50, "--out", out)
    assert result.status == 130
    *_, last, ended, _written = result.out.splitlines()
    assert last.startswith("step  7")
    assert ended == "ended after step 7 of 50"
    assert cli("train", TUTORIAL, "--steps", 7, "--out", tmp_path / "seven.gradstep").status == 0
    assert out.read_bytes() == (tmp_path / "seven.gradstep").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["{gather}"], 2, "nothing to train"),
        (["{queue_deadlock}"], 1, "run FILE --threads"),
        (["{tutorial}", "--steps", "0"], 2, "positive"),
        (["{tutorial}", "--out", "x.pb"], 2, "NAME.gradstep"),
        (["{tutorial}", "--out", "{tmp}/none/x.gradstep"], 1, "make the folder"),
        (["{tutorial}", "--out", "{tmp}/file/x.gradstep"], 1, "a part of the path is not a folder"),
        (["{tutorial}", "--out", "{tmp}/folder.gradstep"], 1, "it is a folder"),
        (["{tutorial}", "--overwrite"], 2, "--out"),
        (["{tutorial}", "--logdir", "{tmp}/file"], 1, "cannot write event files"),
        (["{tutorial}", "--fetch", "lss"], 1, "did you mean loss"),
        (["{off}"], 2, "nothing to train"),
    ],
)
def test_what_cannot_begin(
    cli: Cli, tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.gradstep").mkdir()
    off = documents(tmp_path, optimizers=(Optimizer("Adam", {}, enabled=False),))
    names = {n: FOLDER / f"{n}.gradstep" for n in ("gather", "tutorial", "queue_deadlock")}
    result = cli("train", *(a.format(**names, off=off, tmp=tmp_path) for a in arguments))
    assert result.status == status
    assert "step" not in result.out.replace("after step 0", "")
    assert said in result.err


def test_the_documents_summaries_are_written(cli: Cli, tmp_path: Path) -> None:
    file = FOLDER / "summaries.gradstep"
    assert cli("train", file, "--steps", 2, "--logdir", tmp_path / "logs").status == 0
    (path,) = (tmp_path / "logs").iterdir()
    first, graph, *steps = events(path)
    assert first == (0, VERSION, b"brain.Event:2")
    assert graph[1] == GRAPH
    (tmp_path / "graph.pb").write_bytes(graph[2])
    assert read(tmp_path / "graph.pb").graph["merged"].type == "MergeSummary"
    assert [(number, kind) for number, kind, _ in steps] == [(1, SUMMARY), (2, SUMMARY)]
    tags = [value.tag for value in decode(steps[1][2])]
    assert tags == [f"summaries/{n}" for n in ("mean_1", "stddev_1", "max_1", "min_1", "histogram")]
    assert decode(steps[0][2])[1].simple_value == np.float32(1.7809758)


def test_losses_are_written_where_there_are_no_summaries(cli: Cli, tmp_path: Path) -> None:
    arguments = ("--steps", 3, "--every", 1, "--fetch", "c", "--logdir", tmp_path, "--json")
    told = cli("train", TUTORIAL, *arguments).json
    _, _, *steps = events(Path(told["events"]))
    for (number, _, text), shown in zip(steps, told["shown"], strict=True):
        loss, c = decode(text)
        assert (number, loss.tag, c.tag) == (shown["step"], "loss", "c")
        assert np.float32(loss.simple_value) == np.float32(shown["values"]["loss"]["data"])
        assert c.histo.num == 2


def test_two_event_files_of_one_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradstep.core.io.event_files.time.time", lambda: 1234567890.5)
    for _ in range(2):
        with EventFile(tmp_path) as file:
            file.add_summary(2**40, b"")
    assert len([*tmp_path.glob("events.out.tfevents.1234567890.*")]) == 2
    for path in tmp_path.iterdir():
        assert events(path)[1] == (2**40, SUMMARY, b"")
        assert struct.pack("<d", 1234567890.5) in path.read_bytes()


def events(path: Path) -> list[tuple[int, int, bytes]]:
    """Step, field and content of each event of a file whose checksums are all right."""
    return [_event(data) for data in _records(path.read_bytes())]


def _records(data: bytes) -> Iterator[bytes]:
    while data:
        (size,) = struct.unpack("<Q", data[:8])
        content, rest = data[12 : 12 + size], data[12 + size :]
        _check(data[:8], data[8:12])
        _check(content, rest[:4])
        yield content
        data = rest[4:]


def _check(data: bytes, stored: bytes) -> None:
    (masked,) = struct.unpack("<I", stored)
    rotated = (masked - 0xA282EAD8) % 2**32
    assert (rotated << 15 | rotated >> 17) % 2**32 == _bit_by_bit(data)


def _bit_by_bit(data: bytes) -> int:
    """CRC-32C as polynomial division, without a table."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def _event(data: bytes) -> tuple[int, int, bytes]:
    key, step, at = data[9], 0, 10
    assert (data[0], key) == (1 << 3 | 1, 2 << 3)  # wall_time is a double, step a varint
    for shift in range(0, 70, 7):
        step, more, at = step | (data[at] & 0x7F) << shift, data[at] & 0x80, at + 1
        if not more:
            break
    ((field, content),) = [
        (f, c) for f in (VERSION, GRAPH, SUMMARY) for c in length_fields(data, f)
    ]
    return step, field, content


def test_the_checksum_is_crc_32c() -> None:
    for data, known in CHECKED.items():
        assert crc32c(data) == _bit_by_bit(data) == known


def test_each_step_is_a_line_where_that_is_asked_for(cli: Cli) -> None:
    data = ("--data", "images=@digits:images | scale(1/16)", "labels=@digits:labels | one_hot(10)")
    words = ("train", DIGITS, *data, "--limit", 64, "--validate", 0.25, "--epochs", 2, "--every", 1)
    *lines, last = map(json.loads, cli(*words, "--json", "--lines").out.splitlines())
    assert [line for line in lines if "values" in line] == last["shown"]
    assert [line for line in lines if "losses" in line] == last["validation"]
    assert [line["step"] for line in lines] == [1, 2, 2, 3, 4, 4], "as they are made"
    assert "--lines is about --json" in cli("train", TUTORIAL, "--lines").err


# -- until ---------------------------------------------------------------------------------------


def test_it_ends_with_the_step_in_which_a_condition_holds(cli: Cli) -> None:
    words = ("train", TUTORIAL, "--steps", 50, "--every", 1)
    shown = cli(*words, "--json").json["shown"]
    losses = [float(one["values"]["loss"]["data"]) for one in shown]
    limit = losses[11]
    found = cli(*words, "--until", f"value <= {limit!r}")
    assert found.status == 0
    assert found.out.splitlines()[-1] == f"ended after step 12 of 50: value <= {limit!r} holds"
    whole = cli(*words, "--until", f'x["loss"] <= {limit!r}', "--json").json
    assert (whole["steps"], whole["until"]) == (12, True)
    assert whole["shown"] == shown[:12]
    assert cli(*words, "--until", f"loss <= {limit!r}", "--json").json["shown"] == shown[:12]
    never = cli(*words, "--until", "value < 0", "--json").json
    assert (never["steps"], never["until"]) == (50, False)


def test_a_condition_reads_gradients_and_what_is_not_shown(cli: Cli) -> None:
    words = ("train", TUTORIAL, "--steps", 100, "--json", "--until")
    found = cli(*words, 'norm(grad["c"]) < 1.1 and x["a"][0] > 0.05').json
    assert 20 < found["steps"] < 50
    assert {*found["shown"][0]["values"]} == {"loss"}


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("value <", "value <"),
        ('x["lost"] < 1', "runs do not compute 'lost"),
        ('grad["labels"] > 1', "runs compute no gradient of 'labels"),
        ("lost < 1", "'lost' is not known"),
        ("run > 10", "is of runs that are recorded"),
        ('x["loss"] > previous(x["loss"])', "is of runs that are recorded"),
    ],
)
def test_a_condition_that_cannot_be_read_trains_nothing(cli: Cli, until: str, said: str) -> None:
    found = cli("train", TUTORIAL, "--until", until)
    assert found.status == 1
    assert said in found.err
    assert found.out == ""


def test_a_schedule_clipping_and_weight_decay_may_be_said_for_one_training(cli: Cli) -> None:
    bent = ["--schedule", "piecewise_constant([0], [0.5, 0])", "--clip", "global_norm(0.1)"]
    steps = cli("train", DIGITS, "--steps", 3, "--every", 1, "--json", *bent).json["shown"]
    losses = [step["values"]["loss"]["data"] for step in steps]
    assert losses[0] > losses[1], "the first step has a rate"
    assert losses[1] == losses[2], "and those behind it none"
    bad = cli("train", DIGITS, "--clip", "norm(-1)")
    assert bad.status
    assert "limit is above 0" in bad.err
    none = cli("train", FOLDER / "name_scopes.gradstep", "--weight-decay", "l2(1)")
    assert none.status
    assert "no optimizer that --schedule" in none.err


def test_patience_ends_it_where_the_loss_becomes_no_less(cli: Cli, tmp_path: Path) -> None:
    still = ["--schedule", "piecewise_constant([4], [0.5, 0])", "--checkpoint", tmp_path]
    done = cli("train", DIGITS, "--steps", 90, "--patience", 7, *still)
    assert done.status == 0
    # The first five steps have a rate; the loss of the sixth is the first of those that stay.
    assert "ended after step 13 of 90: no less loss in 7 steps (least: " in done.out
    assert ", step 6)" in done.out
    assert (tmp_path / "step-13.npz").exists()


def test_a_captured_model_is_trained_by_the_optimizer_that_is_named(
    cli: Cli, tmp_path: Path
) -> None:
    """What --out writes has it, too, and trains on without it being named."""
    trace = traces() / "cell_loop.gstrace"
    nothing = cli("train", trace, "--steps", 2)
    assert nothing.status == 2
    assert "--optimizer" in nothing.err
    out, named = tmp_path / "out.gradstep", ("--optimizer", "GradientDescent(0.001)")
    flags = ("--steps", 3, "--every", 1, "--json")
    done = cli("train", trace, *named, "--out", out, *flags)
    assert not done.status
    assert not done.err
    assert len(done.json["shown"]) == 3
    (kept,) = read(out).optimizers
    assert (kept.type, kept.hyper) == ("GradientDescent", {"learning_rate": 0.001})
    whole = cli("train", trace, *named, "--steps", 4, "--every", 1, "--json").json["shown"]
    rest = cli("train", out, "--steps", 1, "--every", 1, "--json").json["shown"]
    assert rest[0]["values"] == whole[3]["values"] != whole[0]["values"]


def test_the_named_optimizer_takes_the_place_of_the_documents_own(cli: Cli, tmp_path: Path) -> None:
    """w is 2, and d loss / d w = 4w³ is 32 there; the document's own rate is 0.5."""
    file = documents(tmp_path)
    named = ("--optimizer", "GradientDescent(0.01)")
    out = tmp_path / "out.gradstep"
    done = cli("train", file, *named, "--steps", 1, "--out", out)
    assert done.err.count("takes the place of the document's own: train (GradientDescent)") == 1
    assert float(read(out).initial["w"].array) == pytest.approx(2 - 0.32)
    runs = cli("run", file, *named, "--runs", 2, "--json").json["runs"]
    assert runs[1]["fetches"]["loss"]["data"] == pytest.approx((2 - 0.32) ** 4)


def test_what_the_named_optimizer_minimizes(cli: Cli, tmp_path: Path) -> None:
    file = documents(tmp_path, request=GradientRequest(), optimizers=())
    named = ("--optimizer", "GradientDescent(0.01)", "--steps", 1)
    unsaid = cli("train", file, *named)
    assert unsaid.status == 2
    assert "does not say what is minimized" in unsaid.err
    assert cli("train", file, *named, "--of", "loss", "--json").json["steps"] == 1
    assert "no operation named 'lost'" in cli("train", file, *named, "--of", "lost").err
    assert "--of is about --optimizer" in cli("train", file, "--of", "loss").err
    assert cli("train", file, "--optimizer", "Adam(lr=1)").status == 2


def test_a_graph_that_updates_by_itself_gets_no_other_optimizer(cli: Cli, tmp_path: Path) -> None:
    document = read(GRAPHS / "simple_network_adam.pb")
    update = next(op.name for op in document.graph if op.type == "ApplyAdam")
    gradstep_file.save(tmp_path / "own.gradstep", document.with_(targets=(update,)))
    done = cli("train", tmp_path / "own.gradstep", "--optimizer", "Adam", "--of", "xent/value")
    assert done.status == 2
    assert f"by '{update}' in every run" in done.err
