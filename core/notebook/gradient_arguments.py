"""From the names that a script gives to the question that they make, and back to values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.requests import main_request
from gradstep.core.errors import GradstepError
from gradstep.core.program.questions.gradient_candidates import missing_end
from gradstep.core.program.questions.gradient_query import GradientQuery
from gradstep.core.program.questions.loaded_document import Loaded

Several = list[str] | tuple[str, ...]
Names = str | Several
Feeds = Mapping[str, Any]
Array = np.ndarray | None
Unconnected = Literal["none", "zero"]


class GradientOptions(TypedDict, total=False):
    """What `Session.grad` takes beyond of, wrt and feeds."""

    stop: Names
    override: Mapping[str, str] | None
    grad_ys: Names
    unconnected: Unconnected | None
    gate: bool


def question(
    of: Names | None,
    wrt: Names | None,
    stop: Names = (),
    override: Mapping[str, str] | None = None,
    grad_ys: Names = (),
    unconnected: Unconnected | None = None,
    gate: bool = False,
) -> GradientQuery:
    """The query that they make. Raises GradstepError for what is no name."""
    if not isinstance(unconnected, str | None) or unconnected not in (None, "none", "zero"):
        raise GradstepError(
            f"unconnected={unconnected!r} is not known", kind="ValueError", hint='"none" or "zero"'
        )
    overrides = {} if override is None else override
    if not isinstance(overrides, Mapping) or not all(
        isinstance(text, str) for text in (*overrides, *overrides.values())
    ):
        raise GradstepError(
            f"override={override!r:.60} is no mapping of names",
            kind="TypeError",
            hint='write override={"Floor": "Identity"}',
        )
    return GradientQuery(
        of=as_names(of),
        wrt=as_names(wrt),
        stop=as_names(stop),
        override=tuple(overrides.items()),
        grad_ys=as_names(grad_ys),
        unconnected=unconnected or "",
        gate=gate,
    )


def as_names(names: Names | None) -> tuple[str, ...]:
    """One name or several. Raises GradstepError for what is no name."""
    if names is None:
        return ()
    found = tuple(names) if isinstance(names, list | tuple) else (names,)
    for name in found:
        if not isinstance(name, str):
            raise GradstepError(
                f"{name!r:.60} is not the name of a tensor",
                kind="TypeError",
                hint='tensors go by name: "loss", or "split:1" for a further output',
            )
    return found


def as_path(path: Any) -> str:
    """Where a file is. Raises GradstepError (TypeError) for what is no path."""
    found = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(found, str):
        return found
    raise GradstepError(
        f"{path!r:.60} is no path", kind="TypeError", hint='give "net.gradstep", or a pathlib.Path'
    )


def require_request(loaded: Loaded) -> GradientRequest:
    """What is to be differentiated. Raises GradstepError where that is nothing."""
    request = main_request(loaded.document)
    lacks = missing_end(loaded.document.graph, request)
    if lacks is None:
        return request
    end, found = lacks
    raise GradstepError(
        f"{end} is missing, and the document does not say",
        kind="ValueError",
        hint=f"give {end} a name" + (f"; {found}" if found else ""),
    )


def as_asked_for(asked: Names | None, values: Mapping[str, Array]) -> Any:
    """Values in the shape of the question: of a name one, of several a list, else all by name."""
    if asked is None:
        return dict(values)
    return values[asked] if isinstance(asked, str) else [values[name] for name in asked]
