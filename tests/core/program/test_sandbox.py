"""Python without network and files: what it cannot do, and that all else goes on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.host.engine_client import EngineClient
from gradstep.core.io.native import gradstep_file
from gradstep.core.program import sandbox
from gradstep.core.program.sandbox import bubblewrap, confinement, landlock, seccomp
from gradstep.core.program.sandbox.sandbox_profile import access
from gradstep.core.protocol import messages as m
from tests.core.host.test_engine_process import control, opened, until
from tests.support.forked_engine import ENTRY

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "assets" / "examples"
SECRET = "GR4D"

needs_sandbox = pytest.mark.skipif(bool(sandbox.why_not()), reason=sandbox.why_not())
needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="the kernel has no Landlock")
needs_seccomp = pytest.mark.skipif(bool(seccomp.why_not()), reason=seccomp.why_not())
needs_bubblewrap = pytest.mark.skipif(bool(bubblewrap.why_not()), reason=bubblewrap.why_not())

# What is tried: the name of each attempt -> an expression.
FILES = {
    "read a file of the system": "open('/etc/passwd').read()",
    "read a file of the user": "open({home!r} + '/private').read()",
    "list the home": "os.listdir({home!r})",
    "write in the home": "open({home!r} + '/new', 'w')",
    "change a file": "open({home!r} + '/private', 'a')",
    "remove a file": "os.remove({home!r} + '/private')",
    "write beside": "open('/tmp/gradstep-sandbox-test', 'w')",
    "write in the program": "open({root!r} + '/core/new.py', 'w')",
    "link out of the folder": "(os.symlink({home!r}, 'link'), open('link/private').read())",
}
METADATA = {
    "let others read a file": "os.chmod({home!r} + '/private', 0o777)",
    "empty a file": "os.truncate({home!r} + '/private', 0)",
    "empty it by opening": "os.open({home!r} + '/private', os.O_RDONLY | os.O_TRUNC)",
    "turn back a file's time": "os.utime({home!r} + '/private', (0, 0))",
}
NETWORK = {
    "connect": "socket.create_connection(('127.0.0.1', {port}), 2)",
    "serve": "socket.socket().bind(('127.0.0.1', 0))",
    "reach a Unix socket": "socket.socket(socket.AF_UNIX).connect({home!r} + '/socket')",
}
PROCESSES = {
    "start a program": "subprocess.run(['true'], check=True)",
    "fork": "os._exit(0) if os.fork() == 0 else None",
    "kill its parent": "os.kill(os.getppid(), 0)",
    "kill another": "os.kill({pid}, 0)",
    "trace another": "traced({pid})",
    "raise a limit of another": "resource.prlimit({pid}, resource.RLIMIT_NOFILE, (64, 64))",
}
SECRETS = {
    "see a secret": "next(v for v in os.environ.values() if {secret!r} in v)",
    "see what it was started with": "open('/proc/self/environ').read().index({secret!r})",
    "see what its parent was started with": (
        "open(f'/proc/{{os.getppid()}}/environ').read().index({secret!r})"
    ),
}
GOES_ON = {
    "write in its folder": "open(os.environ['TMPDIR'] + '/x', 'w').write('a')",
    "make a temporary file": "__import__('tempfile').TemporaryFile().write(b'a')",
    "start a thread": "__import__('threading').Thread(target=int).start()",
    "multiply": "(np.ones((300, 300)) @ np.ones((300, 300))).sum()",
    "import": "__import__('networkx')",
    "read the program": "open({root!r} + '/core/errors.py').read(10)",
    "signal itself": "os.kill(os.getpid(), 0)",
}
PRELUDE = """
import ctypes, os, resource, socket, subprocess
import numpy as np
def traced(pid):
    if ctypes.CDLL(None, use_errno=True).ptrace(16, pid, 0, 0):  # PTRACE_ATTACH
        raise PermissionError(ctypes.get_errno(), 'ptrace')
def succeeding(attempts):
    found = []
    for name, text in attempts.items():
        try:
            eval(text)
        except Exception:
            continue
        found.append(name)
    return found
"""


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What there is to be got at: a home, a server, a Unix socket, a process."""
    (tmp_path / "private").write_text("mine")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen(["sleep", "60"]) as process,
    ):
        local.bind(str(tmp_path / "socket"))
        local.listen()
        yield {
            "home": str(tmp_path), "root": str(ROOT), "port": server.getsockname()[1],
            "pid": process.pid, "secret": SECRET,
        }  # fmt: skip
        process.kill()


