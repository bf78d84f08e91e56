"""What is said of PyTorch's devices: without PyTorch, while it has not answered, and after."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.installation import extra_command
from gradstep.gpu import torch_probe as module
from gradstep.gpu.devices import Devices
from gradstep.gpu.torch_probe import TorchAnswer, ask, asked, probe_torch, status_of

ANSWER = TorchAnswer(
    "2.13.0",
    {
        "cpu": {"name": ""},
        "cuda": {"name": "NVIDIA H100"},
        "xpu": {"error": "RuntimeError", "text": "No XPU devices\nare available."},
    },
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    asked.cache_clear()
    yield
    asked.cache_clear()


@pytest.fixture
def _without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_installed", lambda: False)


@pytest.mark.usefixtures("_without")
@pytest.mark.parametrize("name", ["torch:cpu", "torch:cpu:native", "torch:mps", "torch:hip"])
def test_without_pytorch_one_line_says_how_to_get_it(name: str) -> None:
    with pytest.raises(GradstepError) as caught:
        Devices().open_backend(name)
    assert caught.value.kind == "DeviceNotFoundError"
    assert caught.value.message == (
        f"there is no {name} here: PyTorch is not installed: {extra_command('torch')}"
    )


@pytest.mark.usefixtures("_without")
def test_without_pytorch_the_list_has_the_processor_and_what_to_type() -> None:
    torch = [device for device in Devices().describe(0) if device.kind == "torch"]
    assert [device.name for device in torch] == ["torch:cpu", "torch:cpu:native"]
    assert all(device.commands == [extra_command("torch")] for device in torch)
    assert not any(device.available or device.asking for device in torch)


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_installed", lambda: True)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.13.0")


@pytest.mark.usefixtures("_installed")
def test_while_it_has_not_answered_the_processor_is_there_and_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()

    def slowly(canary: str, timeout_s: float) -> TorchAnswer:
        answered.wait(60)
        return ANSWER

    monkeypatch.setattr(module, "ask", slowly)
    told = {device.name: device for device in Devices().describe(0) if device.kind == "torch"}
    assert set(told) == {"torch:cpu", "torch:cpu:native"}
    assert told["torch:cpu"].available
    assert told["torch:cpu"].asking
    assert "still asking" in told["torch:cpu"].text
    card = probe_torch("cuda", 0)
    assert card.asking
    assert not card.available
    answered.set()
    assert probe_torch("cuda", 60).available
    told = {device.name: device for device in Devices().describe(0) if device.kind == "torch"}
    kinds = ("cpu", "xpu", "cuda")
    assert set(told) == {f"torch:{k}{native}" for k in kinds for native in ("", ":native")}
    assert not any(device.asking for device in told.values())


def test_what_an_answer_means() -> None:
    assert status_of("cpu", ANSWER).text == "PyTorch 2.13.0 on this processor"
    card = status_of("cuda", ANSWER)
    assert card.available
    assert card.name == "NVIDIA H100"
    assert card.text == "PyTorch 2.13.0 on NVIDIA H100"
    apple = TorchAnswer("2.13.0", {"mps": {"name": ""}})
    assert "untested" in status_of("mps", apple).text
    broken = status_of("xpu", ANSWER)
    assert not broken.available
    assert broken.text == ("PyTorch 2.13.0 does not compute on an Intel GPU: No XPU devices")
    assert status_of("mps", ANSWER).text == "PyTorch 2.13.0 is not built for an Apple GPU"


@pytest.mark.parametrize(
    ("canary", "said"),
    [
        ("import os; os.abort()", "ended the process that tried it (exit status"),
        ("print('?')", "ended the process that tried it"),
        (f"print({json.dumps({'error': 'ImportError', 'text': 'libc10.so'})!r})", "cannot be"),
        ("import time; time.sleep(60)", "did not answer within"),
    ],
)
def test_a_canary_that_fails(canary: str, said: str) -> None:
    hangs = "sleep" in canary
    answer = ask(canary, 0.3 if hangs else 60)
    assert said in answer.error
    status = status_of("cpu", answer)
    assert not status.available
    assert status.text.startswith("PyTorch is installed, but ")


def test_the_real_canary_reports_what_keeps_pytorch_from_being_imported() -> None:
    """Its own text runs, as far as that goes without PyTorch."""
    hidden = "import sys; sys.modules['torch'] = None\n" + module._CANARY
    assert "cannot be imported: ModuleNotFoundError" in ask(hidden, 60).error


@pytest.mark.usefixtures("_installed")
def test_in_a_sandbox_the_processor_is_there_and_nothing_else_can_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert probe_torch("cpu", 60).available
    card = probe_torch("cuda", 60)
    assert not card.available
    assert card.text == (
        "PyTorch 2.13.0 is installed, but it cannot be tried here, where no process may be started"
    )


@pytest.mark.usefixtures("_installed")
def test_a_pytorch_that_cannot_be_imported_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ask", lambda canary, timeout_s: ANSWER)
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [m for m in sys.modules if m.startswith("gradstep.gpu.torch_device.torch_backend")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(GradstepError, match="PyTorch cannot be imported: ") as caught:
        Devices().open_backend("torch:cpu")
    assert caught.value.kind == "DeviceNotFoundError"
