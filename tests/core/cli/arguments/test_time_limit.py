"""--timeout: what takes too long ends, in order where it can."""

from __future__ import annotations

import signal
import time

import pytest

from gradstep.core.cli.arguments.time_limit import time_limit
from gradstep.core.errors import GradstepError
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
LATE = "it was not done after 0.3 s, as long as --timeout allows"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [("run", "--runs", "10000000"), ("train", "--steps", "100000000")],
    ids=["broken off", "in order"],
)
def test_a_command_that_takes_too_long_ends(cli: Cli, command: tuple[str, ...]) -> None:
    verb, *rest = command
    result = cli(verb, TUTORIAL, *rest, "--timeout", "0.3", "--json")
    assert result.status == 124
    assert result.json["error"]["message"] == LATE
    assert result.json.get("shown", [{}])[0].get("step", 1) == 1


@pytest.mark.slow
def test_a_script_tells_what_it_did_until_then(cli: Cli) -> None:
    script = "; ".join(f"run_to {1 + 9999 * number}:0" for number in range(100))
    result = cli("debug", TUTORIAL, "--script", script, "--timeout", "1", "--json")
    assert result.status == 124
    said = result.json
    assert said["error"]["message"].startswith("it was not done after 1 s")
    assert said["commands"][0]["stop"]["run"] == 1
    assert said["commands"][-1]["stop"]["reason"] in ("pause", "goto")  # or just between two
    assert len(said["commands"]) < 100


def test_what_is_done_in_time_is_left_alone(cli: Cli) -> None:
    assert cli("run", TUTORIAL, "--timeout", "60").status == 0
    with time_limit(None) as limit:
        assert not limit.is_over
    for text in ("0", "-1", "nan", "inf", "soon", "9" * 400):
        assert cli("run", TUTORIAL, f"--timeout={text}").status == 2


def test_the_terminal_has_none(cli: Cli) -> None:
    result = cli("debug", TUTORIAL, "--timeout", "5")
    assert result.status == 2
    assert "--timeout is for scripts" in result.err


def stubborn() -> None:
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        time.sleep(30)


@pytest.mark.slow
def test_python_that_holds_on_to_an_interrupt_is_asked_again() -> None:
    began = time.monotonic()
    with pytest.raises(GradstepError, match="as long as --timeout allows"), time_limit(0.2):
        stubborn()
    assert time.monotonic() - began < 20


def test_where_interrupts_are_ignored_only_those_of_the_limit_count() -> None:
    """As in the background of a script's shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with time_limit(60):
            signal.raise_signal(signal.SIGINT)
        began = time.monotonic()
        with pytest.raises(GradstepError, match="as long as --timeout allows"), time_limit(0.2):
            time.sleep(8)
        assert time.monotonic() - began < 5
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_that_nobody_would_wait_for_is_refused(cli: Cli) -> None:
    for position in ("999999999:0", "99999999999999999:0"):
        result = cli("debug", TUTORIAL, "--script", f"run_to {position}")
        assert result.status == 1
        assert "runs ahead; the debugger makes at most 10000 at once" in result.out
    assert cli("debug", TUTORIAL, "--script", f"run_to {'9' * 5000}:0").status == 1
