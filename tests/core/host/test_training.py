"""Training in the engine: what is told on the way, a pause, a killed process, `gradstep train`."""

from __future__ import annotations

import os
import queue
import time
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.cli.runs.training_steps import Training, ask_for
from gradstep.core.debug.history import fast_runs
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.host import engine_service, training_answers
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.process.event_outlet import Outlet
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.loaded_document import Loaded, start
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
DIGITS = EXAMPLES / "softmax_digits.gradstep"
LOSS, NORM = 'x["loss:0"]', 'norm(grad["softmax/weights:0"])'
LOOKED = ["softmax/weights:0"]
SLOW = 30.0  # seconds that a loaded machine may take for anything


def numbers(events: list[m.Message]) -> tuple[list[int], np.ndarray]:
    """The runs that were told of, and a row for each curve."""
    told = [event for event in events if isinstance(event, m.TrainingProgress)]
    runs = [run for event in told for run in range(event.first, event.first + event.count)]
    rows = [np.frombuffer(event.numbers).reshape(-1, event.count) for event in told]
    return runs, np.concatenate(rows, axis=1)


def opened(service: EngineService, path: Path) -> m.Opened:
    reply, _ = service.handle(m.Open(), [path.read_bytes()])
    assert isinstance(reply, m.Opened)
    return reply


def value(service: EngineService, ref: str) -> np.ndarray:
    reply, buffers = service.handle(m.Read(refs=[ref], limit=10_000))
    assert isinstance(reply, m.Values)
    return unpack(reply.parts[0], buffers)


def test_the_steps_are_those_of_the_command_line(
    service: EngineService, events: list[m.Message]
) -> None:
    opened(service, DIGITS)
    reply, _ = service.handle(m.Train(steps=40, curves=[LOSS, NORM], losses=["loss"]))
    assert isinstance(reply, m.Trained)
    assert (reply.made, reply.ended, reply.stopped.reason, reply.stopped.run) == (40, "", "end", 39)
    runs, (losses, norms) = numbers(events)
    assert runs == [*range(40)]
    loaded = Loaded(read(str(DIGITS)), {})
    what = ask_for(loaded, ())
    session = start(loaded, what.program.graph, NumpyBackend(), what.program.initial, fast=True)
    training = Training(loaded, session, what)
    expected = [training.step()[0]["loss"] for _ in range(40)]
    assert losses.tolist() == [float(x) for x in expected if x is not None]
    np.testing.assert_array_equal(
        value(service, "softmax/weights:0"), session.store["softmax/weights"].ravel()
    )
    gradient = value(service, "gradients/softmax/product_grad/MatMul_1:0")
    assert norms[-1] == np.linalg.norm(gradient.astype(np.float64))


def test_what_is_looked_at_closely_is_told_with_the_runs_it_is_of(
    service: EngineService, events: list[m.Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_answers, "INTERVAL", 0.0)  # each run is sent by itself
    opened(service, DIGITS)
    ratio = 'ratio(update["softmax/weights"], x["softmax/weights"])'
    wish = m.Train(steps=30, curves=[LOSS], closer=[NORM, ratio], share=1.0)
    reply, _ = service.handle(wish)
    assert isinstance(reply, m.Trained)
    told = [event for event in events if isinstance(event, m.TrainingProgress)]
    looks = np.concatenate([np.frombuffer(event.looks, np.int64) for event in told])
    rows = np.concatenate([np.frombuffer(event.closer).reshape(-1, 2) for event in told])
    assert looks.tolist() == [*range(30)]
    assert (rows > 0).all()
    opened(service, DIGITS)
    events.clear()
    service.handle(m.Train(steps=30, curves=[NORM, ratio]))
    np.testing.assert_array_equal(rows.T, numbers(events)[1])


def test_progress_that_waits_is_put_together_and_none_is_lost() -> None:
    sent: list[m.TrainingProgress] = []
    outlet = Outlet(sent.append)
    for first in (0, 3, 6):
        rows = np.array([[first, first + 1, first + 2], [7, 8, 9]], float)
        look = {"looks": np.int64(first).tobytes(), "closer": np.array([first, 0.5]).tobytes()}
        outlet.offer(m.TrainingProgress(first=first, count=3, numbers=rows.tobytes(), **look))
    outlet.flush()
    runs, (first, second) = numbers([*sent])
    assert runs == first.tolist() == [*range(9)]
    assert second.tolist() == [7, 8, 9] * 3
    assert b"".join(event.looks for event in sent) == np.array([0, 3, 6]).tobytes()
    assert b"".join(e.closer for e in sent) == np.array([0, 0.5, 3, 0.5, 6, 0.5]).tobytes()


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (m.Train(steps=0), "0 steps cannot be made"),
        (m.Train(steps=2, until='x["no:0"] > 1'), "runs do not compute 'no'"),
    ],
)
def test_what_cannot_be_done_moves_nothing(
    service: EngineService, request_: m.Train, says: str
) -> None:
    opened(service, DIGITS)
    reply, _ = service.handle(request_)
    assert isinstance(reply, m.Failed)
    assert says in reply.error.message
    assert opened(service, DIGITS).stopped.run == 0


