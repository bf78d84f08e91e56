"""What ops declare can be said."""

from __future__ import annotations

from gradstep.core.checks.why.cause_table import CAUSES
from gradstep.core.ops.declare.definition import OpDef
from gradstep.core.ops.declare.table import all_ops
from tests.support.each_case import each_of

DECLARING = [d for d in all_ops() if d.causes.breaks or d.causes.flat or d.causes.vanishes]


@each_of("definition", DECLARING, ids=lambda d: d.type)
def test_every_name_has_words(definition: OpDef) -> None:
    names = {*definition.causes.breaks, definition.causes.flat, definition.causes.vanishes} - {""}
    assert names <= CAUSES.keys()


@each_of("name", CAUSES)
def test_words_are_clauses(name: str) -> None:
    words = {"operand": "x", "dtype": "float32", "largest": "1", "smallest": "1", "override": "F"}
    says, fix = (text.format(**words) for text in (CAUSES[name].says, CAUSES[name].fix))
    for text in filter(None, (says, fix)):
        assert not text.endswith(".")
        assert text[0].islower() or text[0] in "0x"
