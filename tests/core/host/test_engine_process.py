"""The engine as a process of its own: killed, hung, shouted at, restarted."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.protocol import framing
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.support.forked_engine import ForkedEngine, Server

SLOW = 30.0  # seconds that a loaded machine may take for anything

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by signal")


def values(client: EngineClient, *refs: str) -> dict[str, list[float]]:
    reply, buffers = client.call(m.Read(refs=list(refs)), timeout=SLOW)
    assert isinstance(reply, m.Values)
    return {p.ref: unpack(p, buffers).tolist() for p in reply.parts if p.state == "known"}


def opened(client: EngineClient, data: bytes, trusted: bool = True) -> m.Opened:
    reply, _ = client.call(m.Open(trusted=trusted), [data], timeout=SLOW)
    assert isinstance(reply, m.Opened)
    return reply


def control(client: EngineClient, command: str, target: str = "") -> m.Stopped:
    reply, _ = client.call(m.Control(command=command, target=target), timeout=SLOW)
    assert isinstance(reply, m.Stopped)
    return reply


def restarted(client: EngineClient) -> list[m.Message]:
    """The one click, and all that comes of it."""
    replies: queue.Queue[m.Message] = queue.Queue()
    count = client.restart(lambda reply, buffers: replies.put(reply))
    return [replies.get(timeout=SLOW) for _ in range(count)]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SLOW
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


@pytest.mark.engine_process
@pytest.mark.slow
def test_the_tutorial_over_the_pipes(client: EngineClient, example: Callable) -> None:
    opened(client, example("tutorial"))
    assert control(client, "step").step > 0
    assert control(client, "continue_").reason == "end"
    found = values(client, "loss:0", "c:0")
    assert found["loss:0"] == pytest.approx([0.66369414])
    assert found["c:0"] == pytest.approx([0.05984784, -0.03976078])


@pytest.mark.slow
def test_what_the_user_did_wrong_is_raised(client: EngineClient) -> None:
    with pytest.raises(GradstepError, match="no document is open"):
        client.call(m.Control(command="step"), timeout=SLOW)
    with pytest.raises(GradstepError) as failure:
        opened(client, b"not a document")
    assert failure.value.kind == "FileError"
    assert client.alive


@pytest.mark.slow
def test_killed_and_restarted_it_is_where_it_was(client: EngineClient, example: Callable) -> None:
    """Three updates, into the fourth run, a breakpoint, kill -9, one click."""
    program = opened(client, example("override_add")).program
    for _ in range(3):
        control(client, "continue_")
    client.call(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="loss")]), timeout=SLOW)
    control(client, "continue_")
    here = control(client, "step_into")
    refs = [ref for step in program.steps for ref in step.outputs]
    before = values(client, *refs)
    assert here.run == 3
    old = client.pid
    os.kill(old, signal.SIGKILL)
    until(lambda: not client.alive)
    with pytest.raises(GradstepError) as failure:
        control(client, "step")
    assert (failure.value.kind, failure.value.hint) == ("EngineDied", "Restart engine")
    reopened, there, breakpoints = restarted(client)
    assert isinstance(reopened, m.Opened)
    assert isinstance(there, m.Stopped)
    assert (there.run, there.step, there.op) == (here.run, here.step, here.op)
    assert breakpoints == m.Done()
    assert client.pid != old
    assert values(client, *refs) == before
    control(client, "continue_")
    assert control(client, "continue_").reason == "breakpoint"  # they are back, too


@pytest.mark.slow
def test_killed_in_the_middle_of_a_run(
    client: EngineClient, deaths: list[GradstepError], pyfunc: Callable
) -> None:
    """Stopped before a function that sleeps; the run that called it never answered."""
    opened(client, pyfunc("import time\ndef f(w):\n    time.sleep(20)\n    return w\n"))
    here = control(client, "run_to", "y")
    before = values(client, "w:0")
    replies: queue.Queue[m.Message] = queue.Queue()
    asked = time.monotonic()
    client.send(m.Control(command="continue_"), reply_to=lambda reply, _: replies.put(reply))
    assert time.monotonic() - asked < 1.0  # the window would not have noticed
    with pytest.raises(queue.Empty):
        replies.get(timeout=0.3)
    assert client.alive
    client.kill()
    failed = replies.get(timeout=SLOW)
    assert isinstance(failed, m.Failed)
    assert (failed.error.type, failed.error.hint) == ("EngineDied", "Restart engine")
    until(lambda: deaths != [])
    assert "SIGKILL" in deaths[0].message
    assert time.monotonic() - asked < 15  # nobody waited for the function
    _, there = restarted(client)
    assert isinstance(there, m.Stopped)
    assert (there.run, there.step, there.op) == (here.run, here.step, "y")
    assert values(client, "w:0") == before


@pytest.mark.slow
def test_a_pause_waits_its_turn_but_arrives(client: EngineClient, pyfunc: Callable) -> None:
    opened(client, pyfunc("import time\ndef f(w):\n    time.sleep(0.02)\n    return w\n"))
    replies: queue.Queue[m.Message] = queue.Queue()
    client.send(m.Control(command="run_to", target="500:0"), reply_to=lambda r, _: replies.put(r))
    time.sleep(0.2)
    stop = control(client, "pause")
    assert 0 < stop.run < 400
    answer = replies.get(timeout=SLOW)
    assert isinstance(answer, m.Stopped)
    assert (answer.reason, answer.run, answer.step) == ("pause", stop.run, stop.step)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("import os; os._exit(7)", "exit status 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_a_function_that_ends_the_process(
    client: EngineClient, pyfunc: Callable, body: str, why: str
) -> None:
    opened(client, pyfunc(f"def f(w):\n    {body}\n"))
    here = control(client, "run_to", "y")
    with pytest.raises(GradstepError) as failure:
        control(client, "step")
    assert failure.value.kind == "EngineDied"
    assert why in failure.value.message
    restarted(client)
    assert control(client, "pause").step == here.step


@pytest.mark.slow
@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "SystemExit"])
def test_no_exception_ends_the_process(client: EngineClient, pyfunc: Callable, error: str) -> None:
    """In the function, and where its result is turned into a tensor."""
    opened(client, pyfunc(f"def f(w):\n    raise {error}\n"))
    failure = control(client, "continue_").error
    assert failure is not None
    assert (failure.type, failure.node) == ("CodeError", "y")
    assert error in failure.message
    later = f"class Odd:\n    def __array__(self, *a, **k):\n        raise {error}\n"
    opened(client, pyfunc(f"{later}def f(w):\n    return Odd()\n"))
    replies: queue.Queue[m.Message] = queue.Queue()
    client.send(m.Control(command="continue_"), reply_to=lambda reply, _: replies.put(reply))
    assert not isinstance(replies.get(timeout=SLOW), m.Done)
    assert client.alive


def test_words_that_no_encoding_has_do_not_end_it(client: EngineClient, pyfunc: Callable) -> None:
    opened(client, pyfunc("def f(w):\n    raise ValueError(chr(0xD800))\n"))
    failure = control(client, "continue_").error
    assert failure is not None
    assert failure.message.endswith("ValueError: \\ud800")
    assert client.alive


def test_a_segmentation_fault_leaves_its_traceback(client: EngineClient, pyfunc: Callable) -> None:
    source = "import os, signal\ndef f(w):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    opened(client, pyfunc(source))
    with pytest.raises(GradstepError):
        control(client, "continue_")
    assert any("Segmentation fault" in line for line in client.last_lines)


def test_prints_come_as_events_and_corrupt_nothing(
    client: EngineClient, events: list[m.Message], pyfunc: Callable
) -> None:
    source = (
        "import os, sys, subprocess\n"
        "def f(w):\n"
        "    print('through print', w)\n"
        "    sys.__stdout__.write('GRD1 through the first stdout\\n'); sys.__stdout__.flush()\n"
        "    os.write(1, b'GRD1\\xff\\xff through the descriptor\\n')\n"
        "    subprocess.run(['echo', 'through a child'], check=True)\n"
        "    assert sys.stdin.read() == ''\n"
        "    assert os.read(0, 10) == b''\n"
        "    return w\n"
    )
    opened(client, pyfunc(source))
    stop = control(client, "continue_")
    assert (stop.reason, stop.error) == ("end", None)
    assert events == [m.Output(text="through print [1. 2.]\n")]
    until(lambda: "through a child" in client.last_lines)
    assert any("through the first stdout" in line for line in client.last_lines)


def test_untrusted_code_never_runs(client: EngineClient, pyfunc: Callable, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    touch = f"open({str(witness)!r}, 'w').close()"
    data = pyfunc(f"{touch}\ndef f(w):\n    {touch}\n    return w\n")
    program = opened(client, data, trusted=False).program
    assert [problem.type for problem in program.problems] == ["untrusted-code"]
    stop = control(client, "continue_")
    assert stop.error is not None
    assert (stop.error.type, stop.error.node) == ("UntrustedCodeError", "y")
    restarted(client)
    control(client, "continue_")
    assert not witness.exists()
    opened(client, data, trusted=True)
    control(client, "continue_")
    assert witness.exists()


def test_a_process_left_behind_does_not_hide_the_death(
    client: EngineClient, pyfunc: Callable
) -> None:
    """A child that inherits the engine's pipes must not keep the window waiting."""
    source = (
        "import os, time\ndef f(w):\n    if os.fork() == 0:\n        time.sleep(20)\n"
        "        os._exit(0)\n    os._exit(3)\n"
    )
    opened(client, pyfunc(source))
    asked = time.monotonic()
    with pytest.raises(GradstepError, match="exit status 3"):
        control(client, "continue_")
    assert time.monotonic() - asked < 10


