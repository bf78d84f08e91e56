"""graphlay as a layout engine, and the rule for when it may be asked."""

from __future__ import annotations

import numpy as np

from gradstep.core.layout.box_diagram import BOX_GAP, LAYER_GAP, Diagram, snap_positions
from gradstep.core.layout.layer_assignment import acyclic, layers

# Beyond these graphlay 0.3.1 takes seconds to minutes (200 readers of one box: 2 s, 400: 28 s).
MAX_BOXES = 2_000
MAX_DEGREE = 100
MAX_SPAN = 20_000

OPTIONS = {
    "direction": "leftright",
    "spacing": {"layer_gap": LAYER_GAP, "node_gap": BOX_GAP + 8, "isolated_gap": BOX_GAP},
}


def suits(diagram: Diagram) -> bool:
    """Whether graphlay is known to be quick on a diagram of this form."""
    if len(diagram) > MAX_BOXES or not len(diagram.arrows):
        return False
    degree = np.bincount(diagram.arrows.ravel(), minlength=len(diagram))
    layer = layers(diagram)
    arrows = acyclic(diagram)
    span = (layer[arrows[:, 1]] - layer[arrows[:, 0]]).sum()
    return bool(degree.max() <= MAX_DEGREE and span <= MAX_SPAN)


def arrange(diagram: Diagram) -> np.ndarray:
    """Centres, float64[n, 2]. Holds the interpreter lock: not for the window's process."""
    import graphlay

    graph = graphlay.Graph()
    for (width, height), layer in zip(diagram.sizes, layers(diagram), strict=True):
        graph.node(width=float(width), height=float(height), rank={"fixed": int(layer)})
    for source, target in acyclic(diagram).tolist():
        graph.edge(source, target)
    nodes = graphlay.layout(graph, options=OPTIONS).nodes
    centres = np.array([(n["center"]["x"], n["center"]["y"]) for n in nodes], dtype=np.float64)
    return snap_positions(centres - (centres - diagram.sizes / 2).min(axis=0), diagram.sizes)
