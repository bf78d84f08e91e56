"""Opening a document for Python: within a memory budget, with its code only where it is trusted."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place as placed
from gradstep.core.engine.placed_backend import open_placed
from gradstep.core.errors import error_text
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget, OverBudgetError, enough_for
from gradstep.core.io.open_document import read
from gradstep.core.notebook.open_document_session import Session
from gradstep.core.program.questions.code_from_file import code_from
from gradstep.core.program.questions.loaded_document import with_functions
from gradstep.core.program.trust.code_trust import permission, set_aside_damage
from gradstep.core.program.trust.permission_levels import Permission

NOWHERE: Mapping[str, str] = MappingProxyType({})


def open_session(
    path: str | os.PathLike[str],
    trusted: bool,
    code: str | os.PathLike[str] | None,
    memory: int | None,
    devices: DeviceServices,
    device: str,
    place: Mapping[str, str] = NOWHERE,
) -> Session:
    """See `gradstep.open`."""
    document = _read(path, memory)
    may = Permission.FULL if trusted or not document.code else _decided(document)
    for target, other in place.items():
        document = placed(document, [target], other)
    backend = open_placed(device, document.graph, devices.open_backend)
    hint = (
        f"read it with `gradstep convert {os.fspath(path)} -`, "
        "then open the document with trusted=True"
    )
    given = {} if code is None else code_from(document, os.fspath(code))
    return Session(with_functions(document, given, may, hint), backend, Path(path).name, devices)


def _read(path: str | os.PathLike[str], memory: int | None) -> Document:
    try:
        return read(path, Budget(DEFAULT if memory is None else memory))
    except OverBudgetError as error:
        error.hint = f"if it is meant to be so large, allow it: memory={enough_for(error)}"
        raise


def _decided(document: Document) -> Permission:
    """What the user has said of this document's Python before."""
    damage = set_aside_damage()
    if damage is not None:
        warnings.warn(error_text(damage), stacklevel=4)
    return permission(document)
