"""Names that a scope was filled with at once are taken as those that were taken one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.used_names import Names

_SCOPES = ["a_grad", "B_grad", "c/d_grad"]
_RESTS = ["mul", "mul_1", "sum"]
_ASKED = [
    "A",
    "a_grad",
    "c",
    "c/d_grad",
    *(f"{scope}/{rest}" for scope in _SCOPES for rest in (*_RESTS, "Mul", "neg")),
]
_acts = st.one_of(
    st.tuples(st.just("fill"), st.sampled_from(_SCOPES), st.frozensets(st.sampled_from(_RESTS))),
    st.tuples(st.just("take"), st.sampled_from(_ASKED), st.just(frozenset())),
    st.tuples(st.just("drop"), st.sampled_from(_ASKED), st.just(frozenset())),
    st.tuples(st.just("clear"), st.sampled_from(_SCOPES), st.just(frozenset())),
    st.tuples(st.just("again"), st.just(""), st.just(frozenset())),
    st.tuples(st.just("fork"), st.just(""), st.just(frozenset())),
)


class _Filled:
    """Those that are filled at once, and those that take one by one."""

    def __init__(self) -> None:
        self.both = Names(), Names()
        self._is_fresh, self._is_own = True, True

    def do(self, act: str, name: str, rests: frozenset[str]) -> None:
        whole, single = self.both
        free = whole.unique(name) == name
        if act == "fill" and free and rests:
            whole.fill(name, rests)
            for rest in sorted(rests):
                single.take(f"{name}/{rest}")
        elif act == "again":
            self.both = whole.again(Names()), single.again(Names())
        elif act == "fork":
            self._is_own = False
            self.both = whole.fork(), single.fork()
        else:
            self._do_to_each(act, name, free)
        self._is_fresh = act == "again" or (act == "clear" and self._is_fresh)

    def _do_to_each(self, act: str, name: str, free: bool) -> None:
        for names in self.both:
            if act == "take" and free:
                names.take(name)
            elif act == "drop" and self._is_own:
                names.drop([name])
            elif act == "clear" and self._is_fresh and self._is_own:
                names.clear(name)


@given(st.lists(_acts, max_size=12))
def test_who_fills_a_scope_has_taken_the_names_in_it(acts: list) -> None:
    names = _Filled()
    for act in acts:
        names.do(*act)
        whole, single = names.both
        assert whole.everything() == single.everything()
        assert [*map(_is_taken(whole), _ASKED)] == [*map(_is_taken(single), _ASKED)]


def _is_taken(names: Names):
    def ask(name: str) -> bool:
        try:
            names.check(name)
        except GradstepError:
            return True
        return False

    return ask


def test_what_was_filled_is_in_the_log() -> None:
    names = Names()
    names.begin_log()
    assert names.unique("A_grad") == "A_grad"
    names.fill("A_grad", frozenset({"mul", "sum"}))
    taken = names.end_log()
    assert {*taken.operations} == {"a_grad/mul", "a_grad/sum"}
    assert taken.own_scopes == {"a_grad"}
