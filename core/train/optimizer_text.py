"""An optimizer as a short text, as the command line takes it: `Adam(learning_rate=0.01)`.

Types, hyper-parameters and their order are those of `OPTIMIZERS`; nothing is ever passed to eval.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.train.optimizers import OPTIMIZERS, complete

_LONGEST = 1000  # characters
_EXAMPLE = "for example Adam, Adam(learning_rate=0.01) or GradientDescent(0.1)"


def read_optimizer(text: str) -> tuple[str, dict[str, float]]:
    """The type, and the hyper-parameters that the text gives; the others are as they are by
    default. Raises GradstepError (ValueError) for what cannot be read, an optimizer or
    hyper-parameter that there is not, one that is missing, and a value that is no number."""
    type, given = _parsed(text)
    return type, require_hyper(type, given)


def require_hyper(type: str, given: Mapping[str, Any]) -> dict[str, float]:
    """`given` as the numbers that they have to be; flags are 0 or 1. Raises GradstepError
    (ValueError) as `read_optimizer` does."""
    complete(type, dict.fromkeys(given, 0.0))
    return {name: _number(name, value) for name, value in given.items()}


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    try:
        if len(text) > _LONGEST:
            raise ValueError
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _error(f"no optimizer '{text:.60}': it cannot be read", _EXAMPLE) from None
    if isinstance(tree, ast.Name):
        return tree.id, {}
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise _error(f"no optimizer '{text:.60}': it cannot be read", _EXAMPLE)
    type, takes = tree.func.id, OPTIMIZERS.get(tree.func.id, {})
    if takes and len(tree.args) > len(takes):
        raise _error(f"{type} has {len(takes)} hyper-parameters", f"it has {', '.join(takes)}")
    given = dict(zip(takes, map(_value, tree.args), strict=False))
    for word in tree.keywords:
        if word.arg is None or word.arg in given:
            raise _error(f"no optimizer '{text:.60}': each setting is said once", _EXAMPLE)
        given[word.arg] = _value(word.value)
    return type, given


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.unparse(node)


def _number(name: str, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _error(f"{name} is a number, not {value!r:.40}", f"write {name}=0.01")
    return number


def _error(text: str, hint: str) -> GradstepError:
    return GradstepError(text, kind="ValueError", hint=hint)
