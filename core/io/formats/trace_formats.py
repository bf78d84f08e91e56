"""Traces of other frameworks' programs, as their exporters write them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

_SUFFIX = ".gstrace"


def _sniff(sample: Sample) -> bool:
    return signs.packs(r"^graph\.json$")(sample) or _is_cut_off(sample)


def _is_cut_off(sample: Sample) -> bool:
    """A zip without its end, of which only the name tells what was in it."""
    named = PurePath(sample.name).suffix.lower() == _SUFFIX
    return named and signs.is_zip(sample) and not sample.members


def _read_pt2(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.traces.traced_document import from_pt2

    return from_pt2(data, name, budget)


def _read(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.traces.traced_document import from_trace

    return from_trace(data, name, budget)


FORMATS = (
    Format(
        "trace",
        "a trace of a model in PyTorch or JAX",
        _sniff,
        suffixes=(_SUFFIX,),
        title="Traces of PyTorch and JAX",
        read=_read,
        by_name=True,
    ),
    Format(
        "torch_export",
        "a program exported from PyTorch",
        signs.packs(r"(^|/)(serialized_exported_program\.json|models/[^/]+\.json)$"),
        suffixes=(".pt2",),
        title="Programs exported from PyTorch",
        read=_read_pt2,
    ),
)
