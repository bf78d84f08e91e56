"""Public methods given what nobody meant: all that comes of it is a GradstepError, or an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradstep

TUTORIAL = Path(__file__).parents[3] / "assets" / "examples" / "tutorial.gradstep"
ODD = [
    *(None, True, 0, 3, -1, 2.5, 10**30, 1j, float("nan")),
    *("", "abc", "d", "loss", "c", "a<0", "a<9", "d:7", ":", "[0", "[7]", "0:0", "main", "\0", "é"),
    *(b"x", [], ["d"], [None], [[1], [2, 3]], (), {}, {"d": "abc"}, {3: 4}, {"c": object()}, {1}),
    *(object(), np.array("abc"), np.array([1, 2]), np.zeros((0, 3)), np.nan, slice(1), len, int),
]  # fmt: skip
SANE = {"name": "c", "value": 1, "of": "loss", "wrt": "c", "fetches": "loss", "target": "a"}


def _methods() -> list[tuple[str, str, list[inspect.Parameter]]]:
    """Class, name and parameters of all that take any."""
    found = []
    for kind in (gradstep.Session, gradstep.Debugger):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                _, *parameters = inspect.signature(method).parameters.values()
                found += [(kind.__name__, name, parameters)] if parameters else []
    return found


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    net = gradstep.open(TUTORIAL)
    return {"Session": net, "Debugger": net.debug()}


def _call(method: Callable[..., object], given: dict[inspect.Parameter, object]) -> None:
    """Nothing but GradstepError comes out."""
    only = inspect.Parameter.POSITIONAL_ONLY
    first = [value for parameter, value in given.items() if parameter.kind is only]
    rest = {p.name: value for p, value in given.items() if p.kind is not only}
    try:
        method(*first, **rest)
    except gradstep.GradstepError as error:
        if not error.message or error.kind == "InternalError":
            raise
    except Exception as error:
        raise AssertionError(f"{method}({first}, {rest}): {error!r}") from error


@pytest.mark.parametrize("name", [f"{kind}.{name}" for kind, name, _ in _methods()])
def test_one_odd_argument_among_sane_ones(
    objects: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kind, _, method = name.partition(".")
    (parameters,) = [p for k, m, p in _methods() if (k, m) == (kind, method)]
    keywords = inspect.Parameter.VAR_KEYWORD
    plain = [p for p in parameters if p.kind is not keywords]
    required = {p: SANE.get(p.name, "d") for p in plain if p.default is p.empty}
    for parameter in plain:
        for value in ODD:
            _call(getattr(objects[kind], method), {**required, parameter: value})


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_odd_arguments_everywhere(objects: dict[str, Any], data: st.DataObject) -> None:
    kind, name, parameters = data.draw(st.sampled_from(_methods()), label="method")
    if name == "save":
        return  # tried above, in a folder of its own
    plain = [p for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD]
    given = {p: data.draw(st.sampled_from(ODD), label=p.name) for p in plain}
    _call(getattr(objects[kind], name), given)


def test_keywords_are_looked_at(objects: dict[str, Any]) -> None:
    net = objects["Session"]
    for value in ODD:
        for name in ("c", "data", "zz", "d:7"):
            _call(partial(net.set_feeds, **{name: value}), {})
            _call(partial(net.set_variables, **{name: value}), {})
        for name in ("learning_rate", "lr"):
            _call(partial(net.set_optimizer, "Adam", **{name: value}), {})


def test_flags_of_numpy_are_flags() -> None:
    net = gradstep.open(TUTORIAL)
    assert np.array_equal(net.grad("loss", "c", gate=np.True_), net.grad("loss", "c", gate=True))
    with pytest.raises(gradstep.GradstepError, match="gate of grad is True or False"):
        net.grad("loss", "c", gate=np.int64(1))  # type: ignore[call-overload]
    with pytest.raises(gradstep.GradstepError, match="seed of reseed is a whole number"):
        net.debug().reseed(np.True_)
