"""What VJPs come to after an edit is what they come to anew; what did not change stays itself."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.merged_vjps import MergedVjps
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.graph.model import Edge

_BLOCKED = attrgetter("blocked")
_NAMES = "abcdef"
_KINDS = st.sampled_from(["none", "first", "second", "both", "swapped", "custom"])


def _vjp(name: str, kind: str) -> VjpResult:
    wires = {"none": [], "first": [0], "second": [1], "both": [0, 1], "swapped": [1, 0]}
    blocked = {Edge(name, i): f"{kind} {i}" for i in wires.get(kind, [0])}
    return VjpResult(name, blocked=blocked, custom="mine" if kind == "custom" else "")


@given(
    st.lists(_KINDS, min_size=len(_NAMES), max_size=len(_NAMES)),
    st.dictionaries(st.sampled_from(_NAMES), _KINDS),
)
def test_what_changed_is_put_in_where_it_would_come(then: list[str], edits: dict[str, str]) -> None:
    before = {name: _vjp(name, kind) for name, kind in zip(_NAMES, then, strict=True)}
    now = {**before, **{name: _vjp(name, kind) for name, kind in edits.items()}}
    old, anew = MergedVjps(before, loops=False), MergedVjps(now, loops=False)
    again = MergedVjps(now, False, {name: before[name] for name in _NAMES if name in edits})
    blocked, custom = old.merged(_BLOCKED), old.custom()
    assert [*again.merged(_BLOCKED, blocked).items()] == [*anew.merged(_BLOCKED).items()]
    assert [*again.custom(custom).items()] == [*anew.custom().items()]
    if now == before:
        assert again.merged(_BLOCKED, blocked) is blocked


@given(
    st.lists(_KINDS, min_size=len(_NAMES), max_size=len(_NAMES)),
    st.dictionaries(st.sampled_from(_NAMES), _KINDS),
)
def test_of_an_operation_that_is_called_otherwise_it_stays_in_its_place(
    then: list[str], renamed: dict[str, str]
) -> None:
    before = {name: _vjp(name, kind) for name, kind in zip(_NAMES, then, strict=True)}
    called = {name: name.upper() if name in renamed else name for name in _NAMES}
    now = {
        called[name]: _vjp(called[name], renamed[name]) if name in renamed else vjp
        for name, vjp in before.items()
    }
    old, anew = MergedVjps(before, loops=False), MergedVjps(now, loops=False)
    changed = {called[name]: before[name] for name in _NAMES if name in renamed}
    again = MergedVjps(now, False, changed)
    blocked, custom = old.merged(_BLOCKED), old.custom()
    assert [*again.merged(_BLOCKED, blocked).items()] == [*anew.merged(_BLOCKED).items()]
    assert [*again.custom(custom).items()] == [*anew.custom().items()]


def test_what_is_gone_is_looked_at_alone() -> None:
    before = {name: _vjp(name, "both") for name in _NAMES}
    now = {**before, "b": _vjp("b", "first")}
    asked: list[VjpResult] = []

    def part(vjp: VjpResult) -> Mapping[Edge, str]:
        asked.append(vjp)
        return vjp.blocked

    known = MergedVjps(before, loops=False).merged(_BLOCKED)
    found = MergedVjps(now, False, {"b": before["b"]}).merged(part, known)
    assert len(asked) == 2
    assert [*found] == [*MergedVjps(now, loops=False).merged(_BLOCKED)]


def test_vjps_inside_a_loop_come_after_its_own() -> None:
    wire = Edge("loop", 0)
    loop = VjpResult("loop", blocked={wire: "it is"}, inside={"in": _vjp("in", "both")})
    merged = MergedVjps({"loop": loop, "a": _vjp("a", "custom")}, loops=True)
    assert [edge.op for edge in merged.merged(_BLOCKED)] == ["loop", "in", "in", "a"]
    assert merged.custom() == {"a": "mine"}
