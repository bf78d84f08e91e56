"""What is public in Python: it looks at the kinds of its arguments, and its errors are ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.notebook.error_notes import add_notes

_P = ParamSpec("_P")
_T = TypeVar("_T")

# As a parameter is annotated: what may be given, and what that is called.
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "int": ((int, np.integer), "a whole number"),
    "bool": ((bool, np.bool_), "True or False"),
}


def public(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function, with the notes of `add_notes` on its errors. Texts, whole numbers and flags are
    looked at before it is called: GradstepError (TypeError) for another kind. What it takes more
    of, it looks at itself."""
    signature = inspect.signature(function)
    looked_at = {
        name: str(parameter.annotation).removesuffix(" | None")
        for name, parameter in signature.parameters.items()
    }

    @wraps(function)
    def called(*args: _P.args, **options: _P.kwargs) -> _T:
        with add_notes():
            try:
                given = signature.bind(*args, **options).arguments
            except TypeError:
                given = {}  # a misspelt option, or one too few, is Python's own error
            for name, value in given.items():
                default = signature.parameters[name].default
                if looked_at[name] in _KINDS and value is not default:
                    _require(function.__name__, name, looked_at[name], value)
            return function(*args, **options)

    return called


def _require(function: str, name: str, kind: str, value: Any) -> None:
    types, words = _KINDS[kind]
    if isinstance(value, types) and (kind == "bool" or not isinstance(value, bool)):
        return
    raise GradstepError(
        f"{name} of {function} is {words}, not {value!r:.40}",
        kind="TypeError",
        hint=f"give {name} {words}",
    )
