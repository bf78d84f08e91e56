"""How an optimizer is bent: learning-rate schedules, clipping, weight decay, as short texts.

    exponential_decay(1000, 0.96, staircase=True)     warmup(100) * cosine_decay(1000)
    global_norm(1)      norm(5)      value(0.1)        l2(1e-4)      decoupled(0.01)

Names and arguments of schedules are TensorFlow 1's; nothing is ever passed to eval.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.memory_release import memo_of_document

Argument = float | tuple[float, ...]
_NEEDED = None

# Name -> arguments and their defaults (None: must be given), in order.
SCHEDULES: Mapping[str, Mapping[str, float | None]] = {
    "exponential_decay": {"decay_steps": _NEEDED, "decay_rate": _NEEDED, "staircase": 0.0},
    "natural_exp_decay": {"decay_steps": _NEEDED, "decay_rate": _NEEDED, "staircase": 0.0},
    "inverse_time_decay": {"decay_steps": _NEEDED, "decay_rate": _NEEDED, "staircase": 0.0},
    "polynomial_decay": {
        "decay_steps": _NEEDED, "end_learning_rate": 0.0001, "power": 1.0, "cycle": 0.0
    },
    "cosine_decay": {"decay_steps": _NEEDED, "alpha": 0.0},
    "cosine_decay_restarts": {
        "first_decay_steps": _NEEDED, "t_mul": 2.0, "m_mul": 1.0, "alpha": 0.0
    },
    "linear_cosine_decay": {
        "decay_steps": _NEEDED, "num_periods": 0.5, "alpha": 0.0, "beta": 0.001
    },
    "noisy_linear_cosine_decay": {
        "decay_steps": _NEEDED, "initial_variance": 1.0, "variance_decay": 0.55,
        "num_periods": 0.5, "alpha": 0.0, "beta": 0.001,
    },
    "piecewise_constant": {"boundaries": _NEEDED, "values": _NEEDED},
}  # fmt: skip
WARMUP: Mapping[str, float | None] = {"steps": _NEEDED}
CLIPS: Mapping[str, Mapping[str, float | None]] = {
    "value": {"limit": _NEEDED},
    "norm": {"limit": _NEEDED},
    "global_norm": {"limit": _NEEDED},
}
DECAYS: Mapping[str, Mapping[str, float | None]] = {
    "l2": {"factor": _NEEDED},
    "decoupled": {"factor": _NEEDED},
}
FLAGS = frozenset({"staircase", "cycle"})
_LISTS = frozenset({"boundaries", "values"})
_FROM_ZERO = frozenset({"alpha", "beta", "power", "end_learning_rate", "factor", "variance_decay"})


@dataclass(frozen=True)
class Setting:
    """What a text says: a name, and all arguments by their names."""

    name: str
    arguments: Mapping[str, Argument]

    def number(self, name: str) -> float:
        """An argument that is one number."""
        found = self.arguments[name]
        assert isinstance(found, float)
        return found

    def numbers(self, name: str) -> tuple[float, ...]:
        """An argument that is several."""
        found = self.arguments[name]
        assert isinstance(found, tuple)
        return found


@dataclass(frozen=True)
class Schedule:
    """warmup: steps over which the rate grows to what it is to be, 0 for none; decay: what it does
    then, None for nothing."""

    warmup: float = 0.0
    decay: Setting | None = None


@dataclass(frozen=True)
class Settings:
    """The settings of one optimizer; what is None is not asked for."""

    schedule: Schedule | None = None
    clip: Setting | None = None
    decay: Setting | None = None


NO_SETTINGS = Settings()


def read_settings(schedule: str = "", clip: str = "", decay: str = "") -> Settings:
    """What the three texts say; "" for nothing. Raises GradstepError for one that cannot be read,
    or would make no sense."""
    return Settings(
        _read_schedule(schedule) if schedule.strip() else None,
        _read_one("clipping", clip, CLIPS) if clip.strip() else None,
        _read_one("weight decay", decay, DECAYS) if decay.strip() else None,
    )


@memo_of_document(256)
def _read_schedule(text: str) -> Schedule:
    tree = _parsed("schedule", text)
    parts = [tree.left, tree.right] if isinstance(tree, ast.BinOp) else [tree]
    if isinstance(tree, ast.BinOp) and not isinstance(tree.op, ast.Mult):
        raise _error("schedule", text, "a warm-up and a decay are joined by *")
    known = {"warmup": WARMUP, **SCHEDULES}
    found = [_read_call("schedule", text, part, known) for part in parts]
    warmups = [each for each in found if each.name == "warmup"]
    decays = [each for each in found if each.name != "warmup"]
    if len(warmups) > 1 or len(decays) > 1:
        raise _error("schedule", text, "it has one warm-up and one decay at most")
    for each in decays:
        _require_sense(text, each)
    return Schedule(warmups[0].number("steps") if warmups else 0.0, next(iter(decays), None))


def _read_one(what: str, text: str, known: Any) -> Setting:
    return _read_call(what, text, _parsed(what, text), known)


def _parsed(what: str, text: str) -> ast.expr:
    if len(text) > 1000:
        raise _error(what, text[:40] + "…", "it is too long")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _error(what, text, "it cannot be read") from None


def _read_call(
    what: str, text: str, node: ast.expr, known: Mapping[str, Mapping[str, float | None]]
) -> Setting:
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if not isinstance(node, ast.Call) or name not in known:
        raise _error(what, text, f"there are {', '.join(known)}")
    takes = known[name]
    keywords = {word.arg or "**": word.value for word in node.keywords}
    given = {**dict(zip(takes, node.args, strict=False)), **keywords}
    wrong = sorted(given.keys() - takes.keys())
    if wrong or len(node.args) > len(takes):
        raise _error(what, text, f"{name} takes {', '.join(takes)}")
    found = {key: _argument(what, text, key, value) for key, value in given.items()}
    missing = [key for key, default in takes.items() if default is None and key not in found]
    if missing:
        raise _error(what, text, f"{name} needs {missing[0]}")
    defaults = {key: value for key, value in takes.items() if value is not None}
    return Setting(name, {key: {**defaults, **found}[key] for key in takes})


def _argument(what: str, text: str, name: str, node: ast.expr) -> Argument:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        value = None
    if name in _LISTS:
        if isinstance(value, list | tuple) and value and all(map(_is_number, value)):
            return tuple(float(number) for number in value)
        raise _error(what, text, f"{name} is a list of numbers, such as [100, 200]")
    if not _is_number(value):
        raise _error(what, text, f"{name} is a number")
    number = float(value)
    if name not in (*FLAGS, *_FROM_ZERO) and number <= 0:
        raise _error(what, text, f"{name} is above 0")
    if number < 0:
        raise _error(what, text, f"{name} is not below 0")
    return number


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _require_sense(text: str, decay: Setting) -> None:
    if decay.name != "piecewise_constant":
        return
    boundaries, values = decay.numbers("boundaries"), decay.numbers("values")
    if len(values) != len(boundaries) + 1:
        raise _error("schedule", text, "it has one value more than boundaries")
    if not _ascends(boundaries):
        raise _error("schedule", text, "the boundaries ascend")


def _ascends(numbers: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


_EXAMPLES = {
    "schedule": "for example exponential_decay(1000, 0.96) or warmup(100) * cosine_decay(1000)",
    "clipping": "for example global_norm(1), norm(5) or value(0.1)",
    "weight decay": "for example l2(1e-4) or decoupled(0.01)",
}


def _error(what: str, text: str, why: str) -> GradstepError:
    return GradstepError(f"no {what} '{text}': {why}", kind="ValueError", hint=_EXAMPLES[what])
