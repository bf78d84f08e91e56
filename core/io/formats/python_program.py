"""Python: a document is written as a program for TensorFlow; programs are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.formats.tensorflow_models import WRITE_GRAPH
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample

if TYPE_CHECKING:
    from gradstep.core.document.document import Document

_RUN = "run it, and write its graph: " + WRITE_GRAPH.format("GRAPH")


def _is_program(sample: Sample) -> bool:
    return signs.is_named(".py", ".pyw")(sample) and signs.is_text(sample)


def _write(document: Document) -> bytes:
    from gradstep.core.io.script.python_script import to_python

    return to_python(document)


FORMATS = (
    Format(
        "notebook",
        "a Jupyter notebook",
        signs.mentions("{", '"cells"', '"nbformat"'),
        todo=_RUN,
    ),
    Format(
        "python",
        "a Python program",
        _is_program,
        general=True,
        suffixes=(".py",),
        title="Python",
        write=_write,
        todo=_RUN,
    ),
)
