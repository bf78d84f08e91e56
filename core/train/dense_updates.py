"""The optimizers that are one op for each variable: what that op takes, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.core.ops.build.builder import Tensor
from gradstep.core.train.update_ops import Pair, Update

_GRADIENT = "gradient"
_L1, _L2 = "l1_regularization_strength", "l2_regularization_strength"


@dataclass(frozen=True)
class Plain:
    """hyper: hyper-parameters and their defaults (None: must be given); op: the op type; slots:
    what each slot starts as, a number or the name of a hyper-parameter; values: the inputs after
    the slots, hyper-parameters by name; flags: hyper-parameters that are attributes; order:
    in which order the op takes the slots; variants: flag -> what is done instead where it is
    set."""

    hyper: Mapping[str, float | None]
    op: str
    slots: tuple[float | str, ...]
    values: tuple[str, ...]
    flags: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    variants: Mapping[str, Plain] = field(default_factory=dict)


_RMS_VALUES = ("learning_rate", "decay", "momentum", "epsilon", _GRADIENT)

PLAIN: Mapping[str, Plain] = {
    "Momentum": Plain(
        {"learning_rate": None, "momentum": None, "use_nesterov": 0.0},
        "ApplyMomentum",
        (0.0,),
        ("learning_rate", _GRADIENT, "momentum"),
        flags=("use_nesterov",),
    ),
    "Adagrad": Plain(
        {"learning_rate": None, "initial_accumulator_value": 0.1},
        "ApplyAdagrad",
        ("initial_accumulator_value",),
        ("learning_rate", _GRADIENT),
    ),
    "Adadelta": Plain(
        {"learning_rate": 0.001, "rho": 0.95, "epsilon": 1e-8},
        "ApplyAdadelta",
        (0.0, 0.0),
        ("learning_rate", "rho", "epsilon", _GRADIENT),
    ),
    "RMSProp": Plain(
        {"learning_rate": None, "decay": 0.9, "momentum": 0.0, "epsilon": 1e-10, "centered": 0.0},
        "ApplyRMSProp",
        (1.0, 0.0),
        _RMS_VALUES,
        variants={
            "centered": Plain(
                {}, "ApplyCenteredRMSProp", (1.0, 0.0, 0.0), _RMS_VALUES, order=(1, 0, 2)
            )
        },
    ),
    "Ftrl": Plain(
        {
            "learning_rate": None,
            "learning_rate_power": -0.5,
            "initial_accumulator_value": 0.1,
            _L1: 0.0,
            _L2: 0.0,
        },
        "ApplyFtrl",
        ("initial_accumulator_value", 0.0),
        (_GRADIENT, "learning_rate", _L1, _L2, "learning_rate_power"),
    ),
    "ProximalGradientDescent": Plain(
        {"learning_rate": None, _L1: 0.0, _L2: 0.0},
        "ApplyProximalGradientDescent",
        (),
        ("learning_rate", _L1, _L2, _GRADIENT),
    ),
    "ProximalAdagrad": Plain(
        {"learning_rate": None, "initial_accumulator_value": 0.1, _L1: 0.0, _L2: 0.0},
        "ApplyProximalAdagrad",
        ("initial_accumulator_value",),
        ("learning_rate", _L1, _L2, _GRADIENT),
    ),
}


def apply_plain(update: Update, name: str, plain: Plain, pairs: Sequence[Pair]) -> None:
    """Every variable's step shares the hyper-parameters, made with the first."""
    chosen = next((p for flag, p in plain.variants.items() if update.number(flag)), plain)
    attrs = {flag: bool(update.number(flag)) for flag in chosen.flags}
    wanted = [value for value in chosen.values if value != _GRADIENT]
    shared: dict[str, Tensor] = {}
    for variable, gradient in update.each(pairs):
        slots = [update.slot(variable, name, _start(update, start)) for start in chosen.slots]
        shared = shared or dict(zip(wanted, update.hyper(*wanted), strict=True))
        ordered = [slots[i] for i in chosen.order or range(len(slots))]
        values = [gradient if v == _GRADIENT else shared[v] for v in chosen.values]
        update.apply(chosen.op, variable, ordered, *values, **attrs)
    update.finish()


def _start(update: Update, start: float | str) -> float:
    return update.number(start) if isinstance(start, str) else start
