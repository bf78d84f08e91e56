"""A document's data as a record of its file, and back; and its files as they are named in one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gradstep.core.document.dataset import Dataset, with_near_paths, with_whole_paths
from gradstep.core.document.document import Document
from gradstep.core.io.native import file_schema


def write_dataset(data: Dataset) -> file_schema.DatasetRecord:
    return file_schema.DatasetRecord(
        columns=dict(data.columns),
        batch=data.batch,
        shuffle=data.shuffle,
        drop_last=data.drop_last,
        validate=data.validate,
        limit=data.limit,
        epochs=data.epochs,
        test=data.test or None,
    )


def read_dataset(record: file_schema.DatasetRecord) -> Dataset:
    """The inverse of `write_dataset`."""
    return Dataset(
        record.columns,
        record.batch,
        record.shuffle,
        record.drop_last,
        record.validate,
        record.limit,
        record.epochs,
        record.test or 0.0,
    )


def as_opened(document: Document, path: str | os.PathLike[str]) -> Document:
    """The document that the file at `path` holds, with whole paths for what it names."""
    return _named(document, path, with_whole_paths)


def as_saved(document: Document, path: str | os.PathLike[str]) -> Document:
    """What the file at `path` is to hold for it: what lies beside that is named from there."""
    return _named(document, path, with_near_paths)


def _named(
    document: Document,
    path: str | os.PathLike[str],
    change: Callable[[Dataset, Path], Dataset],
) -> Document:
    if document.data is None:
        return document
    return document.with_(data=change(document.data, Path(path).absolute().parent))
