"""Suggestions: a slip or two is forgiven, and nothing is named that nobody can have meant."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import combinations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from gradstep.core.graph.suggestions import did_you_mean, instead, near
from gradstep.core.ops.declare.table import all_ops
from tests.support.each_case import each_of

OPS = sorted(definition.type for definition in all_ops())
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@st.composite
def slips(draw: st.DrawFn, count: int, least: int) -> tuple[str, str]:
    """The name of an operation, and what `count` slips of the fingers make of it, in places that
    do not touch each other."""
    meant = draw(st.sampled_from([name for name in OPS if len(name) >= least]))
    written = list(meant)
    apart = st.lists(st.integers(0, len(meant) - 1), min_size=count, max_size=count).filter(_apart)
    for place in sorted(draw(apart), reverse=True):
        kind = draw(st.sampled_from(["miss", "double", "wrong", "extra", "swap", "capital"]))
        if kind == "miss":
            del written[place]
        elif kind == "double":
            written.insert(place, written[place])
        elif kind == "wrong":
            written[place] = draw(st.sampled_from(LETTERS))
        elif kind == "extra":
            written.insert(place, draw(st.sampled_from(LETTERS)))
        elif kind == "capital":
            written[place] = written[place].swapcase()
        elif place:
            written[place - 1 : place + 1] = written[place], written[place - 1]
    return meant, "".join(written)


def _apart(places: list[int]) -> bool:
    return all(abs(a - b) > 2 for a, b in combinations(places, 2))


@given(slips(1, 3))
def test_one_slip_is_forgiven(slip: tuple[str, str]) -> None:
    meant, written = slip
    assert meant in near(written, OPS, most=len(OPS))


@given(slips(1, 8))
@example(("BesselJ0", "Besseli0"))
@example(("SeluGrad", "reluGrad"))
def test_and_comes_among_the_first(slip: tuple[str, str]) -> None:
    """Or nobody can tell which was meant: all that come before it are one slip away, too."""
    meant, written = slip
    found = near(written, OPS)
    assert meant in found or (len(found) == 3 and all(is_one_slip(written, n) for n in found))


def is_one_slip(written: str, name: str) -> bool:
    """Whether one letter at most is wrong, missing, too many or swapped, capitals aside."""
    a, b = written.lower(), name.lower()
    short, long = sorted((a, b), key=len)
    if len(long) > len(short):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    differ = [at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    swapped = len(differ) == 2 and differ[1] == differ[0] + 1
    return len(differ) < 2 or (
        swapped and a[differ[0]] + a[differ[1]] == b[differ[1]] + b[differ[0]]
    )


@given(st.sampled_from(OPS), st.data())
def test_a_name_in_other_capitals_is_the_first(name: str, data: st.DataObject) -> None:
    """Whatever else is one letter away from it."""
    flips = data.draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    written = "".join(c.swapcase() if f else c for c, f in zip(name, flips, strict=True))
    assert near(written, OPS)[0].lower() == written.lower()


@given(slips(2, 6))
def test_two_slips_are_forgiven_in_longer_names(slip: tuple[str, str]) -> None:
    """As long as they do not lead to another name altogether."""
    meant, written = slip
    found = near(written, OPS, most=len(OPS))
    assert meant in found or written.lower() in {name.lower() for name in found}


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=24))
def test_an_unrelated_name_suggests_nothing(written: str) -> None:
    """Judged by something else: less than half of it in common with every name there is."""
    common = (SequenceMatcher(None, written.lower(), name.lower()).ratio() for name in OPS)
    assume(max(common) < 0.5)
    assert near(written, OPS) == []


@each_of(
    "name",
    ["CustomGrad", "BernoulliGrad", "STE", "Doubled", "Foo", "x", "MyOp", "CustomGradient-0"],
)
def test_gradients_of_programs_suggest_no_other_gradient(name: str) -> None:
    assert near(name, OPS) == []


@each_of(
    ("written", "known", "found"),
    [
        ("matmul", ["MatMul", "Mul"], ["MatMul"]),
        ("Gather", ["GatherV2", "GatherNd", "ScatterNd"], ["GatherV2", "GatherNd"]),
        ("reluu", ["relu6", "relu"], ["relu", "relu6"]),
        ("GradRelu", ["ReluGrad", "Relu"], ["ReluGrad"]),
        ("rnn/transpose_1", ["a/rnn/transpose_1", "rnn/b/transpose", "Shape_1"],
         ["a/rnn/transpose_1", "rnn/b/transpose"]),
        ("kernel", ["a/kernel", "b/kernel", "kernels/c"], ["a/kernel", "b/kernel"]),
        ("b/kernel", ["a/kernel"], ["a/kernel"]),
        ("b/bias", ["a/kernel"], []),
        ("ee", ["e", "f"], ["e"]),
        ("q", ["a", "b"], []),
        ("", ["a", "loss"], []),
        ("los", ["loss", "lstm"], ["loss"]),
    ],
)  # fmt: skip
def test_what_is_near(written: str, known: list[str], found: list[str]) -> None:
    assert near(written, known) == found


def test_in_words() -> None:
    assert did_you_mean(near("los", ["loss"])) == "did you mean loss?"
    assert did_you_mean([]) == ""
    assert instead("lss", ["loss", "c"]) == "did you mean loss?"
    assert instead("unheard", ["loss", "c"]) == "there are loss, c"
    assert instead("unheard", list("abcdefg")) == "there are a, b, c, d, e and 2 more"
