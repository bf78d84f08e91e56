"""Arrays over PyTorch's tensors, held to NumPy's; where PyTorch is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

pytest.importorskip("torch")

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.gpu.devices import Devices
from gradstep.gpu.torch_device.elementwise import COMPUTED
from gradstep.gpu.torch_device.linear_algebra import by_limbs
from gradstep.gpu.torch_device.namespace import TorchNamespace
from gradstep.gpu.torch_device.refusals import told
from gradstep.gpu.torch_device.torch_array import TorchArray, to_host
from tests.support.drawn_share import share

torch: Any = pytest.importorskip("torch")
xp: Any = TorchNamespace("cpu")
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
SHAPES = nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def same(found: Any, wanted: Any) -> None:
    assert isinstance(found, TorchArray)
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(to_host(found), wanted)


@pytest.mark.parametrize("dtype", [*"?bBhHiIqQefdFD", BFLOAT16])
def test_what_comes_back_are_the_same_bits(dtype: Any) -> None:
    x = np.arange(6).reshape(2, 3).astype(dtype)
    back = to_host(xp.asarray(x[::-1, ::2]))
    assert back.dtype == x.dtype
    assert back.tobytes() == np.ascontiguousarray(x[::-1, ::2]).tobytes()


@given(st.data())
def test_reading_and_writing_by_any_slice(data: Any) -> None:
    shape = data.draw(SHAPES)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    index = data.draw(nps.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    array = xp.asarray(x)
    same(array[index], x[index])
    value = np.arange(x[index].size).reshape(x[index].shape) - 100
    array[index] = xp.asarray(value)
    x[index] = value
    same(array, x)


@given(st.data())
@settings(max_examples=share(60))
def test_unsigned_integers_count_modulo_their_range_in_their_own_order(data: Any) -> None:
    dtype = data.draw(st.sampled_from(UNSIGNED))
    most = int(np.iinfo(dtype).max)
    numbers = st.sampled_from([0, 1, 2, 3, most // 2, most // 2 + 1, most - 1, most])
    a = np.array(data.draw(st.lists(numbers, min_size=5, max_size=5)), dtype)
    b = np.array(data.draw(st.lists(numbers, min_size=5, max_size=5)), dtype)
    x, y = xp.asarray(a), xp.asarray(b)
    for (
        name
    ) in "add subtract multiply bitwise_xor maximum minimum less greater_equal equal".split():
        same(getattr(xp, name)(x, y), getattr(np, name)(a, b))
    divisor = np.maximum(b, 1).astype(dtype)
    for name in ("floor_divide", "remainder"):
        same(getattr(xp, name)(x, xp.asarray(divisor)), getattr(np, name)(a, divisor))
    same(xp.max(x), a.max())
    same(xp.sum(x, dtype=dtype), a.sum(dtype=dtype))
    same(xp.argsort(x), np.argsort(a, kind="stable"))
    same(xp.unique(x), np.unique(a))
    same(x.astype(np.float64), a.astype(np.float64))
    same(x.astype(np.int16), a.astype(np.int16))


@pytest.mark.parametrize("name", COMPUTED)
def test_zeros_infinities_and_nans_give_what_they_give_in_numpy(name: str) -> None:
    some = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.0, -3.0, np.inf, -np.inf, np.nan]
    if name == "sign":
        some.pop()  # of NaN it is 0 there, which is a rule of PyTorch's (docs/devices.md)
    function, operands = getattr(np, name), np.meshgrid(*[some] * getattr(np, name).nin)
    with np.errstate(all="ignore"):
        try:
            wanted = function(*operands)
        except TypeError:
            pytest.skip("NumPy has it for whole numbers alone")
    found = to_host(getattr(xp, name)(*map(xp.asarray, operands)))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=0, equal_nan=True)


def test_complex_numbers_compare_by_the_real_part_first() -> None:
    a = np.array([1 + 2j, 1 + 3j, 2 - 1j, 0j], np.complex64)
    b = np.array([1 + 3j, 1 + 2j, 1 + 9j, 0j], np.complex64)
    for name in ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum"):
        same(getattr(xp, name)(xp.asarray(a), xp.asarray(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("axis", [None, (), 0, -1, (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_any_axes(axis: Any, keepdims: bool) -> None:
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4) - 7
    array = xp.asarray(x)
    for name in ("sum", "prod", "max", "min", "any", "all"):
        wanted = getattr(np, name)(x, axis=axis, keepdims=keepdims)
        same(getattr(xp, name)(array, axis=axis, keepdims=keepdims), wanted)


def test_a_place_is_written_to_and_no_other() -> None:
    x = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    whole = xp.zeros((3, 8), np.float32)
    place = whole[:, 2:6]
    assert xp.add(xp.asarray(x), xp.asarray(x[:1]), place) is place
    wanted = np.zeros((3, 8), np.float32)
    wanted[:, 2:6] = x + x[:1]
    same(whole, wanted)
    assert xp.multiply(place, 2, out=place) is place
    same(place, (x + x[:1]) * np.float32(2))


def test_bytes_of_an_arena_are_arrays() -> None:
    block = xp.empty((64,), np.uint8)
    view = block[16:40].view(np.float64).reshape((3,))
    view[...] = 1.5
    same(block[16:40].view(np.float64), np.full(3, 1.5))
    assert view.strides == (8,)
    assert view.flags.c_contiguous


def test_rows_are_taken_to_a_place() -> None:
    x, out = xp.asarray(np.arange(6.0).reshape(2, 3)), xp.empty((2, 2))
    assert xp.take(x, xp.asarray(np.array([2, 0])), axis=1, out=out) is out
    same(out, np.array([[2.0, 0.0], [5.0, 3.0]]))


def test_the_same_place_twice_adds_twice() -> None:
    x = xp.zeros((3,), np.float32)
    xp.add.at(x, xp.asarray(np.array([0, 2, 0])), xp.asarray(np.float32([1, 2, 3])))
    same(x, np.array([4, 0, 2], np.float32))
    assert not hasattr(xp.multiply, "at")


@pytest.mark.parametrize("mode", ["constant", "reflect", "symmetric"])
def test_padding(mode: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    same(xp.pad(xp.asarray(x), [(1, 2), (0, 3)], mode), np.pad(x, [(1, 2), (0, 3)], mode))


def test_places_of_distinct_numbers() -> None:
    x = np.array([3, 1, 3, 2, 1, 1])
    asked = {"return_index": True, "return_inverse": True, "return_counts": True}
    for found, wanted in zip(xp.unique(xp.asarray(x), **asked), np.unique(x, **asked), strict=True):
        same(found, wanted)


def test_what_pytorch_refuses_is_one_line_and_a_name() -> None:
    x = xp.asarray(np.array([1.0 + 0j]))
    with pytest.raises(GradstepError, match="PyTorch does not compute 'floor' here: ") as caught:
        xp.floor(x)
    assert caught.value.kind == "UnimplementedError"
    assert "\n" not in caught.value.message
    with pytest.raises(AttributeError, match="have no function 'fft'"):
        xp.fft(x)
    with pytest.raises(GradstepError, match="an array on the host"):
        xp.add(x, np.array([1.0]))
    for refuse in (bool, float, np.asarray, list):
        with pytest.raises(TypeError, match="Implicit conversion"):
            refuse(xp.asarray(np.array([1.0])))


def test_a_singular_matrix_is_told_as_numpy_tells_it() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.inv(xp.zeros((2, 2)))
    with pytest.raises(ValueError, match="must match"):
        xp.add(xp.zeros((2,)), xp.zeros((3,)))


@given(st.data())
def test_whole_numbers_are_multiplied_by_their_bits_where_there_is_no_product_of_them(
    data: Any,
) -> None:
    dtype = data.draw(st.sampled_from(["int8", "uint8", "int16", "int32", "int64"]))
    shapes = data.draw(nps.mutually_broadcastable_shapes(signature=np.matmul.signature))
    a, b = (data.draw(nps.arrays(dtype, shape)) for shape in shapes.input_shapes)
    with np.errstate(all="ignore"):
        wanted = np.matmul(a, b)
    found = by_limbs(torch.from_numpy(np.array(a)), torch.from_numpy(np.array(b)))
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_more_terms_than_one_sum_holds_are_parted() -> None:
    ones = torch.full(((1 << 20) + 3,), (1 << 31) - 1, dtype=torch.int32)
    assert int(by_limbs(ones, ones)) == int(torch.dot(ones, ones))


def test_a_lost_card_is_the_drivers_error_and_no_missing_function() -> None:
    error = told("add", RuntimeError("CUDA error: device-side assert triggered\nCompile with…"))
    assert type(error) is RuntimeError
    assert str(error) == "CUDA error: device-side assert triggered"


def test_the_device_says_what_it_is() -> None:
    backend = Devices().open_backend("torch:cpu")
    assert backend.measured
    assert backend.name == "torch:cpu"
    assert backend.source.startswith("measured on PyTorch ")
    assert not backend.rules.negative_ok
    assert Devices().open_backend("torch:cpu:native").rules.negative_ok
    backend.sync()
    assert backend.memory() == 0
