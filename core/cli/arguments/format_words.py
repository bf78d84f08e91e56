"""What there is to open and to write, as `--help` says it."""

from __future__ import annotations

from gradstep.core.io.format_table import either, suffixes_opened, suffixes_written


def opens(*others: str) -> str:
    """As ".gradstep, .pb or .pbtxt"; others: what may be named besides."""
    return either((*suffixes_opened(), *others))


def writes(*others: str) -> str:
    """Like `opens`, of what is written."""
    return either((*suffixes_written(), *others))
