"""Learning rates for each variable, clipping, decay and moving averages."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program, Variable
from tests.oracle.reasons import OPTIMIZER_CLASS
from tests.oracle.stepping import Optimizer
from tests.oracle.table import Case, checks
from tests.support.rounding import of_ratio

SCALED: dict[str, tuple[str, dict[str, float]]] = {
    "SGD grad*0.1": ("GradientDescent", {}),
    "Momentum grad*0.1": ("Momentum", {"mu": 0.9}),
    "Adam grad*0.1 (the tutorial recipe)": ("Adam", {}),
    "Adam eps=0.1 grad*0.1": ("Adam", {"epsilon": 0.1}),
    "RMSProp grad*0.1": ("RMSProp", {}),
    "Adagrad grad*0.1": ("Adagrad", {}),
}


def _towards(p: Program) -> tuple[Variable, Variable, Tensor]:
    """a and b, and the loss sum((a - 3)² + (b - 3)²), for which each moves alike."""
    a, b = (p.variable(n, np.array([1.0, -2.0])) for n in ("a", "b"))
    loss = call("Sum", call("Square", a.read - 3.0), np.array([0], np.int32))
    return a, b, loss + call("Sum", call("Square", b.read - 3.0), np.array([0], np.int32))


@checks("optimizer_var_list_and_per_variable_lr")
def rates(case: Case) -> None:
    for entry, (kind, hyper) in SCALED.items():
        _scaled(case, entry, kind, hyper)
    _two_rates(case)
    case.skip(OPTIMIZER_CLASS, "None gradient in the tutorial loop")
    case.skip_each(OPTIMIZER_CLASS, "minimize(global_step=None) ok", "minimize returns")
    case.skip(OPTIMIZER_CLASS, "same optimizer twice: slots shared")
    with Program() as p:
        case.error(lambda: p.apply("Adam", []), "apply_gradients empty")
    case.skip(OPTIMIZER_CLASS, "compute_gradients on tensor not variable")
    _updates(case)
    _clipping(case)
    _averages(case)


def _scaled(case: Case, entry: str, kind: str, hyper: dict[str, float]) -> None:
    with Program() as p:
        a, b, loss = _towards(p)
        ga, gb = gradients(loss, [a.handle, b.handle])
        optimizer = Optimizer(p, kind, [(a, 0.1 * ga), (b, gb)], lr=0.01, **hyper)
        steps = p.variable("global_step", np.int64(0))
        with p.builder.control_dependencies([optimizer.step]):
            counted = steps.update("AssignAdd", np.int64(1)).ref.op
        before = p.value(a).copy(), p.value(b).copy()
        for number in range(3):
            p.run([], targets=[counted])
            now = p.value(a), p.value(b)
            ratio = (now[0] - before[0]) / (now[1] - before[1])
            found = {"a": now[0], "b": now[1], "moved_a/moved_b": ratio}
            rounding = of_ratio((before[0], now[0]), (before[1], now[1])).of(steps=number + 1)
            case.value(found, entry, "steps", number, rounding=rounding)
        case.value(p.value(steps), entry, "global_step")


def _two_rates(case: Case) -> None:
    """What helps: an optimizer for each learning rate."""
    entry = "correct: two optimizers lr 1e-3 / 1e-2"
    with Program() as p:
        a, b, loss = _towards(p)
        before = a.program.initial["a"], b.program.initial["b"]
        rates = ((a, 1e-3), (b, 1e-2))
        made = [p.minimize("Adam", loss, [v], learning_rate=rate) for v, rate in rates]
        for updates in made:
            p.run([], targets=updates.targets)
        moved = p.value(a) - before[0], p.value(b) - before[1]
        found = {"a": p.value(a), "b": p.value(b), "ratio": moved[0] / moved[1]}
        rounding = of_ratio((before[0], p.value(a)), (before[1], p.value(b)))
        for key, value in found.items():
            case.value(value, entry, key, rounding=rounding)
        names = sorted(f"{name}:0" for name in p.initial)
        case.derived(names, sorted(case.at(entry, "variables")), entry, "variables", how="sorted")


def _updates(case: Case) -> None:
    with Program() as p:
        w = p.variable("w", np.array([1.0, 2.0]))
        loss = call("Square", w.read)
        updates = p.minimize("Adam", loss, [w], learning_rate=0.1)
        case.graph(p.builder.operation(updates.targets[0]).type, "minimize on non scalar loss")
        g = gradients(loss, w.handle)[0]
        twice = p.apply("GradientDescent", [(w, g), (w, g)], learning_rate=0.1)
        case.graph(p.builder.operation(twice.targets[0]).type, "duplicate var in apply_gradients")
        early = Session(p.builder.build(), initial={"w": p.initial["w"]})
        entry = "init op created BEFORE the optimizer"
        try:
            early.run([], targets=updates.targets)
            said = ["nothing", False]
        except GradstepError as error:
            prefix = case.at(entry, "message_prefix")
            said = [error.kind, error.message.startswith(prefix)]
        case.derived(said, [case.at(entry, "raised"), True], entry, how="class and first words")
        empty = sorted(n.removeprefix("train/") for n in p.initial if n not in early.store)
        case.value(np.array(empty, object), "uninitialized then")


def clip_by_global_norm(tensors: list[Tensor], limit: float) -> list[Any]:
    """As TensorFlow's Python makes it: the clipped tensors, and the norm."""
    norm = call("Sqrt", 2.0 * call("AddN", *(call("L2Loss", x) for x in tensors)))
    scale = limit * call("Minimum", 1.0 / norm, 1.0 / limit)
    return [[x * scale for x in tensors], norm]


