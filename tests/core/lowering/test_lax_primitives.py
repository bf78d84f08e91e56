"""JAX's primitives one by one, where no traced function comes: at edges, and other ways round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.lowering.foreign_graph import ForeignRef
from gradstep.core.lowering.lax import LAX
from tests.support.each_case import each_of
from tests.support.foreign_operation import computed, lowered, slope


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_names_that_functions_use_are_there() -> None:
    names = {name for name, _ in LAX}
    assert len(names) >= 115
    assert names >= {"dot_general", "conv_general_dilated", "gather", "scatter-add", "select_n"}


def test_a_clamp_stops_the_gradient_on_its_bounds() -> None:
    x = f32(-2, -1, 0, 1, 2)
    args = {"min": -1.0, "max": 1.0}
    np.testing.assert_array_equal(
        computed("lax.clamp", {"x": x}, x, **args)[0], f32(-1, -1, 0, 1, 1)
    )
    np.testing.assert_array_equal(slope("lax.clamp", {"x": x}, x, "x", **args), f32(0, 0, 1, 0, 0))


@pytest.mark.parametrize("op", ["lax.max", "lax.min"])
def test_equal_numbers_share_a_gradient(op: str) -> None:
    given = {"x": f32(1, 2), "y": f32(1, 1)}
    mine = slope(op, given, f32(0, 0), "x")
    np.testing.assert_array_equal(mine, f32(0.5, op == "lax.max"))
    np.testing.assert_array_equal(mine + slope(op, given, f32(0, 0), "y"), f32(1, 1))


def test_a_remainder_has_the_sign_of_the_first() -> None:
    x, y = f32(5.5, -5.5, 5.5, 6), f32(2, 2, -2, 2)
    np.testing.assert_array_equal(computed("lax.rem", {"x": x, "y": y}, x)[0], np.fmod(x, y))
    np.testing.assert_array_equal(slope("lax.rem", {"x": x, "y": y}, x, "x"), f32(1, 1, 1, 1))
    np.testing.assert_array_equal(slope("lax.rem", {"x": x, "y": y}, x, "y"), f32(-2, 2, 2, -3))


def test_rounding() -> None:
    x = f32(-2.5, -0.5, 0.5, 1.5, 2.5)
    for method, wanted in (
        ("to_nearest_even", np.rint(x)),
        ("away_from_zero", f32(-3, -1, 1, 2, 3)),
    ):
        found = computed("lax.round", {"x": x}, x, rounding_method=method)[0]
        np.testing.assert_array_equal(found, wanted)


def test_an_order_of_all_numbers() -> None:
    x, y = f32(1, np.nan, 1, np.nan), f32(2, 2, np.nan, np.nan)
    out = np.zeros(4, bool)
    assert computed("lax.lt_to", {"x": x, "y": y}, out)[0].tolist() == [True, False, True, False]
    assert computed("lax.le_to", {"x": x, "y": y}, out)[0].tolist() == [True, False, True, True]


def test_sorting_by_two_keys_takes_others_along() -> None:
    first, second = np.array([2, 1, 2, 1, -3], np.int32), f32(1, 5, 0, 4, 9)
    rest = np.arange(5, dtype=np.int32)
    given = {"a": first, "b": second, "c": rest}
    found = computed(
        "lax.sort", given, first, second, rest, operands=[ForeignRef(k) for k in given],
        dimension=0, num_keys=2,
    )  # fmt: skip
    order = np.lexsort((second, first))
    for one, x in zip(found, given.values(), strict=True):
        np.testing.assert_array_equal(one, x[order])


@pytest.mark.parametrize("op", ["cummax", "cummin"])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_extremes(op: str, reverse: bool) -> None:
    x = f32([3, 1, 2], [0, 5, -1], [4, -2, 0])
    running = np.maximum if op == "cummax" else np.minimum
    turned = x[:, ::-1] if reverse else x
    wanted = running.accumulate(turned, 1)
    found = computed(f"lax.{op}", {"x": x}, x, axis=1, reverse=reverse)[0]
    np.testing.assert_array_equal(found, wanted[:, ::-1] if reverse else wanted)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_product_undone(transpose: bool, axis: int) -> None:
    a = f32([2, 1], [0.5, 3])
    x = f32([1, 2], [3, 5])
    matrix = a.T if transpose else a
    wanted = np.linalg.solve(matrix, x) if axis == 0 else np.linalg.solve(matrix, x.T).T
    args = {"axis": axis, "transpose": transpose}
    found = computed("lax.linear_solve", {"matrix": a, "x": x}, x, **args)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@each_of("left", [False, True])
@each_of("lower", [False, True])
@each_of("turned", [False, True])
@each_of("ones", [False, True])
def test_triangles(left: bool, lower: bool, turned: bool, ones: bool) -> None:
    a, b = f32([2, 1.5], [-0.5, 4]), f32([1, 2], [3, 5])
    triangle = np.tril(a) if lower else np.triu(a)
    if ones:
        np.fill_diagonal(triangle, 1)
    triangle = triangle.T if turned else triangle
    wanted = np.linalg.solve(triangle, b) if left else np.linalg.solve(triangle.T, b.T).T
    found = computed(
        "lax.triangular_solve", {"a": a, "b": b}, b, left_side=left, lower=lower,
        transpose_a=turned, unit_diagonal=ones, conjugate_a=False,
    )[0]  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_padding_between_and_below_zero() -> None:
    x = f32([1, 2, 3])
    found = computed(
        "lax.pad", {"operand": x}, np.zeros((2, 5), np.float32), padding_value=9.0,
        padding_config=[[0, 1, 0], [-1, 1, 1]],
    )[0]  # fmt: skip
    np.testing.assert_array_equal(found, f32([9, 2, 9, 3, 9], [9] * 5))


def test_a_choice_of_several() -> None:
    which = np.array([2, 0, 1], np.int32)
    cases = {"a": f32(1, 2, 3), "b": f32(4, 5, 6), "c": f32(7, 8, 9)}
    given = {"which": which, **cases}
    found = computed(
        "lax.select_n", given, which.astype(np.float32), cases=[ForeignRef(k) for k in cases]
    )
    np.testing.assert_array_equal(found[0], f32(7, 2, 6))


def test_windows_with_gaps_take_the_largest() -> None:
    x = f32([1, 5, 2, 8, 3, 0])
    found = computed(
        "lax.reduce_window_max", {"x": x}, np.zeros((1, 2), np.float32),
        window_dimensions=[1, 2], window_strides=[1, 2], padding=[[0, 0], [0, 0]],
        base_dilation=[1, 1], window_dilation=[1, 3],
    )[0]  # fmt: skip
    np.testing.assert_array_equal(found, f32([8, 2]))


@each_of("groups", [1, 2, 4])
def test_groups_of_examples_go_to_channels_of_their_own(groups: int) -> None:
    """As a gradient to the kernels of groups has it: each as a convolution by itself."""
    drawn = np.random.default_rng(groups)
    x = drawn.integers(-3, 4, (4, 2, 5)).astype(np.float32)
    kernel = drawn.integers(-3, 4, (8, 2, 3)).astype(np.float32)
    wanted = np.concatenate([
        sum(np.einsum("nci,oc->noi", part[:, :, at : at + 3], own[:, :, at]) for at in range(3))
        for part, own in zip(np.split(x, groups), np.split(kernel, groups), strict=True)
    ], 1)  # fmt: skip
    given, args = {"lhs": x, "rhs": kernel}, {
        "window_strides": [1], "padding": [[0, 0]], "lhs_dilation": [1], "rhs_dilation": [1],
        "lhs_spec": [0, 1, 2], "rhs_spec": [0, 1, 2], "out_spec": [0, 1, 2],
        "feature_group_count": 1, "batch_group_count": groups,
    }  # fmt: skip
    [found] = computed("lax.conv_general_dilated", given, wanted, **args)
    np.testing.assert_array_equal(found, wanted)
    by = slope("lax.conv_general_dilated", given, wanted, "lhs", **args)
    for part, own in zip(np.split(by, groups), np.split(kernel, groups), strict=True):
        middle = np.tile(own.sum((0, 2)), (4 // groups, 1))  # which is in all windows
        np.testing.assert_array_equal(part[:, :, 2], middle)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_stacks_and_what_takes_them_apart(axis: int) -> None:
    """One operand is x, two are x and y; in newer traces all are a list. Numbers are scalars."""
    x, y = f32([1, 2, 3], [4, 5, 6]), f32([7, 8, 9], [0, 1, 2])
    wanted = np.stack([x, y], axis)
    given = {"x": x, "y": y}
    listed = {"operands": [ForeignRef("x"), ForeignRef("y")]}
    for args in ({}, listed):
        np.testing.assert_array_equal(
            computed("lax.stack", given, wanted, axis=axis, **args)[0], wanted
        )
        by = slope("lax.stack", given, wanted, "y", axis=axis, **args)
        np.testing.assert_array_equal(by, np.ones((2, 3)))
    parts = computed("lax.unstack", {"x": wanted}, x, y, axis=axis)
    np.testing.assert_array_equal(parts, [x, y])
    first = np.zeros_like(wanted)
    first[(slice(None),) * axis + (0,)] = 1
    by = slope("lax.unstack", {"x": wanted}, x, "x", axis=axis)
    np.testing.assert_array_equal(by, first)
    three = [ForeignRef("a"), 2.0, 3]
    [found] = computed("lax.stack", {"a": f32(1)[0]}, f32(1, 2, 3), operands=three, axis=0)
    np.testing.assert_array_equal(found, [1, 2, 3])


def test_what_rows_of_vmap_have_together() -> None:
    x = f32([1, 5, 2], [4, 0, 3])
    for op, function in (("psum", np.sum), ("pmax", np.max), ("pmin", np.min)):
        args = {"axes": [0], "axis_index_groups": None}
        [found] = computed(f"lax.{op}", {"x": x}, x[0], **args)
        np.testing.assert_array_equal(found, function(x, 0))
    np.testing.assert_array_equal(slope("lax.psum", {"x": x}, x[0], "x", axes=[0]), np.ones((2, 3)))
    assert "several devices" in lowered("lax.psum", {"x": x}, x, axes=["rows"]).unlowered["made"]


@each_of("x", [0.0, -2.0, np.inf, np.nan])
def test_to_the_power_0_the_slope_is_0(x: float) -> None:
    """As JAX has it for whole exponents; for others it is NaN at 0, there as here."""
    given, none = {"x": f32(x)}, {"y": np.array([0], np.int32)}
    for op, more, args in (("integer_pow", {}, {"y": 0}), ("pow", none, {})):
        np.testing.assert_array_equal(
            computed(f"lax.{op}", {**given, **more}, f32(1), **args), [[1]]
        )
        by = slope(f"lax.{op}", {**given, **more}, f32(1), "x", **args)
        np.testing.assert_array_equal(by, [0])
    by = slope("lax.pow", {**given, "y": f32(0)}, f32(1), "x")
    np.testing.assert_array_equal(by, [np.nan if x == 0 or x != x else 0])


def test_bits_over_axes() -> None:
    x = np.array([[3, 5, 6, 12, 7], [0, -1, 2, 9, 4]], np.int32)
    for axes, wanted in (([0], np.bitwise_xor.reduce(x, 0)), ([1], np.bitwise_xor.reduce(x, 1)),
                         ([0, 1], np.bitwise_xor.reduce(x, None))):  # fmt: skip
        [found] = computed("lax.reduce_xor", {"x": x}, np.asarray(wanted), axes=axes)
        np.testing.assert_array_equal(found, wanted)
    odd = x > 3
    [found] = computed("lax.reduce_xor", {"x": odd}, odd[0], axes=[0])
    np.testing.assert_array_equal(found, np.logical_xor.reduce(odd, 0))


@pytest.mark.parametrize("largest", [True, False])
def test_nearly_the_largest_are_the_largest(largest: bool) -> None:
    x, places = f32([3, 1], [2, 5], [9, 0]), np.array([[2, 1], [0, 0]], np.int32)
    wanted = f32([9, 5], [3, 1]) if largest else f32([2, 0], [3, 1])
    places = np.array([[2, 1], [0, 0]] if largest else [[1, 2], [0, 0]], np.int32)
    found = computed(
        "lax.approx_top_k", {"x": x}, wanted, places, k=2, reduction_dimension=0,
        is_max_k=largest, recall_target=0.95, reduction_input_size_override=-1,
        aggregate_to_topk=True,
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], places)


def test_three_diagonals() -> None:
    """What lies outside of the matrix is not read."""
    below, on, above = f32(9, 1, 2, 3), f32(5, 6, 7, 8), f32(1, -1, 2, 9)
    b = f32([1, 2], [3, 4], [5, 6], [7, 9])
    matrix = np.diag(on) + np.diag(below[1:], -1) + np.diag(above[:-1], 1)
    given = {"below": below, "on": on, "above": above, "b": b}
    args = {"operands": [ForeignRef(name) for name in given], "perturb_singular": False}
    [found] = computed("lax.tridiagonal_solve", given, b, **args)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, b), rtol=1e-5)
    back = np.linalg.solve(matrix.T, np.ones_like(b))  # which comes back to b
    by = slope("lax.tridiagonal_solve", given, b, "below", **args)
    assert by[0] == 0
    np.testing.assert_allclose(by[1:], -(back[1:] * found[:-1]).sum(1), rtol=1e-4)


def test_incomplete_functions() -> None:
    """Of whole shapes there is a finite sum."""
    x = f32(0.5, 2)
    [found] = computed("lax.igamma", {"x": f32(2, 2), "y": x}, x)
    np.testing.assert_allclose(found, 1 - (1 + x) * np.exp(-x), rtol=1e-6)
    to_shape = slope("lax.igamma", {"x": f32(2, 2), "y": x}, x, "x")
    [found] = computed("lax.igamma_grad_a", {"x": f32(2, 2), "y": x}, x)
    np.testing.assert_array_equal(found, to_shape)
    by = slope("lax.igammac", {"x": f32(2, 2), "y": x}, x, "y")
    np.testing.assert_allclose(by, -x * np.exp(-x), rtol=1e-6)
    given = {"a": f32(2), "b": f32(1), "at": f32(0.25)}
    args = {"operands": [ForeignRef(name) for name in given]}
    [found] = computed("lax.regularized_incomplete_beta", given, f32(0), **args)
    np.testing.assert_allclose(found, f32(0.0625), rtol=1e-6)
    by = slope("lax.regularized_incomplete_beta", given, f32(0), "at", **args)
    np.testing.assert_allclose(by, f32(0.5), rtol=1e-6)


@pytest.mark.parametrize("log_space", [False, True])
def test_what_was_drawn_changes_with_the_shape_that_it_was_drawn_of(log_space: bool) -> None:
    """The slopes are those of JAX's own random_gamma_grad."""
    x = f32(0.5, 2)
    out, args = (np.log(x) if log_space else x), {"log_space": log_space}
    [found] = computed("lax.random_gamma", {"x": f32(1, 1)}, out, **args)
    np.testing.assert_array_equal(found, out)
    by = slope("lax.random_gamma", {"x": f32(1, 1)}, out, "x", **args)
    np.testing.assert_allclose(by * (x if log_space else 1), [0.8069793, 1.6316909], rtol=1e-4)


def test_what_an_unknown_operation_reads_stays() -> None:
    """A constant that nothing else reads."""
    x = f32(1, 2)
    done = lowered("lax.fft", {"x": x}, x, kind="constant")
    assert [*done.unlowered] == ["made"]
    assert "x" in done.graph
    [unknown] = [op for op in done.graph if op.type == "lax.fft"]
    assert [ref.op for ref in unknown.inputs if ref is not None] == ["x"]
