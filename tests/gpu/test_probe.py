"""Every way in which there can be no GPU is told apart, and comes with what to do."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import threading
from collections.abc import Iterator

import pytest

from gradstep.core.installation import extra_command
from gradstep.gpu import probe as module
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.probe import ask, asked, probe, read_canary


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    asked.cache_clear()
    yield
    asked.cache_clear()


def failing(kind: str, text: str) -> str:
    """A child that says what the canary says of an exception."""
    return f"print({json.dumps(json.dumps({'error': kind, 'text': text}))})"


def test_no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status = probe()
    assert not status.available
    assert "CuPy is not installed" in status.text
    assert f"{extra_command('cuda12')} (driver 525 or later)" in status.text
    assert status.commands == tuple(
        dict.fromkeys((extra_command("cuda13"), extra_command("cuda12")))
    )


def test_no_cupy_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "extra_command", "type {}".format)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = "type cuda13 (driver 580 or later) or type cuda12 (driver 525 or later)."
    assert probe().text.endswith(said)
    assert probe().commands == ("type cuda13", "type cuda12")


@pytest.mark.parametrize(
    ("kind", "text", "remedy"),
    [
        (
            "CUDARuntimeError",
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient",
            "no NVIDIA driver, or one too old: install driver 580",
        ),
        (
            "CUDARuntimeError",
            "cudaErrorNoDevice: no CUDA-capable device is detected",
            "the driver sees no NVIDIA GPU: check 'nvidia-smi'",
        ),
        ("DynamicLibNotFoundError", "Failure finding libnvrtc.so", extra_command("cuda12")),
        ("ImportError", "libcublas.so.13: cannot open", extra_command("cuda12")),
        ("OutOfMemoryError", "out of memory allocating 512 bytes", "close other programs"),
        ("CompileException", "nvrtc: error\nline 2", "CompileException: nvrtc: error"),
        ("AssertionError", "", "a first computation failed: AssertionError"),
    ],
)
def test_a_canary_that_fails(kind: str, text: str, remedy: str) -> None:
    status = ask(failing(kind, text), 30)
    assert not status.available
    assert status.text.startswith("CuPy is installed, but ")
    assert remedy in status.text
    assert "\n" not in status.text


def test_a_canary_that_sings() -> None:
    facts = {"name": "NVIDIA H100", "count": 1, "version": "14.2.0", "driver": "580.1"}
    said = json.dumps({**facts, "cuda": 13010})
    status = ask(f"print('a warning of some library'); print({said!r})", 30)
    assert status.available
    assert status.name == "NVIDIA H100"
    assert status.text == "NVIDIA H100, driver 580.1, CUDA 13.1, CuPy 14.2.0"


@pytest.mark.parametrize(
    "canary", ["import os; os.abort()", "pass", "print('?')", "print(7)", "print('[1, 2]')"]
)
def test_a_canary_that_dies_or_raves(canary: str) -> None:
    status = ask(canary, 30)
    assert not status.available
    assert "nvidia-smi" in status.text


@pytest.mark.slow
def test_a_canary_that_hangs() -> None:
    status = ask("import time; time.sleep(60)", 0.3)
    assert not status.available
    assert "did not answer within 0.3 s" in status.text


def test_the_real_canary_reports_a_missing_cupy_itself(tmp_path) -> None:
    """Its own text runs, as far as that goes without CuPy: the import is reported."""
    hidden = "import sys; sys.modules['cupy'] = None\n" + module._CANARY
    status = ask(hidden, 30)
    assert not status.available
    assert "ModuleNotFoundError" in status.text


def test_it_asks_once_and_nobody_waits_longer_than_he_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered, calls = threading.Event(), list[str]()

    def slowly(canary: str, timeout_s: float) -> DeviceStatus:
        calls.append(canary)
        answered.wait(60)
        return DeviceStatus(True, "a card", "a card, CuPy 14")

    monkeypatch.setattr(module, "ask", slowly)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    waiting = probe(0)
    assert waiting.asking
    assert not waiting.available
    assert "still asking" in waiting.text
    assert probe(0.01) == waiting
    answered.set()
    assert probe(60).name == "a card"
    assert not probe(0).asking
    assert calls == [module._CANARY]


def test_where_no_process_may_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    status = ask("print('{}')", 30)
    assert not status.available
    assert "where no process may be started" in status.text


def test_output_without_a_last_line() -> None:
    assert "exit status -11" in read_canary("", -11).text
