"""Builds the documents in assets/examples. Run `python -m tests.examples.build` to write them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType

from gradstep.core.document.document import Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust.example_index import INDEX, entry_of, to_bytes
from tests.examples import (
    adversaries,
    branches,
    clipping,
    depth,
    devices,
    dropout,
    freezing,
    loss_mistakes,
    losses,
    networks,
    nothing,
    optimizing,
    overrides,
    queues,
    recurrent,
    rounding,
    second_order,
    sessions,
    start,
    state,
    stops,
)
from tests.examples.page import PAGE, page

FOLDER = Path(__file__).parents[2] / "assets" / "examples"
GROUPS: tuple[ModuleType, ...] = (
    start,
    overrides,
    rounding,
    second_order,
    stops,
    adversaries,
    nothing,
    depth,
    state,
    branches,
    optimizing,
    clipping,
    freezing,
    networks,
    dropout,
    recurrent,
    losses,
    loss_mistakes,
    devices,
    sessions,
    queues,
)  # as the start page lists them

Builder = Callable[[], Document]


def _builders(group: ModuleType) -> dict[str, Builder]:
    return {builder.__name__: _in_group(builder, group.GROUP) for builder in group.EXAMPLES}


def _in_group(builder: Builder, group: str) -> Builder:
    return lambda: builder().with_(group=group)


EXAMPLES: Mapping[str, Builder] = {
    name: builder for group in GROUPS for name, builder in _builders(group).items()
}

# Their runs wait for what threads do beside them.
THREADED = frozenset(_builders(queues))


def index(documents: Mapping[str, Document]) -> bytes:
    """What the start page lists, in the order of the groups."""
    return to_bytes([entry_of(name, document) for name, document in documents.items()])


def main(names: Iterable[str] = ()) -> None:
    """Write these examples, or all of them and nothing else beside them."""
    documents = {name: build() for name, build in EXAMPLES.items()}
    chosen = tuple(names)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen or documents:
        gradstep_file.save(FOLDER / f"{name}.gradstep", documents[name])
    for path in FOLDER.glob("*.gradstep"):
        if path.stem not in documents and not chosen:
            path.unlink()
    (FOLDER / INDEX).write_bytes(index(documents))
    PAGE.write_text(page(documents), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
