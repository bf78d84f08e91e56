"""Devices by name: what each opens, and what is said of those that are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.ops.declare.system_rules import OutOfRange
from gradstep.gpu import device_table, torch_probe
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from tests.support.each_case import each_of

ROOT = Path(__file__).parents[2]
MISSING = DeviceStatus(False, text="CuPy is not installed. With an NVIDIA GPU: ./dev setup --gpu")
THERE = DeviceStatus(True, "NVIDIA H100", "NVIDIA H100, CuPy 14.2.0")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> DeviceServices:
    monkeypatch.setattr(device_table, "probe", lambda patience_s: MISSING)
    monkeypatch.setattr(torch_probe, "is_installed", lambda: False)
    return Devices()


@pytest.mark.parametrize("name", ["cpu", "cpu:native"])
def test_the_processor(name: str) -> None:
    backend = Devices().open_backend(name)
    assert type(backend) is NumpyBackend
    assert backend.measured
    assert backend.name == name
    assert backend.rules.negative_ok == (name == "cpu:native")


@each_of("profile", PROFILES)
def test_emulated_systems(profile: str) -> None:
    backend = Devices().open_backend(f"emulate:{profile}")
    assert isinstance(backend, EmulatedBackend)
    assert (backend.name, backend.measured) == (f"emulate:{profile}", False)


@pytest.mark.parametrize("name", ["gpu", "gpu:native"])
def test_a_gpu_that_is_missing(no_gpu: DeviceServices, name: str) -> None:
    with pytest.raises(GradstepError) as caught:
        no_gpu.open_backend(name)
    assert caught.value.kind == "DeviceNotFoundError"
    assert MISSING.text in caught.value.message
    assert "emulate:tf-gpu" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "rule"), [("gpu", OutOfRange.ZERO), ("gpu:native", OutOfRange.WRAP)]
)
def test_a_gpu_that_is_there(monkeypatch: pytest.MonkeyPatch, name: str, rule: OutOfRange) -> None:
    from gradstep.gpu import cupy_backend
    from tests.support.fake_cupy import FakeCupy

    monkeypatch.setattr(device_table, "probe", lambda patience_s: THERE)
    monkeypatch.setattr(cupy_backend, "_cupy", FakeCupy)
    backend = Devices().open_backend(name)
    assert (backend.name, backend.measured) == (name, True)
    assert backend.rules.gather is rule
    assert "NVIDIA H100" in backend.source


@pytest.mark.parametrize("name", ["tpu", "emulate:", "emulate:tpu", "cpu:fast", "GPU"])
def test_a_name_that_means_nothing(name: str) -> None:
    with pytest.raises(GradstepError, match="there is no device") as caught:
        Devices().open_backend(name)
    assert caught.value.kind == "ValueError"
    assert "tf-gpu" in caught.value.hint


def test_what_there_is_and_is_not_is_told(no_gpu: DeviceServices) -> None:
    told = {device.name: device for device in no_gpu.describe(0)}
    torch = {"torch:cpu", "torch:cpu:native"}
    assert set(told) == {"cpu", "cpu:native", "gpu", "gpu:native"} | torch | {
        f"emulate:{name}" for name in PROFILES
    }
    missing = {name for name, device in told.items() if not device.available}
    assert missing == {"gpu", "gpu:native"} | torch
    assert told["gpu"].text == MISSING.text
    for name in PROFILES:
        assert told[f"emulate:{name}"].kind == "emulated"
        assert told[f"emulate:{name}"].source


@pytest.mark.slow
def test_everything_but_a_gpu_works_without_importing_cupy() -> None:
    """In this process, too, CuPy would cost a second and 24 MB, and may hang."""
    code = """
import sys
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import PROFILES
devices = Devices()
devices.describe(0)
for name in ("cpu", "cpu:native", *(f"emulate:{p}" for p in PROFILES)):
    devices.open_backend(name)
import gradstep.gpu.cupy_backend
heavy = {"cupy", "cupyx", "cupy_backends", "torch"}
assert not {name.partition(".")[0] for name in sys.modules} & heavy
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
