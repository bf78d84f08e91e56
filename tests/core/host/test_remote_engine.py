"""Addresses of engines on other machines, and what of them gets into a command."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.host.machine_report import doctor_command
from gradstep.core.host.remote_engine import RemoteEngine, read_address


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("ssh://gpubox", RemoteEngine("gpubox")),
        ("ssh://gpubox/", RemoteEngine("gpubox")),
        ("ssh://me@gpu.example.org:2222", RemoteEngine("gpu.example.org", "me", 2222)),
        ("ssh://gpubox/opt/gs/.venv", RemoteEngine("gpubox", path="/opt/gs/.venv")),
        ("ssh://me@gpubox/~/gs/.venv/bin/python3.12", RemoteEngine("gpubox", "me", 0,
                                                                  "gs/.venv/bin/python3.12")),
        ("ssh://[fe80::1%eth0]:22/x y", RemoteEngine("fe80::1%eth0", port=22, path="/x y")),
    ],
)  # fmt: skip
def test_an_address_is_read_and_written(text: str, engine: RemoteEngine) -> None:
    assert read_address(text) == engine
    assert engine.address == text.rstrip("/")
    assert read_address(engine.address) == engine


@pytest.mark.parametrize(
    "text",
    [
        "", "gpubox", "ssh://", "ssh://-oProxyCommand=touch x", "ssh://-x@gpubox", "ssh:///usr",
        "ssh://me@@gpubox", "ssh://gpubox;ls", "ssh://$(ls)", "ssh://gpu box", "ssh://gpubox:0",
        "ssh://gpubox:65536", "ssh://gpubox:", "ssh://gpubox:22x", "ssh://gpubox\n", "ssh://a/b\nc",
        "ssh://gpubox/a\\b", "ssh://[-x]", "ssh://[::1", "http://gpubox", "ssh://@gpubox",
        "ssh://gpubox%h", "ssh://a'b", "ssh://gpubox/x\x1b[2J",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(GradstepError) as refused:
        read_address(text if text != "ssh://gpubox\n" else "ssh://gpubox\nx")
    assert refused.value.kind == "UsageError"
    assert refused.value.hint


def test_what_is_started_there_hangs_on_what_the_path_is_of() -> None:
    def started(path: str) -> str:
        argv = RemoteEngine("h", path=path).argv
        return " ".join(argv[argv.index("--") + 2 :])

    by_module = "-P -m gradstep.main engine --stdio"
    assert started("") == "gradstep engine --stdio"
    assert started("/opt/gs") == f"/opt/gs/bin/python {by_module}"
    assert started("/opt/gs/bin/python3.12") == f"/opt/gs/bin/python3.12 {by_module}"
    assert started("gs/bin/gradstep") == "./gs/bin/gradstep engine --stdio"


def test_ssh_asks_nothing_forwards_nothing_and_takes_no_option_from_the_host() -> None:
    argv = RemoteEngine("h", "me", 2222).argv
    at = argv.index("--")
    assert argv[at + 1] == "h"
    before = argv[:at]
    assert before[:4] == ["ssh", "-T", "-a", "-x"]
    assert before[-4:] == ["-p", "2222", "-l", "me"]
    assert {"BatchMode=yes", "ClearAllForwardings=yes"} <= {*before}


def test_the_doctor_of_that_machine_is_the_one_asked() -> None:
    assert doctor_command(RemoteEngine("h").argv)[-3:] == ["gradstep", "doctor", "--json"]


@given(path=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_a_path_is_one_word_for_the_shell_there(path: str) -> None:
    try:
        engine = read_address(f"ssh://h/{path}")
    except GradstepError:
        assert "\\" in path or not path.rstrip().isprintable()  # the end is stripped
        return
    argv = engine.argv
    words = shlex.split(" ".join(argv[argv.index("--") + 2 :]))
    assert words[-2:] == ["engine", "--stdio"]
    if engine.path:
        assert len(words) in (3, 6)
        assert engine.path.rstrip("/") in words[0]
        assert not words[0].startswith("-")


@pytest.mark.parametrize(
    ("status", "said", "greeted", "what", "hint"),
    [
        (255, ["ssh: connect to host h port 22: Connection refused"], False,
         "h cannot be reached: ssh: connect", "check the name"),
        (255, ["me@h: Permission denied (publickey)."], False, "Permission denied", "ssh me@h"),
        (255, ["@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", "x",
               "Host key verification failed."], False, "Host key", "look at its key"),
        (255, ["Timeout, server h not responding."], True, "was lost: Timeout", "same step"),
        (255, [], True, "the connection to h was lost", "same step"),
        (127, ["bash: line 1: gradstep: command not found"], False, "there is no Gradstep on h",
         "ssh://h/path"),
        (1, ["/usr/bin/python: No module named gradstep"], False, "there is no Gradstep on h",
         "install it there"),
    ],
)  # fmt: skip
def test_why_it_ended_is_said_with_what_to_do(
    status: int, said: list[str], greeted: bool, what: str, hint: str
) -> None:
    error = RemoteEngine("h", "me").end(status, said, greeted)
    assert error is not None
    assert error.kind == "EngineDied"
    assert what in error.message
    assert hint in error.hint


def test_other_ends_are_as_on_this_machine() -> None:
    assert RemoteEngine("h").end(1, ["Fatal Python error: Segmentation fault"], True) is None
    assert RemoteEngine("h").end(127, ["x: not found"], True) is None
