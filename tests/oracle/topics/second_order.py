"""Policy gradients, Hessians, and numeric Jacobians beside analytic ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import element, ints, total
from tests.oracle.table import STATISTIC, Case, checks
from tests.support.rounding import Rounding

COMPUTE_GRADIENT = (
    "tf.test.compute_gradient_error starts from random numbers of NumPy that are not recorded"
)


@checks("policy_gradient_surrogate")
def surrogate(case: Case) -> None:
    keys = ("x", "theta", "theta_old", "act", "adv", "logli_old")
    x, start, _, act, adv, old = (case.given("inputs", key) for key in keys)
    size = float(np.abs(x).max() * np.abs(adv).max())  # of the terms, whose mean is smaller
    near = Rounding(terms=len(x), steps=3, size=size)
    with Program() as p:
        theta = p.like("theta", start)
        logits = call("LogSoftmax", call("MatMul", p.builder.constant(x), theta))
        chosen = np.stack([np.arange(len(act)), act], 1).astype(np.int32)
        logli = call("GatherNd", logits, p.builder.constant(chosen))
        feeds = {theta: start}

        def loss(before: Any) -> tuple[Tensor, Tensor]:
            ratio = call("Exp", logli - before)
            return ratio, -total(ratio * adv, "Mean")

        same = p.run(logli, feeds)
        ratio, on = loss(p.builder.constant(same))
        found = p.run(
            {"logli": logli, "ratio": ratio, "loss": on, "grad": gradients(on, theta)[0]}, feeds
        )
        vanilla = p.run(gradients(-total(logli * adv, "Mean"), theta)[0], feeds)
        equal = bool(np.allclose(found["grad"], vanilla, rtol=1e-12))
        entry = "on-policy (old=current)"
        case.gradient({**found, "vanilla_pg_grad": vanilla, "equal": equal}, entry, rounding=near)
        ratio, off = loss(p.builder.constant(old))
        grad = gradients(off, theta)[0]
        found = p.run({"ratio": ratio, "loss": off, "grad": grad}, feeds)
        case.gradient(found, "off-policy", rounding=near)
        case.gradient(found["grad"], "numpy grad off-policy", rounding=near)
        entry = "trap: old logli taken from the same graph tensor"
        for key, before in (
            ("grad", logli),
            ("fix: stop_gradient(logli)", tf.stop_gradient(logli)),
        ):
            found = p.run(gradients(loss(before)[1], theta)[0], feeds)
            case.gradient(found, entry, key, rounding=near)
    case.skip(STATISTIC, "max_diff")


STEP = 1e-3  # of numeric derivatives: they are a difference over it


@checks("hessian_norm_finite_difference")
def hessian(case: Case) -> None:
    """f = a'Qa / 2 + sum(a⁴)."""
    start, q, deltas = (case.given("inputs", key) for key in ("a", "Q", "delta"))
    step = case.given("inputs", "eps")
    with Program() as p:
        a = p.like("a", start)

        def f(x: Tensor) -> Tensor:
            column = call("Reshape", x, ints(-1, 1))
            quadratic = total(column * call("MatMul", p.builder.constant(q), column)) / 2.0
            return quadratic + total(call("Square", call("Square", x)))

        b = f(a)
        first = gradients(b, a)[0]
        assert isinstance(first, Tensor)

        def at(point: np.ndarray, y: Any = first) -> np.ndarray:
            return p.run(y, {a: point})

        moved = a + p.builder.constant(deltas[0])
        case.gradient(gradients(b, moved), "gradients(b, a+delta)")
        case.gradient(at(start), "gradients(b, a)")
        again = f(moved)
        of_a, of_moved = p.run([gradients(again, a)[0], gradients(again, moved)[0]], {a: start})
        case.gradient(
            bool(np.all(of_a == of_moved)), "gradients(f(a+delta), a) == gradients wrt a+delta"
        )
        rows = [gradients(element(first, i), a)[0] for i in range(3)]
        exact = np.stack(p.run(rows, {a: start}))
        case.gradient(exact, "H_exact")
        products = [gradients(total(first * d), a)[0] for d in deltas]
        case.gradient(np.stack(p.run(products, {a: start})), "Hv_autodiff")
        slopes = [(at(start + step * d) - at(start - step * d)) / (2 * step) for d in deltas]
        near = Rounding(terms=3, size=float(np.max(np.abs(at(start)))) / step)
        case.gradient(np.stack(slopes), "Hv_finite_difference", rounding=near)
        case.gradient(slopes[0], "by_moving_the_variable", rounding=near)
        rough = [(at(start + d) - at(start - d)) / (2 * d) for d in deltas]
        entry = "tutorial_formula_elementwise (g(x+d)-g(x-d))/(2d), delta~N(0,I)"
        case.gradient(np.stack(rough), entry)
        case.value(np.sqrt(np.sum(exact**2)), "fro_norm_exact")
        norms = np.sqrt(np.mean(np.sum(np.stack(slopes) ** 2, axis=1)))
        entry = "fro_norm_estimate sqrt(mean |Hv|^2) over 5"
        case.value(norms, entry, rounding=Rounding(dtype=np.float32))
    case.skip(STATISTIC, "max_diff")


