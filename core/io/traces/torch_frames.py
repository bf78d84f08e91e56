"""Where in a program an operation is from, as PyTorch notes it: the text of a traceback."""

from __future__ import annotations

import re

from gradstep.core.lowering.foreign_graph import SourceLine

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\S+)(?:\n +([^\n]*))?')


def source_lines(trace: str) -> tuple[SourceLine, ...]:
    """Its frames, the outermost first."""
    return tuple(
        SourceLine(_near(file), int(line[:9]), function, (text or "").strip())
        for file, line, function, text in _FRAME.findall(trace)
    )


def own_files(lines: tuple[SourceLine, ...]) -> set[str]:
    """The files of these that are not PyTorch's own."""
    return {line.file for line in lines if not line.file.startswith("torch/")}


def _near(file: str) -> str:
    """A file in a package without where that lies."""
    _, packaged, rest = file.rpartition("/site-packages/")
    return rest if packaged else file