def filled(attempts: dict[str, str], victim: dict[str, Any]) -> dict[str, str]:
    return {name: text.format(**victim) for name, text in attempts.items()}


@pytest.fixture(scope="module")
def confined() -> Iterator[EngineClient]:
    os.environ["GRADSTEP_TEST_TOKEN"] = SECRET  # of a kind that is kept, so that it could be seen
    os.environ["MY_TOKEN"] = SECRET
    client = EngineClient(ENTRY)
    client.confined = True
    del os.environ["GRADSTEP_TEST_TOKEN"]
    client.start()
    del os.environ["MY_TOKEN"]
    yield client
    client.close()


@needs_sandbox
@pytest.mark.slow
def test_user_code_reaches_nothing_but_what_it_needs(
    confined: EngineClient, pyfunc: Callable, victim: dict[str, Any]
) -> None:
    attempts = {**FILES, **METADATA, **NETWORK, **PROCESSES, **SECRETS, **GOES_ON}
    source = (
        f"{PRELUDE}\ndef f(w):\n"
        f"    print(*succeeding({filled(attempts, victim)!r}), sep='|', end='')\n    return w\n"
    )
    events: list[Any] = []
    confined._on_event = events.append
    confined.restart()
    opened(confined, pyfunc(source))
    stop = control(confined, "continue_")
    assert stop.error is None
    assert "".join(e.text for e in events).split("|") == list(GOES_ON)


@needs_sandbox
@pytest.mark.slow
def test_what_is_refused_says_so_and_what_to_do(confined: EngineClient, pyfunc: Callable) -> None:
    opened(confined, pyfunc("def f(w):\n    return open('/etc/passwd').read()\n"))
    error = control(confined, "continue_").error
    assert error is not None
    assert (error.type, error.node) == ("SandboxError", "y")
    assert "'f', line 2" in error.message
    assert "sandbox" in error.message
    assert "Review and trust" in error.hint


@needs_sandbox
@pytest.mark.parametrize(
    "name", [p.stem for p in sorted(EXAMPLES.glob("*.gradstep")) if gradstep_file.load(p).code]
)
@pytest.mark.slow
def test_examples_with_python_run_as_ever(
    confined: EngineClient, client: EngineClient, name: str
) -> None:
    data = (EXAMPLES / f"{name}.gradstep").read_bytes()
    found = []
    for engine in (confined, client):
        program = opened(engine, data).program
        stop = control(engine, "continue_")
        refs = [ref for step in program.steps for ref in step.outputs]
        values, buffers = engine.call(m.Read(refs=refs), timeout=60)
        checked, _ = engine.call(m.CheckGradients(), timeout=60)
        found.append((stop.reason, values, [bytes(b) for b in buffers], checked))
    assert found[0] == found[1]


@needs_sandbox
@pytest.mark.slow
def test_it_leaves_nothing_behind(pyfunc: Callable) -> None:
    client, said = EngineClient(ENTRY, on_event=lambda e: said.append(e.text)), []
    client.confined = True
    try:
        opened(client, pyfunc("import os\ndef f(w):\n    print(os.environ['TMPDIR'])\n"))
        control(client, "continue_")
        until(lambda: bool(said))
        folder = Path(said[0].strip())
        assert folder.is_dir() or not bubblewrap.why_not()
    finally:
        client.close()
    assert not folder.exists()


@pytest.mark.slow
def test_what_is_to_be_confined_runs_nowhere_else(
    client: EngineClient, pyfunc: Callable, tmp_path: Path
) -> None:
    source = f"open({str(tmp_path / 'witness')!r}, 'w')\ndef f(w):\n    return w\n"
    with pytest.raises(Exception, match="without network and files"):
        client.call(m.Open(trusted=True, confined=True), [pyfunc(source)], timeout=60)
    assert not (tmp_path / "witness").exists()


# -- each mechanism by itself ------------------------------------------------------------------


