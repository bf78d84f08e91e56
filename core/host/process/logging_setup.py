"""GRADSTEP_LOG: what a process writes about its work to standard error.

    GRADSTEP_LOG=debug                          # everything
    GRADSTEP_LOG=info,gradstep.engine=debug     # starts and ends, and every plan that is compiled

A level is debug, info, warning or error. It is read once, as the process starts; an engine has it
from the environment of who started it, confined or not, and what the engine writes is passed on.
"""

from __future__ import annotations

import codecs
import logging
import os
import sys
from collections.abc import Callable, Mapping

from gradstep.core.errors import GradstepError
from gradstep.core.visible_text import visible

VARIABLE = "GRADSTEP_LOG"
LOGGERS = (
    "gradstep",
    "gradstep.autodiff",
    "gradstep.debug",
    "gradstep.engine",
    "gradstep.host",
)
_LEVELS = ("debug", "info", "warning", "error")


class LineFormatter(logging.Formatter):
    """One line each: time, process, level, logger, message; below it a traceback, if there is one.
    Names in messages are the user's, so they are made visible; see gradstep.core.visible_text."""

    def __init__(self, role: str) -> None:
        process = role.replace("%", "%%")
        line = f"%(asctime)s.%(msecs)03d {process}[%(process)d] %(levelname)s %(name)s: %(message)s"
        super().__init__(line, "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def start_logging(role: str) -> bool:
    """Write what GRADSTEP_LOG asks for to standard error, once in a process; whether it does. role:
    what the process is, as its lines say it. Raises GradstepError (UsageError) for a level or a
    logger that there is not."""
    wish = os.environ.get(VARIABLE, "")
    if not wish.strip():
        return False
    root = logging.getLogger()
    if not any(isinstance(handler.formatter, LineFormatter) for handler in root.handlers):
        levels = _levels(wish)
        handler = logging.StreamHandler()
        handler.setFormatter(LineFormatter(role))
        root.addHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
    return True


def echo() -> Callable[[bytes], None]:
    """Passes what an engine writes on its standard error on to ours, made visible, where
    GRADSTEP_LOG is set; else it does nothing."""
    if not os.environ.get(VARIABLE, "").strip():
        return lambda data: None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(data: bytes) -> None:
        if sys.stderr is not None:  # a program without a terminal has none
            sys.stderr.write(visible(decoder.decode(data)))
            sys.stderr.flush()

    return write


def _levels(wish: str) -> Mapping[str, int]:
    found = {}
    for part in filter(None, map(str.strip, wish.split(","))):
        name, equals, level = part.partition("=")
        if not equals:
            name, level = LOGGERS[0], part
        name, level = name.strip(), level.strip().lower()
        if level not in _LEVELS:
            raise _wrong(f"there is no level '{level}'", f"one of {', '.join(_LEVELS)}")
        if name not in LOGGERS:
            raise _wrong(f"there is no logger '{name}'", f"one of {', '.join(LOGGERS)}")
        found[name] = logging.getLevelNamesMapping()[level.upper()]
    return found


def _wrong(what: str, instead: str) -> GradstepError:
    return GradstepError(
        f"{VARIABLE}: {what}",
        kind="UsageError",
        hint=f"{instead}; such as {VARIABLE}=info,gradstep.engine=debug",
    )
