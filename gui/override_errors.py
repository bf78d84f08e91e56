"""Errors in methods that Qt calls, made whole before PySide reads them: else the process ends.

Python 3.11 keeps an error that C code raised (an index out of range, a Qt object that is gone) as
its class and its text until somebody handles it. PySide 6.8 and later take that text for the error,
and read what is not there; Python 3.12 has whole errors from the beginning.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, MethodDescriptorType
from typing import Any

from PySide6.QtCore import QObject

_WHOLE_SINCE = 3, 12  # of Python
_WRAPPED: Any = QObject.__mro__[1]  # shiboken's class, of which all of Qt's are
_MARK = "raises_whole"


def guard_overrides() -> None:
    """Guard the overrides of all classes that are made from here on."""
    if sys.version_info < _WHOLE_SINCE:
        setattr(_WRAPPED, "__init_subclass__", classmethod(_guard))  # noqa: B010


def _guard(made: type, /, **options: Any) -> None:
    super(_WRAPPED, made).__init_subclass__(**options)
    of_qt = [vars(base) for base in made.__mro__ if _is_of_qt(base)]
    for owner in made.__mro__:  # a mixin knows no Qt
        if not _is_of_qt(owner):
            for name, method in [*vars(owner).items()]:
                if _is_plain(method) and any(_is_virtual(base.get(name)) for base in of_qt):
                    setattr(owner, name, _raising_whole(method))


def _is_of_qt(base: type) -> bool:
    return base.__module__.startswith("PySide6.")


def _is_plain(method: object) -> bool:
    return type(method) is FunctionType and not hasattr(method, _MARK)


def _is_virtual(method: object) -> bool:
    """Or at least one of Qt's."""
    return type(method) is MethodDescriptorType


def _raising_whole(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def override(*arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except BaseException:  # whoever handles an error makes it whole
            raise

    setattr(override, _MARK, True)
    return override
