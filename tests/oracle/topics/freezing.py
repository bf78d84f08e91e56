"""Freezing entries with masks, one optimizer for two variables, two networks in one graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.compare import as_array
from tests.oracle.documents import NO_GRADIENTS, minimize
from tests.oracle.program import Program
from tests.oracle.stepping import Optimizer
from tests.oracle.table import Case, checks
from tests.support.rounding import Rounding

MASKED = {"Adam": {}, "SGD": {}, "Momentum": {"mu": 0.9}, "RMSProp": {"mu": 0.0}, "Adagrad": {}}


class Masked:
    """loss = sum((mask * (W - target))²): only the entries of the mask get a gradient."""

    def __init__(self, case: Case, kind: str, **hyper: float) -> None:
        self.p = p = Program()
        target = case.given("inputs", "target")
        with p:
            self.w = p.variable("W", case.given("inputs", "W0"))
            self.mask = p.like("mask", target)
            apart = self.w.read - target
            loss = call("Sum", self.mask * call("Square", apart), np.array([0], np.int32))
            self.grad = gradients(loss, self.w.handle)[0]
            rate = case.given("inputs", "lr")
            self.optimizer = Optimizer(p, kind, [(self.w, self.grad)], lr=rate, **hyper)

    def step(self, mask: np.ndarray) -> tuple[Any, dict[str, Any]]:
        grad = self.p.run(self.grad, {self.mask: mask})
        self.optimizer.run({self.mask: mask})
        return grad, self.values()

    def values(self) -> dict[str, Any]:
        found = {"W": self.p.value(self.w), **self.optimizer.slot_values(self.w)}
        return {name: value.copy() for name, value in found.items()}


@checks("adam_freezing_masks")
def masks(case: Case) -> None:
    first, second = case.given("inputs", "mask_1"), case.given("inputs", "mask_2")
    for kind, hyper in MASKED.items():
        program = Masked(case, "GradientDescent" if kind == "SGD" else kind, **hyper)
        grad_1, after_1 = program.step(first)
        grad_2, after_2 = program.step(second)
        frozen = first.astype(bool)
        moved = bool(np.any(after_1["W"][frozen] != after_2["W"][frozen]))
        found = {
            "grad_1": grad_1,
            "after_1 (mask 0110)": after_1,
            "grad_2": grad_2,
            "after_2 (mask 1001)": after_2,
            "frozen_entries_moved_in_step_2": moved,
        }
        case.gradient(found, kind)
    for which in ("slots m and v", "only m", "only v"):
        _slots(case, which, first, second)
    _subset(case)


def _slots(case: Case, which: str, first: np.ndarray, second: np.ndarray) -> None:
    """Before the second step the chosen moments of frozen entries are set to zero; before the
    third they come back, and everything trains."""
    entry = f"Adam {which} masked"
    program = Masked(case, "Adam")
    p, slots = program.p, program.optimizer.slots["W"]
    chosen = [s for s in ("m", "v") if s in which.split("masked")[0].replace("slots", "").split()]
    _, after_1 = program.step(first)
    kept = {s: p.value(slots[s]).copy() for s in slots}
    for s in chosen:
        p.session.store.set(slots[s].name, kept[s] * second)
    _, after_2 = program.step(second)
    for s in slots:
        restored = np.where(second.astype(bool), p.value(slots[s]), kept[s])
        p.session.store.set(slots[s].name, restored)
    _, after_3 = program.step(np.ones_like(first))
    frozen = ~second.astype(bool)
    found = {
        "after_1": after_1,
        "after_2": after_2,
        "after_3_restored_moments_all_trainable": after_3,
        "frozen_ok": bool(np.all(after_1["W"][frozen] == after_2["W"][frozen])),
    }
    case.value(found, entry)


def _subset(case: Case) -> None:
    """One optimizer, two variables that it updates in turn: one pair of powers for both."""
    with Program() as p:
        a, b = (p.variable(n, np.zeros(2)) for n in ("A", "B"))
        aims = ((a, 1.0), (b, -2.0))
        losses = [
            call("Sum", call("Square", v.read - to), np.array([0], np.int32)) for v, to in aims
        ]
        grads = [gradients(y, v.handle)[0] for y, v in zip(losses, (a, b), strict=True)]
        both = Optimizer(p, "Adam", [(a, grads[0])], lr=0.1)
        other = Optimizer.__new__(Optimizer)
        other.__dict__.update(both.__dict__)
        other.slots = dict(both.slots)
        update = other._update(b, grads[1])
        with p.builder.control_dependencies([update]):
            last = [other._advance(n, v) for n, v in both.powers.items()]
        p.builder.op("NoOp", name="step_b", control_inputs=(update, *last))
        for number, which in enumerate((both.step, "step_b", both.step)):
            p.run([], targets=[which])
            powers = np.array([p.value(v) for v in both.powers.values()])
            found = {"A": p.value(a), "B": p.value(b), "A.m": p.value(both.slots["A"]["m"])}
            case.value(
                {**found, "beta_powers": powers}, "subset apply_gradients", "steps A,B,A", number
            )


@checks("several_networks_one_graph")
def networks(case: Case) -> None:
    x, t = case.given("inputs", "x"), case.given("inputs", "t")
    with Program() as p:
        nets = {}
        for name in ("A", "B"):
            w, b = (np.array(case.given("init", name)[i]["data"], np.float32) for i in (0, 1))
            nets[name] = [p.variable(f"Net_{name}/w", w), p.variable(f"Net_{name}/b", b)]
        out = {n: call("MatMul", x, w.read) + b.read for n, (w, b) in nets.items()}

        def loss(y: Tensor) -> Tensor:
            return call("Mean", call("Square", y - t), np.array([0, 1], np.int32))

        losses = {n: loss(y) for n, y in out.items()}
        sgd = {"learning_rate": 0.1}
        runs = {
            "after_train_A": p.minimize("GradientDescent", losses["A"], nets["A"], **sgd),
            "after_train_B": p.minimize("Adam", losses["B"], nets["B"], learning_rate=0.01),
            "after_joint_loss_var_list_A": p.minimize(
                "GradientDescent", loss(out["A"] + out["B"]), nets["A"], **sgd
            ),
        }
        both = [*nets["A"], *nets["B"]]
        reached = gradients(losses["A"], [v.handle for v in both])
        rows = [[g is not None, f"{v.name}:0"] for g, v in zip(reached, both, strict=True)]
        case.gradient(rows, "compute_gradients_default_var_list")
        adam = runs["after_train_B"]
        for entry, updates in runs.items():
            p.run([], targets=updates.targets)
            if updates is adam:
                # The gradient of B's bias is the rounding of a sum of 0, which Adam divides by its
                # own size: a step of any length up to the rate. It goes on from TensorFlow's.
                bias, theirs = nets["B"][1], as_array(case.at(entry, "B")[1])
                assert np.all(np.abs(p.value(bias) - theirs) <= 2 * 0.01)
                p.session.store.set(bias.name, theirs)
            found = {n: [p.value(v) for v in each] for n, each in nets.items()}
            case.value(found, entry, rounding=Rounding(steps=2))
            if updates is adam:
                case.value(p.session.store[adam.slots["Net_B/w"][0]], "slots", "B/w m")
        case.graph(bool(adam.slots.get("Net_A/w")), "slots", "A has Adam slot")
        case.skip("what get_slot_names says in Python", "slots", "adam slot names")
        found = sorted(f"{n}:0" for n in p.initial)
        case.derived(
            found, sorted(case.at("slots", "vars")), "slots", "vars", how="in another order"
        )
        entry = "var_list_without_path"
        case.error(lambda: minimize(p, losses["A"], nets["B"]), entry, says=NO_GRADIENTS)
    with Program() as p:
        lost = call("Square", p.placeholder("x", shape=()))
        case.error(lambda: minimize(p, lost, []), "no_variables_in_graph")
    case.skip("no var_list and an empty one are the same in a document", "empty_var_list")
