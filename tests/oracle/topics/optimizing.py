"""Every optimizer's update rule, step by step."""

from __future__ import annotations

import re

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.train.optimizers import OPTIMIZERS
from tests.oracle.compare import as_array
from tests.oracle.program import Program
from tests.oracle.stepping import Optimizer
from tests.oracle.table import STATISTIC, Case, checks

KINDS: dict[str, tuple[str, dict[str, float]]] = {
    "GradientDescent(0.1)": ("GradientDescent", {"lr": 0.1}),
    "Momentum(0.1,0.9)": ("Momentum", {"lr": 0.1, "mu": 0.9}),
    "Momentum(0.1,0.9,nesterov)": ("Nesterov", {"lr": 0.1, "mu": 0.9}),
    "Adagrad(0.1)": ("Adagrad", {"lr": 0.1}),
    "Adadelta(1.0)": ("Adadelta", {"lr": 1.0}),
    "RMSProp(0.1)": ("RMSProp", {"lr": 0.1}),
    "RMSProp(0.1,decay=.8,momentum=.5,eps=1e-3)": (
        "RMSProp",
        {"lr": 0.1, "decay": 0.8, "mu": 0.5, "epsilon": 1e-3},
    ),
    "RMSProp(0.1,momentum=.5,centered)": (
        "CenteredRMSProp",
        {"lr": 0.1, "mu": 0.5, "epsilon": 1e-3},
    ),
    "Adam(0.1)": ("Adam", {"lr": 0.1}),
    "Adam(0.001,eps=0.1) (tutorial)": ("Adam", {"lr": 0.001, "epsilon": 0.1}),
    "Ftrl(0.1,l1=.01,l2=.01)": ("Ftrl", {"lr": 0.1, "l1": 0.01, "l2": 0.01}),
    "ProximalGradientDescent(0.1,l1=.05)": ("ProximalGradientDescent", {"lr": 0.1, "l1": 0.05}),
    "ProximalAdagrad(0.1)": ("ProximalAdagrad", {"lr": 0.1}),
    "AdagradDA": ("AdagradDA", {"lr": 0.1, "step": 0}),
}


# What gradstep.core.train calls them, where not as the ops do, and what is switched on.
OWN = {
    "Nesterov": ("Momentum", {"use_nesterov": 1.0}),
    "CenteredRMSProp": ("RMSProp", {"centered": 1.0}),
}
HYPER = {
    "lr": "learning_rate",
    "mu": "momentum",
    "l1": "l1_regularization_strength",
    "l2": "l2_regularization_strength",
}


@checks("optimizer_update_formulas")
def formulas(case: Case) -> None:
    for run in case.at("runs"):
        name, dtype, kind = re.fullmatch(r"(.*)/(\w+)/(\w+)", run).groups()  # type: ignore[union-attr]
        if case.at("runs", run).get("raised"):
            why = "TensorFlow's Python passes float32 hyper-parameters with a float64 variable"
            case.skip(why, "runs", run)
            continue
        try:
            _steps(case, run, name, dtype, kind == "resource")
        except GradstepError as error:
            if error.kind != "UnknownOpError":
                raise
            case.skip(
                f"needs an op that is not among Gradstep's: {error.message.split(chr(39))[1]}",
                "runs",
                run,
            )
    case.skip("the formulas in words; the runs below are checked against them", "formula")
    case.skip(STATISTIC, "max_abs_diff_formula_vs_tf_float64")
    key = "Adam(0.001,eps=0.1) (tutorial)/float64/ref"
    tutorial = [as_array(step["w"]) for step in case.at("runs", key, "steps")]
    case.derived(
        tutorial,
        case.at("epsilon_placement", "TF1 (epsilon-hat)"),
        "epsilon_placement",
        "TF1 (epsilon-hat)",
        how="the steps of Adam(0.001,eps=0.1), checked above",
    )
    for key in case.at("epsilon_placement"):
        if not key.startswith("TF1"):
            case.skip("what other libraries' Adam gives", "epsilon_placement", key)


def _steps(case: Case, run: str, name: str, dtype: str, resource: bool) -> None:
    start = case.given("inputs", "w0").astype(dtype)
    fed = case.given("inputs", "g_t (fed)").astype(dtype)
    kind, hyper = KINDS[name]
    path = "runs", run
    with Program(resource=resource) as p:
        w = p.variable("w", start)
        g = p.like("g", fed[0])
        optimizer = Optimizer(p, kind, [(w, g)], **hyper)
        case.graph(sorted(optimizer.slots["w"]), *path, "slot_names")
        case.value(
            {k: v.copy() for k, v in optimizer.slot_values(w).items()}, *path, "slots_initial"
        )
        for number, each in enumerate(fed):
            optimizer.run({g: each})
            values = {"w": p.value(w), "slots": optimizer.slot_values(w)}
            case.value(values, *path, "steps", number)
        types = [o.type for o in p.operations() if "Apply" in o.type]
        case.graph(types, *path, "apply_op")
        if "beta powers after 3" in case.at(*path):
            powers = [p.value(v) for v in optimizer.powers.values()]
            case.value(np.array(powers), *path, "beta powers after 3")
    type, flags = OWN.get(kind, (kind, {}))
    if type in OPTIMIZERS:
        named = {HYPER.get(k, k): v for k, v in hyper.items()}
        _own(case, path, type, start, fed, {**named, **flags}, resource)
    else:
        case.skip(
            "an optimizer of a step count, which gradstep.core.train does not have",
            *path,
            "variables",
        )


def _own(
    case: Case,
    path: tuple[str, str],
    kind: str,
    start: np.ndarray,
    fed: np.ndarray,
    hyper: dict[str, float],
    resource: bool,
) -> None:
    """The same with Gradstep's own optimizer: names, and the same last value."""
    with Program(resource=resource) as p:
        w, g = p.variable("w", start), p.like("g", fed[0])
        updates = p.apply(kind, [(w, g)], **hyper)
        for each in fed:
            p.run([], {g: each}, updates.targets)
        wanted = case.at(*path, "steps", len(fed) - 1, "w")
        same = Case(case.name, {"w": wanted})
        same.value(p.value(w), "w")
        names = sorted(f"{name}:0" for name in p.initial)
        detail = "" if same.rows[0].result == "ok" else same.rows[0].detail
        case.derived(
            [names, detail], [sorted(case.at(*path, "variables")), ""], *path, "variables",
            how="gradstep.core.train's own: the same variables, and w after the last step",
        )  # fmt: skip
