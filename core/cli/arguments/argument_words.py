"""Arguments as the words that they were, for another process to be given them."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator


def words_of(
    parser: argparse.ArgumentParser, args: argparse.Namespace, without: Container[str] = ()
) -> list[str]:
    """The options that differ from what they are by default, but `without` (their names, as
    `args` has them)."""
    return [
        word
        for action in parser._actions
        if action.option_strings and action.dest not in without
        for word in _words(action, getattr(args, action.dest, action.default))
    ]


def _words(action: argparse.Action, value: object) -> Iterator[str]:
    name = action.option_strings[-1]
    if value == action.default:
        return
    if action.nargs == 0:
        yield name
    elif isinstance(value, list | tuple):
        yield from (f"{name}={item}" for item in value)
    else:
        yield f"{name}={value}"
