"""Placing operations and scopes on devices, as `layer1=torch:cpu` says it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradstep.core.document.document import Document
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.loop import anywhere, way_to, within
from gradstep.core.graph.placed_devices import device_spec, placed_on
from gradstep.core.graph.scopes import parents
from gradstep.core.graph.suggestions import instead
from gradstep.core.ops.declare.placeable_ops import STAY, can_be_placed


def place(document: Document, targets: Iterable[str], device: str) -> Document:
    """With the operations, and all that is in the scopes, that `targets` name, placed on `device`;
    "": on that of the run. Raises GradstepError (KeyError) for what the graph does not have, and
    (ValueError) for what is no name of a device."""
    try:
        spec = device_spec(device)
    except ValueError as error:
        raise GradstepError(
            str(error), kind="ValueError", hint="gradstep doctor lists the devices"
        ) from None
    names = _operations(document, targets, bool(spec))
    graph = edits.set_devices(document.graph, dict.fromkeys(names, spec))
    return document if graph is document.graph else replace(document, graph=graph)


def place_as_written(document: Document, texts: Iterable[str]) -> Document:
    """The same for each `NAME=DEVICE`; `NAME=` takes a placement away. Raises GradstepError."""
    for text in texts:
        target, equals, device = text.partition("=")
        if not equals or not target.strip():
            raise GradstepError(
                f"'{text}' places nothing",
                kind=USAGE,
                hint="write NAME=DEVICE, such as layer1=torch:cpu",
            )
        document = place(document, [target.strip()], device.strip())
    return document


def _operations(document: Document, targets: Iterable[str], may_refuse: bool) -> list[str]:
    """Those that are named, and all in the scopes that are, which can be placed; without
    `may_refuse` the others, too, of which a file may say what nobody could place here."""
    wanted = {name: way_to(document.graph, name) for name in targets}
    names = [name for name, way in wanted.items() if way is not None]
    for name in names:
        if may_refuse and not can_be_placed(anywhere(document.graph, name)):
            raise GradstepError(f"{name} cannot be placed", kind="ValueError", node=name, hint=STAY)
    scopes = {name.rstrip("/") for name, way in wanted.items() if way is None}
    there, able = set[str](), set[str]()
    for op in within(document.graph) if scopes else ():
        around = scopes.intersection(parents(op.name))
        there |= around
        if around and (can_be_placed(op) or (placed_on(op) and not may_refuse)):
            able |= around
            names.append(op.name)
    for scope in sorted(scopes - able):
        raise _not_placed(document, scope, scope in there)
    return names


def _not_placed(document: Document, scope: str, is_there: bool) -> GradstepError:
    if is_there:
        return GradstepError(f"nothing in {scope} can be placed", kind="ValueError", hint=STAY)
    names = [op.name for op in within(document.graph)]
    known = {*names, *(around for name in names for around in parents(name))}
    return GradstepError(
        f"there is no operation and no scope '{scope}' to be placed",
        kind="KeyError",
        hint=instead(scope, sorted(known)),
    )
