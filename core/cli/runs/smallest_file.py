"""Writing the smallest document that shows what is wrong, for the commands that find something."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.cli.output.left_out_remark import remark
from gradstep.core.cli.output.progress_line import progress_line
from gradstep.core.data.first_batch import write_exported
from gradstep.core.document.document import Document
from gradstep.core.io.export_document import Draw
from gradstep.core.io.format_table import format_written_as, suffix_written


def write_smallest(
    path: str, find: Callable[[], Document], draw: Draw | None = None
) -> tuple[dict[str, object], str]:
    """What there is to say of it, as JSON has it and in words. Raises GradstepError, of a name that
    no format has before anything is looked for. draw: see export_document.write."""
    format_written_as(suffix_written(path), is_drawn=draw is not None)
    with progress_line():
        small = find()
    remark(path, write_exported(path, small, draw))
    count = len(small.graph)
    found: dict[str, object] = {"file": path, "operations": count, "names": [*small.graph.order]}
    show = "1 operation shows" if count == 1 else f"{count} operations show"
    return found, f"{show} it: {path}"
