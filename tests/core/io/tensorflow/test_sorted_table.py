"""Tables of LevelDB come back as they were written, of one block or of many."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.sorted_table import read_table
from gradstep.core.io.tensorflow.sorted_table_writer import _behind, _between, table_bytes

KEYS = st.text("abc\0", max_size=6).map(str.encode) | st.binary(max_size=4)
TABLES = st.dictionaries(KEYS, st.binary(max_size=40), max_size=60)


@given(TABLES, st.integers(1, 400))
def test_what_was_written_is_read(table: dict[bytes, bytes], block: int) -> None:
    found = read_table(table_bytes(sorted(table.items()), block), Budget())
    assert found == table
    assert [*found] == sorted(table)


@given(TABLES, st.integers(1, 400), st.data())
def test_a_byte_that_changed_is_noticed_or_says_nothing(
    table: dict[bytes, bytes], block: int, data: st.DataObject
) -> None:
    content = bytearray(table_bytes(sorted(table.items()), block))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    try:
        found = read_table(bytes(content), Budget())
    except GradstepError as error:
        said = error.message
    else:
        assert found == table
        return
    assert "\n" not in said


@given(KEYS, KEYS)
@example(b"ab", b"b")
@example(b"a\xff", b"b")
@example(b"a", b"ab")
def test_what_parts_two_blocks_is_between_them(last: bytes, following: bytes) -> None:
    """Readers search by it: not before the last key of the one, before the first of the next."""
    assume(last < following)
    assert last <= _between(last, following) < following
    assert last <= _behind(last)


@pytest.mark.parametrize("keys", [(b"b", b"a"), (b"a", b"a")])
def test_keys_out_of_order_are_refused(keys: tuple[bytes, ...]) -> None:
    for block in (1, 400):
        with pytest.raises(GradstepError, match="its keys are not in order"):
            read_table(table_bytes([(key, b"") for key in keys], block), Budget())
