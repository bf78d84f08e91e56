"""What is told again of the tensors that hold gradients is what would be told anew."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.model import TensorRef
from gradstep.core.host.retold_gradients import retell_entries, retell_rows

_REFS = [TensorRef(f"x{number}") for number in range(12)]
_HELD = [TensorRef(f"g{number}") for number in range(4)]
_MAPS = st.lists(
    st.tuples(st.sampled_from(_REFS), st.sampled_from(_HELD)), max_size=12, unique_by=lambda x: x[0]
).map(dict)


def _tell(ref: TensorRef, held: TensorRef) -> tuple[str, str] | None:
    return None if held.op == "g0" else (str(ref), str(held))


def _anew(of: dict[TensorRef, TensorRef]) -> list[tuple[str, str]]:
    return [*filter(None, map(_tell, of, of.values()))]


@given(_MAPS, _MAPS)
def test_it_is_as_anew_or_left_to_others(
    then: dict[TensorRef, TensorRef], now: dict[TensorRef, TensorRef]
) -> None:
    anew = _anew(now)
    rows = retell_rows(_anew(then), then, now, _tell)
    entries = retell_entries(dict(_anew(then)), then, now, _tell)
    assert rows in (None, anew)
    assert entries is None or [*entries.items()] == anew


@given(_MAPS, st.data())
def test_only_what_an_edit_changed_is_told(
    then: dict[TensorRef, TensorRef], data: st.DataObject
) -> None:
    """An entry that is gone, one that another tensor holds, one of another name, one more."""
    then = {ref: held for ref, held in then.items() if held.op != "g0"}
    pairs = [*then.items()]
    if pairs:
        place = data.draw(st.integers(0, len(pairs) - 1))
        ref, held = pairs[place]
        instead: list[tuple[TensorRef, TensorRef]] = data.draw(
            st.sampled_from(
                [
                    [],
                    [(ref, TensorRef("g9"))],
                    [(TensorRef("y"), held)],
                    [(TensorRef("y"), TensorRef("g9")), (ref, held)],
                ]
            )
        )
        pairs[place : place + 1] = instead
    now, asked = dict(pairs), list[TensorRef]()

    def tell(ref: TensorRef, held: TensorRef) -> tuple[str, str] | None:
        asked.append(ref)
        return _tell(ref, held)

    rows = retell_rows(_anew(then), then, now, tell)
    assert rows == _anew(now)
    assert len(asked) <= 1
    entries = retell_entries(dict(_anew(then)), then, now, tell)
    assert entries is not None
    assert [*entries.items()] == rows
    assert len(asked) <= 2


@given(_MAPS, st.data())
def test_what_is_computed_now_alone_or_no_more_is_told_again(
    held: dict[TensorRef, TensorRef], data: st.DataObject
) -> None:
    """flipped: of which the plan has what it had not, or the other way round."""
    then, now = ({*data.draw(st.sets(st.sampled_from(_HELD)))} for _ in range(2))
    flipped = then ^ now

    def tell(there: set[TensorRef]) -> Callable[[TensorRef, TensorRef], tuple[str, str] | None]:
        return lambda ref, of: (str(ref), str(of)) if of in there else None

    old = [row for ref, of in held.items() if (row := tell(then)(ref, of))]
    new = [row for ref, of in held.items() if (row := tell(now)(ref, of))]
    rows = retell_rows(old, held, {**held}, tell(now), flipped)
    entries = retell_entries(dict(old), held, {**held}, tell(now), flipped)
    assert rows in (None, new)
    assert entries in (None, dict(new))
    if len(new) == len(old) == len(held):
        assert rows == new
        assert entries == dict(new)
