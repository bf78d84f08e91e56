"""What `./dev torch` says, on a few operations and a stand-in that any machine has."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.bench.environments import NotAvailableError
from tests.card import torch_trials
from tests.card.device import Device, open_device
from tests.card.torch_trials import computes_on_host, main, readable, tried
from tests.support.fake_cupy import FakeCupy
from tests.support.fake_xp import FakeArray


class Counting(FakeCupy):
    """The stand-in, which counts what it computes, and is off by a half in one function."""

    computed = 0

    def __getattr__(self, name: str) -> Any:
        if name in ("add", "exp", "matmul"):
            type(self).computed += 1
        if name == "tanh":
            return lambda x, out=None: FakeArray(np.tanh(x.get()) + np.float32(0.5))
        if name == "sinh":
            return self._refuse
        return super().__getattr__(name)

    @staticmethod
    def _refuse(*_: Any, **__: Any) -> Any:
        raise TypeError("there is no sinh")

    def asarray(self, value: Any, dtype: Any = None) -> FakeArray:
        """The array itself where it is one, as PyTorch's namespace has it."""
        is_one = isinstance(value, FakeArray) and dtype is None
        found: FakeArray = value if is_one else self.array(value, dtype)
        return found


@pytest.fixture(scope="module")
def device() -> Device:
    count = lambda: {"computed": Counting.computed, "waits": FakeArray.host_reads}  # noqa: E731
    return replace(open_device("fake"), xp=Counting(), count=count)


def test_it_says_what_was_tried_what_is_refused_and_what_differs(device: Device) -> None:
    found = tried(device, ["AddV2", "Tanh", "Sinh", "Shape"])
    assert found["ops"] == 4
    assert {row[0] for row in found["refused"]} == {"Sinh"}
    assert {row[0] for row in found["differ"]} == {"Tanh"}
    assert found["samples"] > 10
    assert found["host"] == ["Shape", "Tanh"]  # which the stand-in leaves to NumPy
    assert found["examples"]["tried"] == 0
    said = readable(found)
    assert said.startswith("4 operations, ")
    assert "refused: Sinh" in said
    assert "differ: Tanh" in said


def test_an_example_is_tried_node_by_node(device: Device) -> None:
    found = tried(device, ["gather"])
    assert found["examples"]["tried"] == 1
    assert "gather" in found["examples"]["differ"]  # by the rules for a card, which give zeros
    assert "example gather" in readable(found)


def test_what_is_moved_or_computed_there_is_not_on_the_host(device: Device) -> None:
    assert not computes_on_host(device, "AddV2")
    assert not computes_on_host(device, "Identity")
    assert computes_on_host(device, "RandomUniform")


def test_without_pytorch_it_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str, may_install: bool) -> None:
        raise NotAvailableError("there is no uv to install it with")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(torch_trials, "python_of", refuse)
    assert main(["--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "skipped": "PyTorch is not here, and cannot be had: there is no uv to install it with"
    }
