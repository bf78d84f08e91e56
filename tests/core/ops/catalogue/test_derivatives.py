"""Every excuse from the table's checks of derivatives is needed, and names an op that is there."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.table import find, lookup
from tests.support import derivative_excuses, gradient_checks
from tests.support.each_case import each_of

EXCUSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ONLY_FIRST_OUTPUT", derivative_excuses.ONLY_FIRST_OUTPUT),
    ("SECOND_ONLY_FOR_FIRST_INPUT", derivative_excuses.SECOND_ONLY_FOR_FIRST_INPUT),
    ("WITHOUT_DERIVATIVE", derivative_excuses.WITHOUT_DERIVATIVE),
    ("NO_SECOND_DERIVATIVE", derivative_excuses.NO_SECOND_DERIVATIVE),
)


@pytest.mark.parametrize(
    ("table", "type"),
    [pytest.param(name, type, id=f"{type}-{name}") for name, table in EXCUSES for type in table],
)
def test_without_its_excuse_it_would_fail(
    table: str, type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(getattr(gradient_checks, table), type)
    with pytest.raises((AssertionError, GradstepError)) as caught:
        gradient_checks.check_gradient(lookup(type))
    if table == "NO_SECOND_DERIVATIVE":
        assert isinstance(caught.value, GradstepError)
        assert caught.value.kind == "LookupError"


@each_of("type", derivative_excuses.NOT_AGAINST_DIFFERENCES)
def test_what_is_not_held_against_differences_has_no_sample_that_could_be(type: str) -> None:
    definition = find(type)
    assert definition is not None
    assert definition.gradient.differentiable
    assert set(gradient_checks.check_gradient(definition)) <= {0}
