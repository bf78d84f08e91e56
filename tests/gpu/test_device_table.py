"""The table of devices, and what plug-ins bring into it."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.gpu import device_table, torch_probe
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.device_table import GROUP, DeviceEntry, entries
from gradstep.gpu.devices import Devices

READY = DeviceStatus(True, "a board", "a board of ours")
BOARD = DeviceEntry(
    "board:0", "gpu", lambda patience_s: READY, lambda status: NumpyBackend(name=status.name)
)
IMPOSTOR = DeviceEntry("cpu", "cpu", lambda patience_s: READY, lambda status: NumpyBackend())


class _Point:
    """An entry point as importlib.metadata gives it: what a package brings under a name."""

    def __init__(self, name: str, brings: Any) -> None:
        self.name, self.value, self.dist, self._brings = name, "a_package:devices", None, brings

    def load(self) -> Any:
        if isinstance(self._brings, Exception):
            raise self._brings
        return self._brings


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(torch_probe, "is_installed", lambda: False)

    def install(*points: _Point) -> None:
        def found(*, group: str) -> tuple[Any, ...]:
            assert group == GROUP
            return points

        monkeypatch.setattr(device_table, "entry_points", found)

    return install


@pytest.mark.parametrize("brings", [BOARD, [BOARD], (BOARD,)])
def test_a_plugin_brings_a_device(plugins: Any, brings: Any) -> None:
    plugins(_Point("board", brings))
    told = {device.name: device for device in Devices().describe(0)}
    assert told["board:0"].available
    assert told["board:0"].text == "a board of ours"
    assert Devices().open_backend("board:0").name == "a board"


@pytest.mark.parametrize(
    ("brings", "said"),
    [
        (ImportError("no module of that name\nat all"), "ImportError: no module of that name"),
        (7, "TypeError: 'int' object is not iterable"),
        (["board"], "it gives str where a DeviceEntry should be"),
    ],
)
def test_a_plugin_that_does_not_load_costs_its_own_device_alone(
    plugins: Any, brings: Any, said: str
) -> None:
    plugins(_Point("board", brings), _Point("other", BOARD))
    told = {device.name: device for device in Devices().describe(0)}
    assert not told["board"].available
    assert said in told["board"].text
    assert "\n" not in told["board"].text
    assert told["board:0"].available
    with pytest.raises(GradstepError, match="cannot be loaded"):
        Devices().open_backend("board")


def test_a_plugin_takes_no_device_of_ours_away(plugins: Any) -> None:
    plugins(_Point("cpu", IMPOSTOR))
    assert Devices().open_backend("cpu").name == "cpu"
    assert entries()["cpu"].probe(0).text != READY.text


def test_devices_by_pytorchs_own_rules_say_so(
    plugins: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins()
    there = DeviceStatus(True, text="PyTorch 2.13 on this processor")
    monkeypatch.setattr(device_table, "probe_torch", lambda kind, patience_s: there)
    told = {device.name: device.text for device in Devices().describe(0)}
    assert told["torch:cpu"] == there.text
    assert told["torch:cpu:native"] == f"{there.text}; indices as PyTorch has them"


def test_every_name_is_one_of_a_kind_and_says_what_it_is(plugins: Any) -> None:
    plugins()
    found = entries()
    assert {"cpu", "torch:cpu", "torch:mps", "torch:xpu", "torch:cuda", "torch:hip"} <= set(found)
    for name, entry in found.items():
        assert entry.name == name
        assert entry.probe(0).text


def test_entry_points_are_what_python_calls_them() -> None:
    """The stand-in above has what is asked of a real one."""
    real = EntryPoint("board", "a_package:devices", GROUP)
    assert {"name", "value", "dist", "load"} <= set(dir(real))
