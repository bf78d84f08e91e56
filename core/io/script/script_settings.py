"""Schedules, clipping and weight decay as lines of a TensorFlow script."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.train.training_settings import FLAGS, Schedule, Setting, Settings


def rate_lines(name: str, wanted: str, schedule: Schedule | None, rate: float) -> Iterator[str]:
    """What makes `{name}_rate`, and the `{name}_step` that it hangs on, if it does."""
    if schedule is None:
        yield f"{name}_rate = {rate!r}"
        return
    step = f"{name}_step"
    scope = f"{wanted}/global_step"
    yield f"{step} = tf1.Variable(0, trainable=False, dtype=tf.int64, name={scope!r})"
    yield f"{name}_rate = {_decay_call(schedule.decay, rate, step)}"
    if schedule.warmup:
        share = f"(tf.cast({step}, tf.float32) + 1.0) / {schedule.warmup!r}"
        yield f"{name}_rate = {name}_rate * tf.minimum({share}, 1.0)"


def bending_lines(name: str, settings: Settings) -> Iterator[str]:
    """What is done to `{name}_gradients`, in this order."""
    found, decay, clip = f"{name}_gradients", settings.decay, settings.clip
    each = f"for g, v in zip({found}, {name}_variables)]"
    if decay is not None:
        more = f" + {decay.number('factor')!r} * v" if decay.name == "l2" else ""
        yield f"{found} = [g if g is None else tf.convert_to_tensor(g){more} {each}"
    if clip is None:
        return
    limit = clip.number("limit")
    if clip.name == "global_norm":
        yield f"{found}, _ = tf.clip_by_global_norm({found}, {limit!r})"
        return
    bounds = f"{-limit!r}, {limit!r}" if clip.name == "value" else repr(limit)
    yield f"{found} = [g if g is None else tf.clip_by_{clip.name}(g, {bounds}) for g in {found}]"


def applying_lines(name: str, wanted: str, settings: Settings) -> Iterator[str]:
    """What makes the operation `name` of `{name}_optimizer` and the gradients."""
    pairs = f"zip({name}_gradients, {name}_variables)"
    counted = "" if settings.schedule is None else f", global_step={name}_step"
    apply = f"{name} = {name}_optimizer.apply_gradients({pairs}{counted}, name={wanted!r})"
    if settings.decay is None or settings.decay.name != "decoupled":
        yield apply
        return
    factor = settings.decay.number("factor")
    lost = f"tf.cast({name}_rate, v.dtype.base_dtype) * {factor!r} * v"
    yield (
        f"with tf1.control_dependencies([g for g in {name}_gradients if g is not None]):\n"
        f"    {name}_decays = [tf1.assign_sub(v, {lost}) for g, v in {pairs} if g is not None]"
    )
    yield f"with tf1.control_dependencies({name}_decays):\n    {apply}"


def _decay_call(decay: Setting | None, rate: float, step: str) -> str:
    if decay is None:
        return f"tf.constant({rate!r})"
    if decay.name == "piecewise_constant":
        lists = f"{[*decay.numbers('boundaries')]!r}, {[*decay.numbers('values')]!r}"
        return f"tf1.train.piecewise_constant(tf.cast({step}, tf.float32), {lists})"
    arguments = ", ".join(
        f"{key}={bool(value) if key in FLAGS else value!r}"
        for key, value in decay.arguments.items()
    )
    return f"tf1.train.{decay.name}({rate!r}, {step}, {arguments})"