def test_an_engine_that_cannot_be_started() -> None:
    client = EngineClient(["/nowhere/gradstep", "engine"])
    with pytest.raises(GradstepError, match="could not be started") as failure:
        client.call(m.Devices())
    assert failure.value.kind == "EngineDied"


def test_a_program_that_is_no_engine() -> None:
    """Such as ssh, when the remote shell greets with a banner."""
    banner = "import sys; print('Welcome to host!', flush=True); sys.stdin.buffer.read()"
    client = EngineClient([sys.executable, "-c", banner])
    try:
        with pytest.raises(GradstepError, match="stream is broken"):
            client.call(m.Devices(), timeout=SLOW)
    finally:
        client.close()


@pytest.fixture
def process(engine_server: Server) -> Iterator[ForkedEngine]:
    """An engine without a client."""
    engine = ForkedEngine(engine_server)
    with engine.stdin, engine.stdout, engine.stderr:
        yield engine
    engine.kill()


def test_it_answers_what_was_asked_and_ends_with_its_input(
    process: ForkedEngine, example: Callable
) -> None:
    """Requests in, closed; answers out, and a clean exit."""
    framing.write(process.stdin, m.Open(), [example("tutorial")], 1)
    framing.write(process.stdin, m.Output(text="no request, to this version"), (), 2)
    framing.write(process.stdin, m.ManageSessions(command="of a later one"), (), 3)
    framing.write(process.stdin, m.Control(command="step"), (), 4)
    for number, kind in [(1, m.Opened), (2, m.Failed), (3, m.Failed), (4, m.Stopped)]:
        packet = framing.read_answer(process.stdout)
        assert packet is not None
        assert (packet.request, type(packet.message)) == (number, kind)
    process.stdin.close()
    assert framing.read_answer(process.stdout) is None
    assert process.wait(SLOW) == 0


