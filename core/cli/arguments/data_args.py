"""What --data and its fellows give, or else the document: batches to train and to validate on."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.output.command_output import usage
from gradstep.core.data.array_files import Reading
from gradstep.core.data.opened_data import OpenedData, open_data
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.engine.run.feed_values import fed_type
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.disk.memory_budget import Budget

_OF_DATA = ("batch", "epochs", "limit", "shuffle", "drop_last", "validate", "test")


def read_data(document: Document, args: argparse.Namespace) -> OpenedData | None:
    """What the arguments say over what the document has; None where neither has data. Raises
    GradstepError."""
    columns = _columns(args) or document.columns
    if not columns:
        hint = "say --data x=@FILE.csv, or give the document data"
        require_with(args, "--data", _OF_DATA, hint)
        return None
    own = document.data if not args.data else None
    dataset = replace(own or Dataset(columns), **_numbers(args))
    refs = [TensorRef.parse(name) for name in columns]
    kinds = {ref: fed_type(document.graph, ref) or TensorType(DType.FLOAT32) for ref in refs}
    reading = Reading(budget=Budget(args.memory), allow_nan=args.allow_nan, packed=document.packed)
    return open_data(dataset, kinds, reading)


def _numbers(args: argparse.Namespace) -> dict[str, Any]:
    """Those that are given; 0 is a seed as good as any."""
    given = {name: getattr(args, name) for name in _OF_DATA}
    return {n: value for n, value in given.items() if value is not None and value is not False}


def _columns(args: argparse.Namespace) -> Mapping[str, str]:
    columns: dict[str, str] = {}
    for text in args.data:
        name, equals, rows = text.partition("=")
        if not equals or not name.strip():
            raise usage(f"'{text}' is not NAME=ROWS", "write --data x=@FILE.csv:COLUMN")
        ref = str(TensorRef.parse(name.strip()))
        if ref in columns:
            raise usage(
                f"'{TensorRef.parse(ref).short}' is given twice by --data",
                "leave one of them away",
            )
        columns[ref] = rows.strip()
    fed = {str(TensorRef.parse(text.partition("=")[0].strip())) for text in args.feed}
    for ref in sorted(fed & columns.keys()):
        name = TensorRef.parse(ref).short
        raise usage(f"'{name}' is given by --feed and by --data", "leave one of them away")
    return columns
