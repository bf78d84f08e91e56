"""A recording: what the libraries do on a card, as one table and one archive of arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.card import cast_rows, example_trials, function_errors, rule_rows
from tests.card.libraries import NAMES, names, unpacked


def tasks(only: Sequence[str] = ()) -> list[str]:
    """Everything that is recorded, or of the kinds that `only` names; those of a library together,
    as none shares a process with another."""
    found = [
        *(t for row in rule_rows.ROWS for t in names(f"rule|{row}") if _has(row, t)),
        *(t for kind in cast_rows.TYPES for t in names(f"cast|{kind}")),
        *(t for function in function_errors.FUNCTIONS for t in names(f"ulp|{function}")),
        *(f"outputs|cupy|{name}" for name in example_trials.names()),
    ]
    found = [task for task in found if not only or task.split("|")[0] in only]
    return sorted(found, key=lambda task: -NAMES.index(task.split("|")[1]))


def _has(row: str, task: str) -> bool:
    return rule_rows.ROWS[row].of(task.split("|")[1]) is not None


def write(folder: Path, facts: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """card.json and card.npz in `folder`; what is in them, counted."""
    arrays: dict[str, np.ndarray] = {}
    rows = {name: _filed(name, result, arrays) for name, result in _flat(results)}
    text = json.dumps({"facts": facts, "rows": rows}, ensure_ascii=False, indent=1)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(folder / "card.npz", **{"facts": np.array(json.dumps(facts)), **arrays})
    counted = {kind: sum(1 for row in rows.values() if kind in row) for kind in _KINDS}
    sizes = {f: (folder / f).stat().st_size for f in ("card.json", "card.npz")}
    return {"rows": len(rows), **counted, "arrays": len(arrays), "bytes": sizes}


_SHORT = 64  # elements of an array that people may read in the table
_KINDS = ("values", "raised", "lost", "died", "absent", "max")


def readable(said: Mapping[str, Any]) -> str:
    return "recorded " + ", ".join(f"{name} {n}" for name, n in said.items())


def _flat(results: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every result under a name of its own, in order."""
    for task, result in sorted(results.items()):
        if "rows" in result:
            for part, row in result["rows"].items():
                yield f"{task}|{part}", row
            result = {k: v for k, v in result.items() if k in ("lost", "stopped")}
        if result:
            yield task, result


def _filed(name: str, row: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The row with its short arrays as text; long ones go to the archive, under the row's name."""
    if "values" not in row:
        return row
    said = []
    for index, array in enumerate(unpacked(value) for value in row["values"]):
        if array.size <= _SHORT:
            said.append(as_text(array))
        else:
            arrays[f"{name}|{index}"] = array
            said.append(f"{array.dtype.name}{list(array.shape)} in the archive")
    return {**row, "values": said}


def as_text(array: np.ndarray) -> str:
    """Element type, shape and elements; each in as few digits as give the same number again."""
    elements = " ".join(str(x) for x in array.reshape(-1))
    return f"{array.dtype.name}{list(array.shape)}: {elements}"


def from_text(text: str) -> np.ndarray:
    """What `as_text` was given."""
    kind, _, elements = text.partition("]: ")
    name, _, shape = kind.partition("[")
    numbers = [_number(word, name) for word in elements.split()]
    return np.array(numbers, name).reshape([int(n) for n in shape.split(",") if n.strip()])


def _number(word: str, dtype: str) -> Any:
    if dtype == "bool":
        return word == "True"
    if dtype.startswith("complex"):
        return complex(word)
    return float(word) if dtype.startswith("float") else int(word)
