"""Python: a document is written as a program for TensorFlow, PyTorch or NumPy; none is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.formats.tensorflow_models import WRITE_GRAPH
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample

if TYPE_CHECKING:
    from gradstep.core.document.document import Document

_ARRAYS = (
    "gradients", "overrides", "stops", "initial", "feeds", "code", "fetches", "title", "note",
)  # fmt: skip
_TENSORFLOW = (*_ARRAYS, "optimizers", "init", "targets", "threads")
_RUN = "run it, and write its graph: " + WRITE_GRAPH.format("GRAPH")


def _is_program(sample: Sample) -> bool:
    return signs.is_named(".py", ".pyw")(sample) and signs.is_text(sample)


def _write(document: Document) -> bytes:
    from gradstep.core.io.script.python_script import to_python

    return to_python(document)


def _write_torch(document: Document) -> bytes:
    from gradstep.core.io.script.torch_script import to_torch

    return to_torch(document)


def _write_numpy(document: Document) -> bytes:
    from gradstep.core.io.script.numpy_script import to_numpy

    return to_numpy(document)


def _never(sample: Sample) -> bool:
    return False  # they are Python programs like others


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
        title="TensorFlow script",
        write=_write,
        keeps=_TENSORFLOW,
        todo=_RUN,
    ),
    Format(
        "torch_script",
        "a Python program",
        _never,
        suffixes=(".torch.py",),
        title="PyTorch script",
        write=_write_torch,
        keeps=_ARRAYS,
        todo=_RUN,
    ),
    Format(
        "numpy_script",
        "a Python program",
        _never,
        suffixes=(".numpy.py",),
        title="NumPy script",
        write=_write_numpy,
        keeps=_ARRAYS,
        todo=_RUN,
    ),
)
