"""Update operations for trained variables, named and ordered as TensorFlow 1's optimizers do.

The rules are TensorFlow's ops for each optimizer (Adam with its epsilon outside the bias
correction: Kingma & Ba, 2015, just before section 2.1), for resource variables their Resource
forms, and where a gradient is some rows of a variable the sparse ones. Hyper-parameters are
float32 whatever the variables are, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.train.bent_gradients import bend_gradients
from gradstep.core.train.dense_updates import PLAIN, apply_plain
from gradstep.core.train.sparse_updates import adam_rows, descend_rows
from gradstep.core.train.training_settings import NO_SETTINGS, Settings
from gradstep.core.train.update_ops import Pair, Update, Updates
from gradstep.core.train.update_reuse import UpdateRecord


def apply_updates(
    builder: GraphBuilder,
    type: str,
    hyper: Mapping[str, float],
    pairs: Sequence[Pair],
    name: str = "train",
    before: UpdateRecord | None = None,
    settings: Settings = NO_SETTINGS,
) -> Updates:
    """Add the updates of optimizer `type` ("Adam", "GradientDescent"…) to the graph.

    hyper: by TensorFlow's argument names; what is absent has TensorFlow's default, and flags are
    0 or 1. pairs: gradients may be IndexedSlices. name: of the scope, and of the operation that
    does all of it; numbered if it is taken. before: how this was done before an edit; what would
    come out the same is taken from there. settings: the learning rate's schedule, clipping and
    weight decay. Raises GradstepError for an unknown optimizer or
    hyper-parameter, and for a variable whose shape is not known.
    """
    if not pairs:
        hint = "give it a variable and its gradient"
        raise GradstepError("No variables provided.", kind="ValueError", hint=hint)
    outer = builder.origin, builder.phase
    pairs = bend_gradients(builder, pairs, settings)
    update = Update(builder, complete(type, hyper), name, type, before, settings)
    try:
        if type in PLAIN:
            apply_plain(update, type, PLAIN[type], pairs)
        else:
            _COMPOSED[type](update, pairs)
        return update.result()
    finally:
        builder.origin, builder.phase = outer


def is_flag(type: str, name: str) -> bool:
    """Whether that hyper-parameter of an optimizer is on or off."""
    plain = PLAIN.get(type)
    return plain is not None and (name in plain.flags or name in plain.variants)


def _gradient_descent(update: Update, pairs: Sequence[Pair]) -> None:
    rate: list[Tensor] = []
    for variable, gradient in update.each(pairs):
        rate = rate or update.hyper("learning_rate")
        if isinstance(gradient, IndexedSlices):
            descend_rows(update, variable, rate[0], gradient)
        else:
            update.apply("ApplyGradientDescent", variable, (), rate[0], gradient)
    update.finish()


def _adam(update: Update, pairs: Sequence[Pair]) -> None:
    """Every variable's step shares the hyper-parameters and powers, made with the first."""
    shared: list[Tensor] = []
    powers: list[Tensor] = []
    for variable, gradient in update.each(pairs):
        slots = [update.slot(variable, "Adam") for _ in range(2)]
        if not powers:
            powers = [update.power(of, like=variable) for of in ("beta1", "beta2")]
            shared = update.hyper("learning_rate", "beta1", "beta2", "epsilon")
        if isinstance(gradient, IndexedSlices):
            adam_rows(update, variable, slots, powers, shared, gradient)
        else:
            update.apply("ApplyAdam", variable, slots, *powers, *shared, gradient)
    update.belongs(powers[0].ref.op)
    _, *betas, _ = shared
    update.finish(*(update.assign_product(*pair) for pair in zip(powers, betas, strict=True)))


_Add = Callable[[Update, Sequence[Pair]], None]
_COMPOSED: Mapping[str, _Add] = {"GradientDescent": _gradient_descent, "Adam": _adam}

# Optimizer -> its hyper-parameters and their defaults (None: must be given).
OPTIMIZERS: Mapping[str, Mapping[str, float | None]] = {
    "GradientDescent": {"learning_rate": None},
    "Adam": {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
    **{name: plain.hyper for name, plain in PLAIN.items()},
}


def complete(type: str, hyper: Mapping[str, float]) -> dict[str, float]:
    """All hyper-parameters of an optimizer. Raises GradstepError where they are not its own, and
    for an optimizer that there is not."""
    if type not in OPTIMIZERS:
        raise GradstepError(
            f"there is no optimizer '{type}'",
            kind="ValueError",
            hint=f"the optimizers are {', '.join(OPTIMIZERS)}",
        )
    defaults = OPTIMIZERS[type]
    unknown = sorted(set(hyper) - set(defaults))
    if unknown:
        raise GradstepError(
            f"{type} has no hyper-parameter '{unknown[0]}'",
            kind="ValueError",
            hint=f"it has {', '.join(defaults)}",
        )
    found = {name: hyper.get(name, default) for name, default in defaults.items()}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise GradstepError(f"{type} needs a {missing[0]}", kind="ValueError", hint="set it")
    return {name: float(value) for name, value in found.items() if value is not None}


__all__ = ["OPTIMIZERS", "Pair", "UpdateRecord", "Updates", "apply_updates", "complete", "is_flag"]
