"""An engine behind ssh: led by the same messages, with the files that lie here.

Where ssh itself is not the subject, the engine that it would start is forked, in its home folder.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.document.packed_rows import packed_place
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.problems import DATA, DATA_ROWS
from gradstep.core.host import engine_connection
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.remote_engine import read_address
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.support.forked_engine import Server, fork_engines
from tests.support.ssh_stand_in import OtherMachine

SLOW = 30.0  # seconds that a loaded machine may take for anything

pytestmark = pytest.mark.slow


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OtherMachine:
    """Its home folder is another than the window's, which is `here`."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(here))
    return OtherMachine(tmp_path / "elsewhere", monkeypatch)


@pytest.fixture
def here(tmp_path: Path, machine: OtherMachine) -> Path:
    return tmp_path / "here"


@pytest.fixture
def connect(
    request: pytest.FixtureRequest,
    machine: OtherMachine,
    engine_server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., EngineClient]]:
    if request.node.get_closest_marker("engine_process") is None:
        argv = read_address(machine.address).argv
        fork_engines(engine_server, monkeypatch, argv, machine.home)
    clients: list[EngineClient] = []

    def connected(address: str = machine.address) -> EngineClient:
        clients.append(EngineClient(read_address(address), on_death=deaths.append))
        return clients[-1]

    deaths: list[GradstepError] = []
    yield connected
    for client in clients:
        client.close()


def fed_from(text: str) -> Document:
    """y = x, and x is fed row after row from what `text` names."""
    graph = GraphBuilder()
    graph.one("Identity", graph.placeholder("x", shape=(None, 2)), name="y")
    document = Document(graph.build(), fetches=(TensorRef("y", 0),))
    return document.with_(data=Dataset({"x:0": text}, batch=1))


def opened(client: EngineClient, document: Document) -> m.Opened:
    columns = () if document.data is None else document.data.columns.values()
    client.files.lend(None if client.confined else columns)
    reply, _ = client.call(m.Open(), [gradstep_file.to_bytes(document)], timeout=SLOW)
    assert isinstance(reply, m.Opened)
    return reply


def values(client: EngineClient, ref: str) -> list[float]:
    client.call(m.Control(command="continue_"), timeout=SLOW)
    reply, buffers = client.call(m.Read(refs=[ref]), timeout=SLOW)
    assert isinstance(reply, m.Values)
    return unpack(reply.parts[0], buffers).tolist()


def problems(reply: m.Opened) -> list[str]:
    """With the data."""
    found = (each for each in reply.program.problems if each.type in (DATA, DATA_ROWS))
    return [f"{problem.message}: {problem.hint}" for problem in found]


@pytest.mark.engine_process
def test_rows_of_a_file_that_is_here_are_fed_there(
    connect: Callable[..., EngineClient], machine: OtherMachine, here: Path
) -> None:
    (here / "rows.csv").write_text("1,2\n3,4\n5,6\n", encoding="utf-8")
    assert not (machine.home / "rows.csv").exists()
    client = connect()
    reply = opened(client, fed_from("@~/rows.csv | scale(10)"))
    assert problems(reply) == []
    assert reply.program.data.rows == 3
    assert values(client, "y:0") == [10.0, 20.0]


@pytest.mark.parametrize("dtype", [np.float64, np.int32, ">f4"])
def test_an_array_is_fed_as_from_a_file_there(
    connect: Callable[..., EngineClient], here: Path, dtype: str
) -> None:
    np.save(here / "rows.npy", np.array([[1, 2], [3, 4]], dtype))
    client = connect()
    assert problems(opened(client, fed_from("@~/rows.npy"))) == []
    assert values(client, "y:0") == [1.0, 2.0]


def test_what_keeps_a_file_here_from_being_read_is_said_there(
    connect: Callable[..., EngineClient], here: Path
) -> None:
    client = connect()
    [problem] = problems(opened(client, fed_from("@~/rows.csv")))
    assert "~/rows.csv" in problem
    assert "there is no such file" in problem
    (here / "rows.csv").write_text("1,2\n3,four\n", encoding="utf-8")
    [problem] = problems(opened(client, fed_from("@~/rows.csv")))
    assert "four" in problem


def test_a_file_that_changes_is_noticed_and_one_that_does_not_is_sent_once(
    connect: Callable[..., EngineClient], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "rows.csv").write_text("1,2\n", encoding="utf-8")
    document = fed_from("@~/rows.csv")
    client = connect()
    asked: list[bool] = []
    answer = client.files.answer
    monkeypatch.setattr(
        client.files, "answer", lambda wanted: (asked.append(wanted.only_stamp), answer(wanted))[1]
    )
    opened(client, document)
    assert asked == [True, False]
    again = m.Open(keep_position=True, revision=1)
    client.call(again, [gradstep_file.to_bytes(document)], timeout=SLOW)
    assert asked == [True, False, True]
    (here / "rows.csv").write_text("7,8\n9,10\n", encoding="utf-8")
    seen, _ = client.call(m.LookAtBatch(), timeout=SLOW)
    assert isinstance(seen, m.BatchSeen)
    assert seen.changed == ["rows.csv"]
    client.call(again, [gradstep_file.to_bytes(document)], timeout=SLOW)
    assert values(client, "y:0") == [7.0, 8.0]