WRONG = {
    "x[": "cannot evaluate",
    'norm(grad["images:0"])': "no gradient of 'images'",
    'x["nothing:0"]': "runs do not compute 'nothing'",
    'x["softmax/bias:0"]': "is 10 numbers",
    'x["softmax/bias:0"] * 2': "is 10 numbers",
    'max(x["softmax/bias:0"] > x["softmax/weights:0"][0][0:3])': "cannot evaluate",
    'update["loss:0"]': "is no variable",
    "step > 3": "is of runs that are recorded",
}


def test_what_cannot_be_followed_is_told_of_before_and_keeps_nothing_else_from_training(
    service: EngineService, events: list[m.Message]
) -> None:
    opened(service, DIGITS)
    fine = [LOSS, NORM, "loss * 2", 'max(x["softmax/bias:0"])']
    checked, _ = service.handle(m.CheckCurves(texts=[*fine, *WRONG], losses=["loss"]))
    assert isinstance(checked, m.CurvesChecked)
    assert checked.wrong.keys() == WRONG.keys()
    for text, says in WRONG.items():
        assert says in checked.wrong[text].message
        assert checked.wrong[text].hint
    spread = ['x["nothing:0"]', 'x["softmax/bias:0"]']
    closer = [NORM, 'norm(x["nothing:0"])']
    wish = m.Train(
        steps=4,
        curves=["x[", LOSS, 'x["nothing:0"]'],
        closer=closer,
        spread=spread,
        losses=["loss"],
    )
    reply, _ = service.handle(wish)
    assert isinstance(reply, m.Trained)
    assert (reply.made, reply.wrong.keys()) == (4, {"x[", 'x["nothing:0"]', closer[1]})
    _, (no, losses, neither) = numbers(events)
    assert np.isnan(no).all()
    assert np.isnan(neither).all()
    assert np.isfinite(losses).all()
    (event,) = (event for event in events if isinstance(event, m.TrainingProgress))
    looks = np.frombuffer(event.closer).reshape(4, 2)
    assert np.isfinite(looks[:, 0]).all()
    assert np.isnan(looks[:, 1]).all()
    rows = np.frombuffer(event.histograms, np.float32).reshape(4, 2, -1)
    assert np.isnan(rows[:, 0]).all()
    assert np.isfinite(rows[:, 1]).all()


def test_a_document_with_threads_is_not_trained(service: EngineService) -> None:
    opened(service, EXAMPLES / "queue_train_validation.gradstep")
    reply, _ = service.handle(m.Train(steps=3))
    assert isinstance(reply, m.Failed)
    assert "threads" in reply.error.message


def wait_for_progress(events: list[m.Message]) -> None:
    until = time.monotonic() + SLOW
    while not any(isinstance(event, m.TrainingProgress) for event in events):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
@pytest.mark.slow
def test_a_pause_stands_at_a_step_and_a_killed_engine_comes_back_to_one(
    client: EngineClient, events: list[m.Message]
) -> None:
    client.call(m.Open(), [DIGITS.read_bytes()], timeout=SLOW)
    replies: queue.Queue[m.Message] = queue.Queue()
    train = m.Train(steps=10**9, curves=[LOSS], losses=["loss"])

    client.send(train, (), lambda reply, _: replies.put(reply))
    wait_for_progress(events)
    client.call(m.Control(command="pause"), timeout=SLOW)
    paused = replies.get(timeout=SLOW)
    assert isinstance(paused, m.Trained)
    assert (paused.stopped.reason, paused.stopped.op) == ("pause", "")
    runs, (losses,) = numbers(events)
    assert runs == [*range(paused.made)]
    assert paused.stopped.run == paused.made - 1

    events.clear()
    client.send(train, (), lambda reply, _: replies.put(reply))
    wait_for_progress(events)
    client.kill()
    assert isinstance(replies.get(timeout=SLOW), m.Failed)
    last = numbers(events)[0][-1]
    back: queue.Queue[m.Message] = queue.Queue()
    came = [back.get(timeout=SLOW) for _ in range(client.restart(lambda reply, _: back.put(reply)))]
    stopped = came[1]
    assert isinstance(stopped, m.Stopped)
    assert (stopped.run, stopped.step) == (last + 1, 0)

    for run in (0, paused.stopped.run // 2, paused.stopped.run):
        target = f"{run}:{paused.stopped.step}"
        client.call(m.Control(command="run_to", target=target), timeout=SLOW)
        reply, buffers = client.call(m.Read(refs=["loss:0"]), timeout=SLOW)
        assert isinstance(reply, m.Values)
        assert float(unpack(reply.parts[0], buffers).item()) == losses[run]


def test_steps_that_take_long_to_repeat_say_how_many_are(
    service: EngineService, events: list[m.Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_runs.Pace, "BLINK", 1e9)  # nearly nothing is kept
    monkeypatch.setattr(engine_service, "_PROGRESS", 0.0)
    opened(service, DIGITS)
    service.handle(m.Train(steps=300, curves=[LOSS]))
    events.clear()
    reply, _ = service.handle(m.Control(command="run_to", target="250:3", look=m.Look(refs=LOOKED)))
    assert isinstance(reply, m.Stopped)
    assert (reply.run, reply.step) == (250, 3)
    told = [event for event in events if isinstance(event, m.Progress)]
    assert [event.text for event in told] == ["Repeating steps"] * len(told)
    assert told[-1].done == told[-1].total - 1 > 100