def jacobian(run: Callable[[np.ndarray], np.ndarray], x: np.ndarray, step: float) -> np.ndarray:
    """Central differences; a row for each element of x, a column for each of y."""
    rows = []
    for i in range(x.size):
        sides = []
        for sign in (1, -1):
            nudged = x.copy()
            nudged.flat[i] += x.dtype.type(sign * step)
            sides.append(run(nudged).ravel().astype(float))
        rows.append((sides[0] - sides[1]) / (2 * step))
    return np.array(rows)


def analytic(p: Program, y: Tensor, x: Tensor, point: np.ndarray) -> np.ndarray:
    """The same from gradients, one for each element of y."""
    flat = call("Reshape", y, ints(-1))
    size = int(np.prod(y.shape.static()))
    columns = [gradients(element(flat, i), x)[0] for i in range(size)]
    return np.stack([v.ravel() for v in p.run(columns, {x: point})], axis=1)


@checks("compute_gradient_numeric")
def compute_gradient(case: Case) -> None:
    """y = tanh(x) sum(x) at [0.5, -1], as the recorded matrix tells."""
    point = np.array([0.5, -1.0])
    with Program() as p:
        x = p.like("x", point)
        y = call("Tanh", x) * total(x)
        exact = analytic(p, y, x, point)
        numeric = jacobian(lambda v: p.run(y, {x: v}), point, STEP)
        case.gradient(exact, "theoretical (rows=x, cols=y)")
        over_step = Rounding(size=1 / STEP, dtype=np.float64)
        case.value(numeric, "numeric delta=1e-3", rounding=over_step)
        worst = np.max(np.abs(exact - numeric))
        case.value(worst, "error=max|diff|", rounding=over_step)


WAYS: dict[str, Callable[[Tensor], Tensor]] = {
    "plain": lambda x: tf.floor(x),
    "detour": lambda x: x - (x - tf.floor(x)),
    "override": lambda x: call("Floor", x, _gradient_op_type="Identity"),
    "ste": lambda x: x + tf.stop_gradient(tf.floor(x) - x),
    "tanh": lambda x: call("Tanh", x),
}


@checks("floor_compute_gradient_error")
def floors(case: Case) -> None:
    """The error of compute_gradient on floor: 500 or 499 at whole numbers, 0 or 1 beside them."""
    for way, build in WAYS.items():
        for value, key in ((1.0, "x_init_value=ones"), (0.5, "x_init_value=0.5")):
            if way == "plain":
                case.skip("an assertion of tf.test, which refuses a gradient of None", way, key)
            else:
                error = _error(build, value)
                case.value(error, way, key, rounding=Rounding(size=1 / STEP, dtype=np.float32))
        case.skip(COMPUTE_GRADIENT, way, "x=ones, x_init_value=None (random uniform)")
        with Program() as p:
            x = p.like("x", np.ones((2, 7), np.float32))
            found = p.run(gradients(build(x), x)[0], {x: np.ones((2, 7))})
        row = None if found is None else found[0]
        case.gradient(row, way, "analytic tf.gradients row0")
    case.skip(COMPUTE_GRADIENT, "shape_50x7_default_random_init")


def _error(build: Callable[[Tensor], Tensor], value: float) -> float:
    point = np.full((1, 3), value, np.float32)
    with Program() as p:
        x = p.like("x", point)
        y = build(x)
        numeric = jacobian(lambda v: p.run(y, {x: v}), point, STEP)
        return float(np.max(np.abs(analytic(p, y, x, point) - numeric)))