@pytest.mark.slow
def test_it_ends_with_its_parent_even_in_the_middle_of_user_code(
    process: ForkedEngine, pyfunc: Callable
) -> None:
    slow = pyfunc("import time\ndef f(w):\n    time.sleep(60)\n    return w\n")
    framing.write(process.stdin, m.Open(trusted=True), [slow], 1)
    framing.write(process.stdin, m.Control(command="continue_"), (), 2)
    framing.read_answer(process.stdout)
    process.stdin.close()
    assert process.wait(SLOW) == 0


def test_garbage_ends_it_with_a_word(process: ForkedEngine) -> None:
    process.stdin.write(b"hello, engine, how are you?\n")
    process.stdin.flush()  # and open still: closed, it is killed if it takes long
    assert process.wait(SLOW) == 0
    errors = process.stderr.read()
    assert b"stream is broken" in errors
    assert b"Traceback" not in errors


def test_large_tensors_pass(client: EngineClient) -> None:
    from gradstep.core.document.document import Document
    from gradstep.core.graph.model import Constant
    from gradstep.core.io.native import gradstep_file
    from gradstep.core.ops.build.builder import GraphBuilder

    array = np.random.default_rng(0).random((1000, 1000), np.float32)
    builder = GraphBuilder()
    builder.one("Neg", builder.placeholder("x", shape=array.shape), name="y")
    document = Document(builder.build(), feeds={"x": Constant(array)})
    opened(client, gradstep_file.to_bytes(document))
    control(client, "continue_")
    reply, buffers = client.call(m.Read(refs=["y:0"], limit=array.size), timeout=SLOW)
    assert isinstance(reply, m.Values)
    np.testing.assert_array_equal(unpack(reply.parts[0], buffers), -array.ravel())


@pytest.mark.slow
def test_the_command_that_the_window_uses() -> None:
    """`main.py engine --stdio`, which knows every device of this machine."""
    client = EngineClient()
    try:
        reply, _ = client.call(m.Devices(), timeout=SLOW)
    finally:
        client.close()
    assert isinstance(reply, m.DeviceList)
    assert {"cpu", "gpu"} <= {device.name for device in reply.devices}