def clip_by_norm(x: Tensor, limit: float) -> Tensor:
    squares = call("Sum", x * x, np.array([0], np.int32), keep_dims=True)
    positive = call("Greater", squares, 0.0)
    safe = call("Select", positive, squares, tf.ones_like(squares))
    norm = call("Select", positive, call("Sqrt", safe), squares)
    return (x * limit) / call("Maximum", norm, limit)


def _clipping(case: Case) -> None:
    with Program() as p:
        x, y = (p.builder.constant(np.array(v, np.float32)) for v in ([3, 4], [0, 12]))
        case.value(lambda: p.run(clip_by_global_norm([x, y], 6.5)), "clip_by_global_norm")
        case.value(p.run(clip_by_norm(x, 1.0)), "clip_by_norm")
        case.value(p.run(clip_by_norm(tf.zeros_like(x), 1.0)), "clip_by_norm zero")


def _averages(case: Case) -> None:
    """Decaying rates and moving averages, from the ops that TensorFlow's Python makes of them."""
    entry = "exponential_decay(0.1, step, 10, 0.5)"
    with Program() as p:
        step = p.placeholder("step", "int32", ())
        share = tf.cast(step, "float32") / 10.0
        rates = [0.1 * call("Pow", 0.5 * tf.ones_like(x), x) for x in (share, tf.floor(share))]
        for key in case.at(entry):
            case.value([float(r) for r in p.run(rates, {step: int(key)})], entry, key)
        v = p.variable("Variable", np.float32(1))
        shadow = p.variable("Variable/ExponentialMovingAverage", np.float32(1))
        decay = p.placeholder("decay", shape=())
        moved = shadow.update("AssignSub", (shadow.read - v.read) * (1.0 - decay))
        found = []
        for value in (2, 3):
            p.session.store.set("Variable", np.float32(value))
            found.append(p.run(moved, {decay: np.float32(0.9)}).copy())
        key = "shadow after v=2, v=3 (init 1)"
        case.value(np.array(found), "ExponentialMovingAverage(.9)", key)
        case.skip("a name that TensorFlow's Python gives", "ExponentialMovingAverage(.9)", "name")
        p.session.store.set(shadow.name, np.float32(3))
        p.session.store.set("Variable", np.float32(5))
        now = p.run(moved, {decay: np.float32(min(0.99, 2 / 11))})
        case.value(now, "EMA num_updates=1: decay=min(.99,(1+n)/(10+n))")
