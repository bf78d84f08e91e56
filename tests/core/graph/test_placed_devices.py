"""Devices in the field of a NodeDef, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.placed_devices import device_of, device_spec
from gradstep.gpu.device_table import entries
from tests.support.each_case import each_of

WORD = st.from_regex(r"[a-z0-9]+", fullmatch=True)


@each_of(
    ("name", "spec"),
    [
        ("", ""),
        ("cpu", "/device:NUMPY:0"),
        ("gpu", "/device:CUPY:0"),
        ("gpu:native", "/device:CUPY_NATIVE:0"),
        ("torch:cpu", "/device:TORCH_CPU:0"),
        ("emulate:tf-gpu", "/device:EMULATE_TF__GPU:0"),
    ],
)
def test_each_has_a_type_of_its_own(name: str, spec: str) -> None:
    assert device_spec(name) == spec
    assert device_of(spec) == name


def test_every_device_of_the_table_comes_back() -> None:
    for name in entries():
        assert device_of(device_spec(name)) == name


@given(first=st.from_regex(r"[a-z][a-z0-9]*", fullmatch=True), rest=st.lists(
    st.tuples(st.sampled_from(":-_"), WORD), max_size=3))  # fmt: skip
def test_any_name_comes_back(first: str, rest: list[tuple[str, str]]) -> None:
    name = first + "".join(sign + word for sign, word in rest)
    spec = device_spec(name)
    if spec not in ("/device:TPU:0",) and not first.startswith(("numpy", "cupy", "xla", "custom")):
        assert device_of(spec) == name


@each_of(
    "spec", ["/device:GPU:0", "/device:CPU:0", "/gpu:0", "/job:worker/task:1/device:GPU:1", "x",
             "/device:TORCH_CPU:1", "/device:TORCH____CPU:0", "/device:TORCH_:0"]
)  # fmt: skip
def test_what_is_not_of_this_program_is_a_wish(spec: str) -> None:
    assert device_of(spec) == ""


@each_of("name", ["Torch", "torch cpu", ":", "torch:", "torch::cpu", "a/b", "é"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a device"):
        device_spec(name)
