"""Layers: which column each box stands in, so that every arrow of an acyclic diagram goes right."""

from __future__ import annotations

from collections import deque

import numpy as np

from gradstep.core.layout.box_diagram import Diagram

# A box whose next reader is more columns away than this moves up to it: inputs of a small
# network stand in one column on the left, weights of a deep one beside their layers.
PULL = 4


def acyclic(diagram: Diagram) -> np.ndarray:
    """The arrows with those that close a cycle turned round. int64[m, 2]."""
    after: list[list[int]] = [[] for _ in range(len(diagram))]
    for number, (source, _) in enumerate(diagram.arrows.tolist()):
        after[source].append(number)
    arrows = diagram.arrows.copy()
    closing = _closing(diagram, after)
    arrows[closing] = arrows[closing, ::-1]
    return arrows


def layers(diagram: Diagram) -> np.ndarray:
    """Layer of every box, from 0. int64[n]. Longest path from the left, then pulled right; what
    belongs to its readers stands next to the first of them."""
    arrows = acyclic(diagram)
    before, after = _neighbours(len(diagram), arrows)
    order = _topological(before, after)
    layer = np.zeros(len(diagram), dtype=np.int64)
    for box in order:
        layer[box] = max((layer[b] + 1 for b in before[box]), default=0)
    for box in reversed(order):
        if after[box] and len(after[box]) >= len(before[box]):
            latest = min(layer[a] for a in after[box]) - 1
            if diagram.near[box] or latest - layer[box] > PULL:
                layer[box] = latest
    return layer


def _closing(diagram: Diagram, after: list[list[int]]) -> list[int]:
    """Numbers of the arrows that lead back into the path of a depth-first walk."""
    target = diagram.arrows[:, 1].tolist()
    state = [0] * len(diagram)  # 0 not seen, 1 on the path, 2 done
    closing: list[int] = []
    for start in range(len(diagram)):
        stack = [(start, iter(after[start]))] if state[start] == 0 else []
        while stack:
            box, rest = stack[-1]
            state[box] = 1
            for arrow in rest:
                if state[target[arrow]] == 1:
                    closing.append(arrow)
                elif state[target[arrow]] == 0:
                    stack.append((target[arrow], iter(after[target[arrow]])))
                    break
            else:
                state[box] = 2
                stack.pop()
    return closing


def _neighbours(count: int, arrows: np.ndarray) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in arrows.tolist():
        before[target].append(source)
        after[source].append(target)
    return before, after


def _topological(before: list[list[int]], after: list[list[int]]) -> list[int]:
    missing = [len(b) for b in before]
    ready = deque(box for box, count in enumerate(missing) if count == 0)
    order: list[int] = []
    while ready:
        box = ready.popleft()
        order.append(box)
        for reader in after[box]:
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    return order
