"""Notation with the numbers put in: `∂L/∂e = d ⊙ ∂L/∂a = [1.06 1.96] ⊙ [.485 -.485]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from gradstep.core.nested_brackets import in_brackets
from gradstep.core.ops.declare.table import find
from gradstep.core.protocol.messages import StepInfo
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

_MOST = 4  # elements of one tensor; more would bury the formula


def formula(step: StepInfo | None, workspace: Workspace) -> str:
    """What a step computes and, when every tensor on its right-hand side is known and small, the
    same with values. Empty for an op without a formula, which is a name and nothing more."""
    if step is None:
        return ""
    definition = find(step.type)
    stated = definition is not None and bool(definition.formula)
    return with_numbers(step, workspace) if stated or step.type in ("AddN", "Const") else ""


def with_numbers(step: StepInfo, workspace: Workspace) -> str:
    """The step's text, and the same with values where they are known and few."""
    told = workspace.step_text(step.op)
    operands = workspace.operands(step.op)
    if operands is None:
        _ask_words(step, workspace)
        return told
    right = told.partition(" = ")[2]
    said = _said(right, operands)
    if not said:
        return told
    values = {text: _small(workspace.value(operands[text])) for text in said}
    symbols = tuple(sorted(said, key=len, reverse=True))
    missing: list[str] = []
    signed = _has_infinity(step, workspace)

    def value(match: re.Match[str]) -> str:
        found = values[match[0]]
        if found is None:
            missing.append(match[0])
            return match[0]
        return _written(found, signed)

    filled = _pattern(symbols).sub(value, right)
    return told if missing or filled == right else f"{told} = {filled}"


@lru_cache(256)  # it is said again with every step
def _pattern(symbols: tuple[str, ...]) -> re.Pattern[str]:
    """Any of these. A symbol begins and ends where a name does: `c` is not in `conj`, nor `loss` in
    `loss:1`."""
    any_of = "|".join(map(re.escape, symbols))
    return re.compile(rf"(?<![\w/:.∂])(?:{any_of})(?![\w/:(⁽|]|\.\w)")


def is_known(step: StepInfo, workspace: Workspace) -> bool:
    """Whether the text, and what is to be put in, is here; asks for what is not."""
    if workspace.operands(step.op) is None:
        _ask_words(step, workspace)
        return False
    return None not in _ask_values(step, workspace)


def _said(right: str, operands: Mapping[str, str]) -> list[str]:
    return [text for text in operands if text in right]


def _ask_words(step: StepInfo, workspace: Workspace) -> None:
    ask = partial(_ask_values, step, workspace)
    workspace.debugger.notations.when_known((step.op,), ask)


def _ask_values(step: StepInfo, workspace: Workspace) -> list[TensorValue | None]:
    """The text is here: what is to be put in comes before it is shown, and with it."""
    operands = workspace.operands(step.op) or {}
    said = _said(workspace.step_text(step.op).partition(" = ")[2], operands)
    return [workspace.value(operands[text]) for text in said]


def _small(found: TensorValue | None) -> TensorValue | None:
    known = found is not None and found.state == "known" and found.size <= _MOST
    return found if known else None


def _written(value: TensorValue, signed: bool) -> str:
    return in_brackets([_number(x, signed) for x in value.head.tolist()], value.shape)


def _number(x: object, signed: bool) -> str:
    """signed: zeros, too."""
    return f"{x if signed else x + 0.0:.3g}" if isinstance(x, float) else str(x)


def _has_infinity(step: StepInfo, workspace: Workspace) -> bool:
    """Whether the step made one: then 1/0 and 1/-0 are told apart."""
    found = workspace.value(step.outputs[0]) if step.outputs else None
    return found is not None and found.stats is not None and found.stats.infs > 0