def alone(by: str, attempts: dict[str, str], temporary: Path) -> list[str]:
    """What succeeds in a process that is confined by one mechanism."""
    (temporary / "work").mkdir()
    script = f"""
        import json, os, sys
        from gradstep.core.program.sandbox.confinement import wall_in
        from gradstep.core.program.sandbox.sandbox_profile import Profile, access
        wall_in(Profile.ENGINE, access(Profile.ENGINE, os.environ["TMPDIR"]), {[by]!r})
        exec({PRELUDE!r})
        os.chdir(os.environ["TMPDIR"])
        print(json.dumps(succeeding({attempts!r})))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "TMPDIR": str(temporary / "work")},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@needs_landlock
@pytest.mark.slow
def test_landlock_alone_guards_files(victim: dict[str, Any], tmp_path: Path) -> None:
    guarded = FILES | (NETWORK if landlock.abi() >= 4 else {})
    guarded.pop("reach a Unix socket", None)  # which has a path, and is no file to Landlock
    if landlock.abi() >= 6:
        guarded |= {name: PROCESSES[name] for name in ("kill its parent", "trace another")}
    found = alone("landlock", filled({**guarded, **GOES_ON}, victim), tmp_path)
    assert found == list(GOES_ON)


@needs_seccomp
@pytest.mark.slow
def test_seccomp_alone_guards_all_but_files(victim: dict[str, Any], tmp_path: Path) -> None:
    attempts = filled({**METADATA, **NETWORK, **PROCESSES, **GOES_ON}, victim)
    assert alone("seccomp", attempts, tmp_path) == list(GOES_ON)


@needs_bubblewrap
def test_bubblewrap_alone_guards_files_network_and_processes(
    victim: dict[str, Any], tmp_path: Path
) -> None:
    """What is written outside its folder there goes into memory, and to nowhere then."""
    (tmp_path / "work").mkdir()
    reading = ("read a file of the system", "read a file of the user", "link out of the folder")
    guarded = {name: FILES[name] for name in (*reading, "write in the program")}
    guarded |= {name: NETWORK[name] for name in ("connect", "reach a Unix socket")}
    guarded["kill another"] = PROCESSES["kill another"]
    lost = {name: text for name, text in FILES.items() if name not in guarded}
    attempts = filled({**lost, **guarded, **GOES_ON}, victim)
    script = f"exec({PRELUDE!r})\nos.chdir(os.environ['TMPDIR'])\nprint(succeeding({attempts!r}))"
    allowed = access(sandbox.Profile.ENGINE, str(tmp_path / "work"))
    done = subprocess.run(
        bubblewrap.command([sys.executable, "-c", script], allowed, str(ROOT)),
        env={**os.environ, "TMPDIR": str(tmp_path / "work")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not set(guarded) & set(eval(done.stdout)), done.stderr
    assert set(GOES_ON) <= set(eval(done.stdout))
    assert (tmp_path / "private").read_text() == "mine"
    assert not (tmp_path / "new").exists()
    assert not Path("/tmp/gradstep-sandbox-test").exists()


@needs_landlock
@needs_seccomp
def test_a_reader_has_its_file_and_nothing_else(victim: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "foreign.pb").write_text("foreign")
    attempts = filled({**FILES, **NETWORK, **PROCESSES}, victim)
    script = f"""
        import os, sys
        from gradstep.core.program import sandbox
        sandbox.confine(sandbox.Profile.READER, read=[{str(tmp_path / "foreign.pb")!r}])
        exec({PRELUDE!r})
        assert open({str(tmp_path / "foreign.pb")!r}).read() == "foreign"
        assert sandbox.is_confined()
        assert "MY_TOKEN" not in os.environ
        print(succeeding({attempts!r}))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "MY_TOKEN": SECRET},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr


@needs_landlock
def test_threads_that_would_stay_outside_are_no_half_measure() -> None:
    script = """
        import threading, time
        from gradstep.core.errors import GradstepError
        from gradstep.core.program import sandbox
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        try:
            sandbox.confine(sandbox.Profile.READER)
        except GradstepError as error:
            print(error.message)
        assert not sandbox.is_confined()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "threads" in done.stdout


def test_a_machine_without_any_of_it_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(bubblewrap, "program", lambda: "")
    assert "Landlock" in confinement.why_not() or "this system" in confinement.why_not()
    with pytest.raises(Exception, match="cannot be kept from network and files"):
        sandbox.confine(sandbox.Profile.READER)
    assert not sandbox.is_confined()
