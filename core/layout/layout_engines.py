"""Automatic layout: from boxes and arrows to places, by the engine that suits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.layout import graphlay_engine, nested_scopes, sugiyama
from gradstep.core.layout.box_diagram import Arrow, Box, Diagram, Positions, by_id

# Up to so many boxes our own engine answers at once, so that no process need be started.
SMALL = 150
ENGINES = {"graphlay": graphlay_engine.arrange, "own": sugiyama.arrange}


def layout(boxes: Sequence[Box], arrows: Sequence[Arrow], engine: str = "") -> Positions:
    """Centres of the boxes, inputs on the left, results on the right; the same every time.

    engine: "graphlay" or "own"; empty chooses. No two boxes overlap, and in an acyclic diagram
    every arrow goes right. Boxes of a scope stand together. May take long on large diagrams: see
    worker.arrange.
    """
    if not boxes:
        return {}

    def centres(diagram: Diagram) -> np.ndarray:
        return ENGINES[engine or choose(diagram)](diagram)

    if any(box.scopes for box in boxes):
        return nested_scopes.arrange(boxes, arrows, centres)
    return by_id(boxes, centres(Diagram.of(boxes, arrows)))


def choose(diagram: Diagram) -> str:
    """The engine to ask first."""
    return "graphlay" if len(diagram) > SMALL and graphlay_engine.suits(diagram) else "own"
