"""The reference pages are what tables and tree make, and docs/ops.md says what it should."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import UNDECLARED, Gradient
from gradstep.core.ops.declare.table import all_ops, lookup
from gradstep.core.reference.__main__ import DOCS, PAGES
from gradstep.core.reference.gradient_text import gradient_lines, second_order
from gradstep.core.reference.op_entry import entry


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.slow
def test_the_committed_page_is_what_is_made(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert text == PAGES[name](), f"docs/{name} is out of date: run ./dev docs"


def test_every_op_has_a_section_and_a_link_that_leads_there() -> None:
    text = (DOCS / "ops.md").read_text(encoding="utf-8")
    for definition in all_ops():
        assert f"\n#### {definition.type}\n" in text
        assert f"[{definition.type}](#" in text
    anchors: dict[str, int] = {}
    found = set()
    for heading in re.findall(r"^#{2,4} (.+)$", text, re.M):
        anchor = heading.lower().replace(" ", "-")
        count = anchors[anchor] = anchors.get(anchor, -1) + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    assert set(re.findall(r"\(#([\w-]+)\)", text)) == found


def test_a_gradient_is_written_from_the_operations_that_it_makes() -> None:
    assert gradient_lines(lookup("Tanh")) == ["`∂L/∂x = ∂L/∂y ⊙ (1 − y ⊙ y)` (TanhGrad)"]
    assert gradient_lines(lookup("MatMul")) == [
        "`∂L/∂a = ∂L/∂product · bᵀ` (MatMul)",
        "`∂L/∂b = aᵀ · ∂L/∂product` (MatMul)",
    ]
    assert "`indices`: None" in gradient_lines(lookup("GatherV2"))


def _other_rule(op: OpView, g: Tensor) -> Tensor:
    return call("Neg", g)


def test_another_rule_is_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(lookup("Tanh"), gradient=Gradient(_other_rule))
    monkeypatch.setitem(table._TABLE, "Tanh", changed)
    assert gradient_lines(changed) == ["`∂L/∂x = −∂L/∂y` (Neg)"]
    assert second_order(changed) == "none, because the gradient depends on no input"


def test_no_gradient_is_told_from_no_rule() -> None:
    assert gradient_lines(lookup("Floor")) == ["none, on purpose: every input gets None"]
    assert "LookupError" in gradient_lines(replace(lookup("Tanh"), gradient=UNDECLARED))[0]
    assert gradient_lines(lookup("Const")) == ["none: it has no inputs"]


def test_an_entry_has_defaults_choices_and_marks() -> None:
    attrs = {"padding": str, "depth": 3, "kind": DType, "shape": (1, 2), "keep_dims": False}
    text = entry(replace(lookup("Sum"), attrs=attrs, choices={"padding": ("SAME", "VALID")}))
    assert "`padding` (str, required) (one of `'SAME'`, `'VALID'`)" in text
    assert "`depth` = `3`" in text
    assert "`kind` (element type, required)" in text
    assert "`shape` = `[1, 2]`" in text
    assert "`reduction_indices` (int32 or int64, on the host)" in text