def test_nothing_is_lent_that_the_document_does_not_name(
    connect: Callable[..., EngineClient], here: Path
) -> None:
    (here / "secret.csv").write_text("1,2\n", encoding="utf-8")
    client = connect()
    client.files.lend(["@~/rows.csv"])
    data = gradstep_file.to_bytes(fed_from("@~/secret.csv"))
    reply, _ = client.call(m.Open(), [data], timeout=SLOW)
    assert isinstance(reply, m.Opened)
    [problem] = problems(reply)
    assert "secret.csv is not lent" in problem
    client.files.lend(None)
    reply, _ = client.call(m.Open(), [data], timeout=SLOW)
    assert isinstance(reply, m.Opened)
    assert "the engine has no files" in problems(reply)[0]


def test_packed_rows_and_sets_need_no_file_of_anybody(
    connect: Callable[..., EngineClient],
) -> None:
    rows = Constant(np.array([[1, 2], [3, 4]], np.float32))
    document = fed_from(packed_place("mine")).with_(packed={"mine": rows})
    client = connect()
    assert problems(opened(client, document)) == []
    assert values(client, "y:0") == [1.0, 2.0]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SLOW
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


@pytest.mark.engine_process
def test_a_connection_that_is_lost_comes_back_to_the_same_step(
    connect: Callable[..., EngineClient], machine: OtherMachine, example: Callable
) -> None:
    client = connect()
    client.call(m.Open(), [example("override_add")], timeout=SLOW)
    for _ in range(2):
        client.call(m.Control(command="continue_"), timeout=SLOW)
    here, _ = client.call(m.Control(command="step"), timeout=SLOW)
    machine.cut()
    until(lambda: not client.alive)
    with pytest.raises(GradstepError) as lost:
        client.call(m.Control(command="step"), timeout=SLOW)
    assert lost.value.message == (
        "the connection to box was lost: Timeout, server box not responding."
    )
    client.start()
    with pytest.raises(GradstepError):  # it is still away
        client.call(m.Devices(), timeout=SLOW)
    machine.mend()
    replies: queue.Queue[m.Message] = queue.Queue()
    count = client.restart(lambda reply, buffers: replies.put(reply))
    there = [replies.get(timeout=SLOW) for _ in range(count)][1]
    assert isinstance(here, m.Stopped)
    assert isinstance(there, m.Stopped)
    assert (there.run, there.step, there.op) == (here.run, here.step, here.op)


@pytest.mark.engine_process
@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("ssh://unreachable", "unreachable cannot be reached: ssh: connect to host"),
        ("ssh://choked", "choked cannot be reached: Connection closed by"),
        ("ssh://box/nowhere", "there is no Gradstep on box in /nowhere"),
        (f"ssh://talkative{sys.prefix}", "talkative did not answer as an engine"),
    ],
)
def test_why_there_is_no_engine_is_said(
    connect: Callable[..., EngineClient], address: str, what: str
) -> None:
    with pytest.raises(GradstepError, match=what) as failure:
        connect(address).call(m.Devices(), timeout=SLOW)
    assert failure.value.kind == "EngineDied"
    assert failure.value.hint


def test_another_version_is_refused(
    connect: Callable[..., EngineClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_connection, "version", lambda: "0.0.9")
    client = connect()
    client.start()
    until(lambda: not client.alive)
    with pytest.raises(GradstepError, match=r"box has Gradstep .*, and this is Gradstep 0\.0\.9"):
        client.call(m.Devices(), timeout=SLOW)


def test_another_state_of_the_same_version_is_refused(
    connect: Callable[..., EngineClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_connection, "protocol_digest", lambda: "another")
    client = connect()
    client.start()
    until(lambda: not client.alive)
    with pytest.raises(GradstepError, match="box has another state of it, and this is Gradstep"):
        client.call(m.Devices(), timeout=SLOW)


def test_a_pause_reaches_a_run_there(
    connect: Callable[..., EngineClient], pyfunc: Callable
) -> None:
    client = connect()
    data = pyfunc("import time\ndef f(w):\n    time.sleep(0.3)\n    return w\n")
    client.call(m.Open(trusted=True), [data], timeout=SLOW)
    replies: queue.Queue[m.Message] = queue.Queue()
    client.send(m.Train(steps=10_000), (), lambda reply, _: replies.put(reply))
    time.sleep(1.0)
    client.send(m.Control(command="pause"))
    stopped = replies.get(timeout=SLOW)
    assert isinstance(stopped, m.Trained)
    assert stopped.made < 100


@pytest.mark.engine_process
def test_ssh_is_called_with_the_host_behind_what_ends_options(
    connect: Callable[..., EngineClient], machine: OtherMachine
) -> None:
    connect().call(m.Devices(), timeout=SLOW)
    [said] = machine.said
    assert said[said.index("--") + 1] == "box"
    assert "BatchMode=yes" in said[: said.index("--")]


@pytest.mark.engine_process
def test_without_network_and_files_the_flag_goes_along(
    connect: Callable[..., EngineClient], machine: OtherMachine
) -> None:
    client = connect()
    client.confined = True
    client.call(m.Devices(), timeout=SLOW)
    assert machine.said[0][-1] == "--sandbox"
