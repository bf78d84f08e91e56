"""The canvas' picture of a document, for notebooks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file

_LONGEST = 60  # seconds
_HEAD = re.compile(
    r'^.*?<svg width="[^"]*" height="[^"]*"(\s+)viewBox="(\S+ \S+ (\S+) (\S+))"', re.S
)


def draw_svg(document: Document) -> str:
    """The document's whole graph as `gradstep convert FILE OUT.svg` draws it, as an <svg> of one
    pixel per scene unit. Raises GradstepError (PictureError) where Qt is missing or fails.

    A process of its own draws it: Qt ends a process in which it cannot draw, wants the main thread,
    and there may be another application in this one.
    """
    with TemporaryDirectory(prefix="gradstep-") as folder:
        source, out = Path(folder, "graph.gradstep"), Path(folder, "graph.svg")
        gradstep_file.save(source, document)
        _convert(source, out)
        return _element(out.read_text(encoding="utf-8"))


def _convert(source: Path, out: Path) -> None:
    command = [sys.executable, "-P", "-m", "gradstep.main", "convert", str(source), str(out)]
    try:
        done = subprocess.run(
            [*command, "--memory", f"{1 << 20}GiB"],  # it is open already
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _no_picture(str(error)) from None
    if done.returncode or not out.exists():
        lines = done.stderr.strip().splitlines()
        raise _no_picture(lines[-1] if lines else f"exit status {done.returncode}")


def _element(svg: str) -> str:
    """The file without its XML declaration, which HTML has none of, in pixels, and no wider than
    the page."""
    size = r'<svg width="\3" height="\4" style="max-width:100%;height:auto"\1viewBox="\2"'
    return _HEAD.sub(size, svg, count=1)


def _no_picture(why: str) -> GradstepError:
    return GradstepError(
        f"the graph could not be drawn: {why}",
        kind="PictureError",
        hint="gradstep doctor says what Qt lacks on this machine",
    )
