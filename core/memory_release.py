"""Giving memory back when another document is open: memos, garbage in cycles, free pages."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_forgetting: list[Callable[[], object]] = []


def forget_with_document(forget: Callable[[], object]) -> None:
    """Have `forget` called when another document is open: it empties a memo of the whole process
    that documents fill."""
    _forgetting.append(forget)


def memo_of_document(maxsize: int | None) -> Callable[[Function], Function]:
    """A decorator: functools.lru_cache for what is found out about a document, or is kept because a
    document asked for it. It is emptied when another one is open, which else stays as long as few
    others are asked about. What is kept of kinds of operations is little, but it is made among what
    is made of the document, and one small thing holds a mebibyte of Python's memory."""

    def remember(function: Function) -> Function:
        remembering: Any = lru_cache(maxsize)(function)
        forget_with_document(remembering.cache_clear)
        return remembering  # type: ignore[no-any-return]

    return remember


def forget_memos() -> None:
    """Empty what this process remembers of the documents it has seen. Any thread may be asking."""
    for forget in _forgetting:
        forget()
    _forget_looked_up_names()


def _forget_looked_up_names() -> None:
    """Python remembers the last 4096 names that were looked up in classes. Some were made for it,
    as `visit_` with a name behind it, among what was made of a document."""
    forget = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    forget()


def release_memory() -> None:
    """Let all go that an earlier document has left. The collector looks at all that stays: not
    while somebody waits."""
    forget_memos()
    gc.collect()
    return_free_pages()


def return_free_pages() -> None:
    """Let the system have the pages that are free. The C library of Linux keeps most of them, and
    a process looks as large as it once was."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """malloc_trim(3), where there is one."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # which the first paint of a window need not wait for

    return getattr(ctypes.CDLL(None), "malloc_trim", None)
