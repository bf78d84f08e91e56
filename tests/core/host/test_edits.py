"""However it was edited: an engine that was told of each edit alone holds the document, program,
words, values and place of one which opens the result afresh, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.soak import documents
from tests.soak.drawing import NothingError, draw_edit
from tests.soak.engines import ServiceEngine
from tests.soak.faults import Counts, OverError
from tests.soak.frames import Position, differences, frame_of, reading, told, wording
from tests.soak.fresh import led
from tests.soak.user import ProtocolUser
from tests.support.drawn_share import share
from tests.support.large_graphs import edit_as_large

DOCUMENTS = (
    "tutorial", "override_add", "gan", "while_loop", "cond_gradients", "stop_gradient_paths",
    "gradient_clipping", "embedding.pb", "while_loop_with_gradient.pb",
)  # fmt: skip
DOINGS = st.sampled_from(
    ["edit", "edit", "edit", "undo", "redo", "step", "continue_", "kill", "prepare"]
)


@pytest.fixture(autouse=True, scope="module")
def _small_graphs_are_edited_as_large_ones() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        edit_as_large(patch)
        yield


class Editor(ProtocolUser):
    """Notes how documents were given to the engine."""

    def __init__(self) -> None:
        counts = Counts()
        self.service = ServiceEngine(counts)
        super().__init__(self.service, counts)

    def do(self, what: str, seed: int) -> None:
        """One of DOINGS, if there is anything to do it to."""
        if what == "edit":
            try:
                self.edit(*draw_edit(Random(seed), self.document))
            except (GradstepError, NothingError):
                return
        elif what == "prepare":  # as far as the engine comes while nobody asks for anything
            for _ in range(seed % 4):
                self.service._service.prepare()
        elif what in ("undo", "redo", "kill"):
            getattr(self, what)()
        elif self.stop is not None and what in self.stop.legal:
            try:
                self.control(what)
            except OverError:  # an edit made a loop without an end
                reject()

    def held(self) -> Document:
        """What the engine has of the document, which does not hang on how it is looked at."""
        loaded = self.service._service._loaded
        assert loaded is not None
        return loaded.document


def require_as_opened_afresh(user: Editor) -> None:
    if user.program is None or user.stop is None:
        return  # it could not be opened, which is said
    stop = user.stop
    found = led(user, None if stop.threads else Position.of(stop))
    if found is None:  # an edit made runs shorter that are not kept
        return
    assert told(found.stop) == told(stop)
    assert [*found.program_differences(user.program)] == []
    assert user.ask(wording(user.program))[0] == found.words
    frame = frame_of(user.ask(reading(user.program, user.document)))
    assert [*differences(frame, found.frame)] == []
    assert as_run(user.held()) == as_run(user._shown or user.document)


def as_run(document: Document) -> bytes:
    """All that is run by; breakpoints can be set without an edit."""
    words = dict.fromkeys(("title", "note", "claim", "truth", "group"), "")
    plain = document.with_(
        view=Document().view, expectations=(), breakpoints=(), watches=(), **words
    )
    return gradstep_file.to_bytes(plain)


@settings(max_examples=share(25))
@given(
    st.sampled_from(DOCUMENTS),
    st.lists(st.tuples(DOINGS, st.integers(0, 2**20)), min_size=1, max_size=8),
)
@pytest.mark.slow
def test_edits_lead_where_opening_their_result_does(
    name: str, doings: list[tuple[str, int]]
) -> None:
    user = Editor()
    user.open(documents.load(name), trusted=True, limit=2 << 30)
    assume(user.program is not None)
    for what, seed in doings:
        user.do(what, seed)
    require_as_opened_afresh(user)


@pytest.mark.parametrize("name", ["tutorial", "while_loop"])
@pytest.mark.slow
def test_a_long_walk_is_all_edits(name: str) -> None:
    """And right after each of them."""
    user, random = Editor(), Random(7)
    user.open(documents.load(name), trusted=True, limit=2 << 30)
    asked: list[m.Message] = []
    ask = user.engine.ask
    user.engine.ask = lambda message, buffers=(): asked.append(message) or ask(message, buffers)  # type: ignore[method-assign]
    for number in range(20):
        user.do(random.choice(("edit", "edit", "undo", "step")), number)
        require_as_opened_afresh(user)
    kinds = [type(each) for each in asked if isinstance(each, m.Open | m.Edit)]
    assert kinds.count(m.Edit) > 6
    assert m.Open not in kinds
