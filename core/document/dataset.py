"""A document's data: which rows go to which placeholders, in what batches, one batch a run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef

BATCH = 32  # rows of a step where nobody says how many
_BESIDE = re.compile(r"@\.\.?/")
_ABSOLUTE = re.compile(r"@(?=/|[A-Za-z]:/)")


@dataclass(frozen=True, slots=True)
class Dataset:
    """columns: tensor ("x:0") -> its rows, and what is done to them, as text: "@digits:images |
    scale(1/16)". Files are named by whole paths; in a .gradstep file those near it begin with "./"
    or "../".
    batch: rows of a run; run k is fed batch k. shuffle: seed of the order in each epoch, None for
    that of the data. drop_last: whether rows that are less than a batch are left out. validate: the
    share of the rows that is held back; test: the share that is held back besides, and looked at
    once all is over. limit: how many rows are taken, 0 for all. epochs: how often `gradstep train`
    goes through them."""

    columns: Mapping[str, str]
    batch: int = BATCH
    shuffle: int | None = None
    drop_last: bool = False
    validate: float = 0.0
    limit: int = 0
    epochs: int = 1
    test: float = 0.0


def require_sound(data: Dataset) -> None:
    """Raise GradstepError for numbers that say nothing, as a file may hold them."""
    for name, least in (("batch", 1), ("limit", 0), ("epochs", 1)):
        number: int = getattr(data, name)
        if number < least:
            raise _unsound(f"its {name} is {number}", f"write {least} or more")
    held = data.validate + data.test
    if not (data.validate >= 0 and data.test >= 0 and held < 1):
        raise _unsound(f"{held:g} of its rows are held back", "hold back 0 to 0.9")
    if data.shuffle is not None and not 0 <= data.shuffle < 2**63:
        raise _unsound(f"its seed is {data.shuffle}", "write a whole number such as 7")


def relabel_dataset(data: Dataset, name_of: Callable[[str], str]) -> Dataset:
    """With operation names put through `name_of`."""
    refs = {TensorRef.parse(name): text for name, text in data.columns.items()}
    columns = {str(TensorRef(name_of(ref.op), ref.index)): text for ref, text in refs.items()}
    return replace(data, columns=columns)


def dataset_without(data: Dataset | None, gone: Collection[str]) -> Dataset | None:
    """What is left of it when operations have been deleted; None where that is no column."""
    if data is None:
        return None
    left = {n: text for n, text in data.columns.items() if TensorRef.parse(n).op not in gone}
    return replace(data, columns=left) if left else None


def with_whole_paths(data: Dataset, folder: Path) -> Dataset:
    """As a document in `folder` means it: files beside it are named by their whole paths."""

    def whole(text: str) -> str:
        near = _BESIDE.match(text)
        if near is None:
            return text
        return (
            f"@{Path(os.path.normpath(folder / _steps(near[0]))).as_posix()}/{text[near.end() :]}"
        )

    return _changed(data, whole)


def with_near_paths(data: Dataset, folder: Path) -> Dataset:
    """As a document in `folder` writes it: what lies in that folder, or in the one around it, is
    named from there, so that both can be moved together."""
    near = {f"{folder.as_posix().rstrip('/')}/": "@./"}
    if folder.parent not in (folder, Path(folder.anchor)):
        near[f"{folder.parent.as_posix()}/"] = "@../"

    def written(text: str) -> str:
        if _ABSOLUTE.match(text):
            for start, short in near.items():
                if text[1:].startswith(start):
                    return short + text[1 + len(start) :]
        return text

    return _changed(data, written)


def short_text(text: str) -> str:
    """A column's text without the folders of its file."""
    return re.sub(r"^@(?:[A-Za-z]:)?/(?:[^/|:]*/)*(?=[^/|])", "@", text)


def _steps(near: str) -> str:
    return near[1:-1]  # "." or ".."


def _changed(data: Dataset, change: Callable[[str], str]) -> Dataset:
    columns = {name: change(text) for name, text in data.columns.items()}
    return data if columns == data.columns else replace(data, columns=columns)


def _unsound(what: str, hint: str) -> GradstepError:
    return GradstepError(f"the document's data: {what}", kind="ValueError", hint=hint)
