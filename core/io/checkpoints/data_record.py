"""What a checkpoint says of the data that it was trained on, and what differs from other data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef

_NUMBERS = ("batch", "shuffle", "drop_last", "limit", "validate", "test")  # as arguments, too
_NONE = "none"  # what an argument that is not given means


class DataRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """columns: tensor -> its rows, as a short text; none at all for a training without data.
    batch to test: as a `Dataset` has them, None for none. rows: how many are trained on. epoch,
    number: of the batch that comes next, from 0."""

    columns: dict[str, str] = {}
    batch: int = 0
    shuffle: int | None = None
    drop_last: bool = False
    limit: int | None = None
    validate: float | None = None
    test: float | None = None
    rows: int = 0
    epoch: int = 0
    number: int = 0


def require_same_data(kept: DataRecord, here: DataRecord) -> None:
    """Raise GradstepError (FileError) that names what differs and what to do, where going on with
    the data that is here would feed other batches."""
    if bool(kept.columns) != bool(here.columns):
        there, now = ("data", "none") if kept.columns else ("no data", "some")
        raise _other(f"{there} there, {now} here", "give it the same --data")
    columns = [*_other_columns(kept.columns, here.columns)]
    numbers = [name for name in _NUMBERS if getattr(kept, name) != getattr(here, name)]
    if columns or numbers:
        said = [*columns, *(_difference(name, kept, here) for name in numbers)]
        asked = ["give it the same --data"] if columns else []
        raise _other("; ".join(said), ", ".join([*asked, *_arguments(numbers, kept)]))
    if kept.rows != here.rows:
        rows = f"{kept.rows:,} rows there, {here.rows:,} here"
        raise _other(rows, "give it the rows that it had")


def _other_columns(kept: Mapping[str, str], here: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*kept, *here]):
        there, now = kept.get(name, "no data"), here.get(name, "no data")
        if there != now:
            yield f"{TensorRef.parse(name).short} is {there} there, {now} here"


def _difference(name: str, kept: DataRecord, here: DataRecord) -> str:
    there, now = (_words(getattr(record, name)) for record in (kept, here))
    return f"{_argument(name)} {there} there, {now} here"


def _arguments(names: list[str], kept: DataRecord) -> Iterator[str]:
    """What to say in order to go on, for people."""
    values = {name: getattr(kept, name) for name in names if _words(getattr(kept, name)) != _NONE}
    texts = [f"{_argument(n)}{'' if v is True else f' {_words(v)}'}" for n, v in values.items()]
    if texts:
        yield f"say {' '.join(texts)}"
    if left := [_argument(name) for name in names if name not in values]:
        yield f"leave {' '.join(left)} away"


def _argument(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _words(value: Any) -> str:
    if value is None or value is False:
        return _NONE
    return "on" if value is True else f"{value:g}" if isinstance(value, float) else str(value)


def _other(what: str, hint: str) -> GradstepError:
    return GradstepError(
        f"the checkpoint was trained on other data: {what}",
        kind="FileError",
        hint=f"{hint}; or name another folder with --checkpoint",
    )
