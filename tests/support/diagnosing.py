"""What the lints find in a document that a test draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.lint_table import BY_CODE
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive

Draw = Callable[[GraphBuilder], object]


def drawn(draw: Draw, of: str = "", wrt: Sequence[str] = (), **parts: Any) -> Document:
    """A document of what `draw` makes. initial, feeds: name -> numbers; fetches: names."""
    build = GraphBuilder()
    draw(build)
    for part in ("initial", "feeds"):
        parts[part] = {name: _constant(value) for name, value in parts.get(part, {}).items()}
    parts["fetches"] = tuple(TensorRef.parse(name) for name in parts.get("fetches", ()))
    if of:
        parts.setdefault("request", GradientRequest.to(of, *wrt))
    return Document(graph=build.build(), **parts)


def findings(document: Document, code: str, runs: int = 0) -> list[Finding]:
    """Those of one lint; runs: how many are recorded before it looks."""
    program = derive(document)
    session = DebugSession(program) if runs else None
    for _ in range(runs):
        assert session is not None
        assert session.command("continue_").reason == "end"
    return [*BY_CODE[code].looks(Examined(document, program, session))]


def _constant(value: Any) -> Constant:
    return value if isinstance(value, Constant) else Constant(np.asarray(value, np.float32))
