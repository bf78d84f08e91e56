"""An open document in Python: runs, gradients, reasons, and the way into the debugger."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from gradstep.core.checks.gradients.requested_gradients import gradient_values
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.data.first_batch import write_exported
from gradstep.core.debug.history.frozen_program import Program, name_of
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.requests import main_request
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.problems import problem_text
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.explained_runs import explainer_of_runs
from gradstep.core.host.session_restore import begin
from gradstep.core.io.left_out import left_out_sentence
from gradstep.core.notebook.argument_kinds import public
from gradstep.core.notebook.debugger import Debugger
from gradstep.core.notebook.document_html import show_document
from gradstep.core.notebook.error_notes import add_notes
from gradstep.core.notebook.explained import Explanation
from gradstep.core.notebook.gradient_arguments import (
    Array,
    Feeds,
    GradientOptions,
    Names,
    Several,
    Unconnected,
    as_asked_for,
    as_names,
    as_path,
    question,
    require_request,
)
from gradstep.core.notebook.graph_picture import draw_svg
from gradstep.core.notebook.lasting_values import as_given, with_variables
from gradstep.core.notebook.program_cache import DocumentRuns
from gradstep.core.notebook.read_only_values import ReadOnlyValues
from gradstep.core.program.derive import derive
from gradstep.core.program.edited_program import EditedPrograms
from gradstep.core.program.questions.chosen_optimizer import train_by
from gradstep.core.program.questions.first_run_values import situation_at, variable_values
from gradstep.core.program.questions.gradient_query import GradientQuery, as_asked
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.run_choice import choose_run, run_once
from gradstep.core.program.questions.thread_hints import name_threads
from gradstep.core.program.race_problems import races_of
from gradstep.core.program.runnable_part import drop_unfinished

if TYPE_CHECKING:
    from networkx import MultiDiGraph


class Session:
    """An open document and the values of its variables, as `gradstep.open` gives it.

    Variables get their first values when something runs, and keep what runs make of them, as in a
    tf.Session, until `reset`. Tensors go by name: "loss", or "split:1" for a further output. Feeds
    go from names to anything that NumPy makes an array of, and over those of the document. Values
    are NumPy arrays. Everything raises GradstepError for what is wrong with the document or the
    question.
    """

    def __init__(
        self, loaded: Loaded, backend: Backend, name: str, devices: DeviceServices
    ) -> None:
        self._runs, self._devices = DocumentRuns(loaded, backend), devices
        self._name = name

    # -- what is there -------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The document's title, "" without one."""
        return self._document.title

    @property
    def note(self) -> str:
        """What the document says to its reader, "" for nothing."""
        return self._document.note

    @property
    def operations(self) -> dict[str, str]:
        """Names of the document's operations, and their types."""
        return {op.name: op.type for op in self._document.graph}

    @property
    def feeds(self) -> Mapping[str, np.ndarray]:
        """What the document itself feeds, by tensor; to be looked at, `set_feeds` changes it."""
        feeds = {name: value.array for name, value in self._document.feeds.items()}
        return ReadOnlyValues(feeds, "net.set_feeds(x=…) changes what is fed")

    @property
    @add_notes()
    def variables(self) -> Mapping[str, np.ndarray]:
        """The variables' values now; one that has none is left out. To be looked at:
        `set_variables` changes them."""
        values = variable_values(self._document.graph, self._runs.store)
        return ReadOnlyValues(values, "net.set_variables(w=…) gives a variable another value")

    @property
    def problems(self) -> list[str]:
        """What is wrong with the document, each in a sentence; empty where nothing is."""
        program = self._runs.program(self._runs.loaded)
        return [problem_text(problem) for problem in (*program.problems, *races_of(program))]

    def to_networkx(self) -> MultiDiGraph:
        """The document's graph as NetworkX has it: a node for each operation, an edge for each wire
        and each control dependency."""
        from gradstep.core.graph.as_networkx import to_networkx

        return to_networkx(self._document.graph)

    @add_notes()
    def svg(self) -> str:
        """The canvas' picture of the graph, as an <svg> element. Takes a second, in a process of
        its own. Raises GradstepError (PictureError) where Qt is missing."""
        return self._drawn

    # -- what it computes ----------------------------------------------------------------------

    @overload
    def run(self, fetches: str, feeds: Feeds | None = None) -> Array: ...
    @overload
    def run(self, fetches: Several, feeds: Feeds | None = None) -> list[Array]: ...
    @overload
    def run(self, fetches: None = None, feeds: Feeds | None = None) -> dict[str, Array]: ...

    @public
    def run(self, fetches: Names | None = None, feeds: Feeds | None = None) -> Any:
        """One run: of a name its value, of several a list of theirs; without any, by name what the
        document itself runs, updates of its optimizers included; a UserWarning says what is wrong
        with the document where that is done without. An operation without outputs has None, and so
        has, where nothing was named, what is in a branch that was not taken. Nothing runs that is
        not needed."""
        loaded, names = self._runs.fed(feeds), as_names(fetches)
        if fetches is not None and not names:
            return []
        choice = choose_run(loaded, names, self._runs.program)
        if choice.nothing:
            raise GradstepError(
                f"nothing to compute: the document asks for nothing{choice.lacks}",
                kind="ValueError",
                hint="name what to fetch",
            )
        session = self._runs.session(choice.graph, choice.initial)
        with name_threads(loaded, "debug() has them"):
            found = run_once(session, loaded.feeds(), choice)
        for problem in choice.problems:
            warnings.warn(problem_text(problem), stacklevel=3)  # add_notes stands between
        return as_asked_for(fetches, found)

    @overload
    def grad(
        self,
        of: Names | None,
        wrt: str,
        feeds: Feeds | None = None,
        **options: Unpack[GradientOptions],
    ) -> Array: ...
    @overload
    def grad(
        self,
        of: Names | None,
        wrt: Several,
        feeds: Feeds | None = None,
        **options: Unpack[GradientOptions],
    ) -> list[Array]: ...
    @overload
    def grad(
        self,
        of: Names | None = None,
        wrt: None = None,
        feeds: Feeds | None = None,
        **options: Unpack[GradientOptions],
    ) -> dict[str, Array]: ...

    @public
    def grad(
        self,
        of: Names | None = None,
        wrt: Names | None = None,
        feeds: Feeds | None = None,
        *,
        stop: Names = (),
        override: Mapping[str, str] | None = None,
        grad_ys: Names = (),
        unconnected: Unconnected | None = None,
        gate: bool = False,
    ) -> Any:
        """tf.gradients(of, wrt), computed at the variables as they are: of one `wrt` an array, of
        several a list; without, by name what the document asks for. None where no gradient flows
        (`why` tells the reason), which is not zero.

        stop:     tensors, or wires written "op<1", that nothing flows back through.
        override: op type, operation, or scope written "scope/" -> the gradient in its place.
        grad_ys:  the tensor that each of `of` starts with; "-" for ones.
        unconnected: "zero" for zeros in the place of None.
        gate:     whether an operation's gradients go on only when all of them are there.
        """
        query = question(of, wrt, stop, override, grad_ys, unconnected, gate)
        loaded = self._asked(query, feeds)
        request = require_request(loaded)
        derived = self._runs.derived(loaded, request)
        session = self._runs.session(derived.graph, loaded.initial())
        found, _ = gradient_values(loaded, request, derived, session)
        if wrt is None:
            return {ref.short: value for ref, value in found.items()}
        return as_asked_for(wrt, {name: found[TensorRef.parse(name)] for name in as_names(wrt)})

    @public
    def why(
        self,
        of: str,
        wrt: str | None = None,
        feeds: Feeds | None = None,
        *,
        stop: Names = (),
        override: Mapping[str, str] | None = None,
    ) -> Explanation:
        """Why the gradient of `of` with respect to `wrt` is None, zero, NaN or as it is; without
        `wrt`, why the value of `of` is. stop, override: as of `grad`. Runs what it needs, and
        changes no variable."""
        loaded = self._asked(question(of, wrt, stop, override), feeds)
        if wrt is None:
            program = self._from_now(derive(loaded.document, loaded.functions))
            refs = [TensorRef.parse(of)]
            explainer = explainer_of_runs(loaded, program, self._runs.backend, refs)
            return Explanation.of(explainer.value(of))
        functions = loaded.of_kind(CodeKind.PYFUNC)
        here = situation_at(loaded, self._runs.store)
        return Explanation.of(Explainer(here, functions, self._runs.backend).gradient(of, wrt))

    @public
    def debug(
        self,
        of: Names | None = None,
        wrt: Names | None = None,
        feeds: Feeds | None = None,
        *,
        stop: Names = (),
        override: Mapping[str, str] | None = None,
    ) -> Debugger:
        """A debugger before the first step of what the document runs, with these gradients or its
        own, and its breakpoints. stop, override: as of `grad`. Its variables start as they are
        here now; what it makes of them stays its own."""
        query = question(of, wrt, stop, override)
        asked = query != question(None, None)
        loaded = self._asked(query, feeds) if asked else self._runs.fed(feeds)
        program = drop_unfinished(derive(loaded.document, loaded.functions))
        threads = begin(self._from_now(program), self._runs.backend)
        return Debugger(threads, loaded.document.breakpoints, self._devices)

    def reset(self) -> None:
        """Give all variables their first values again."""
        self._runs.reset()

    # -- what it is made to be -----------------------------------------------------------------

    @public
    def set_feeds(self, feeds: Feeds | None = None, /, **named: Any) -> None:
        """Let the document feed these in every run, over what it feeds already: by tensor, as a
        mapping or by name, set_feeds(x=[1, 2])."""
        self._runs.feed(as_given(feeds, named))
        self.__dict__.pop("_drawn", None)

    @public
    def set_variables(self, values: Feeds | None = None, /, **named: Any) -> None:
        """Let variables hold these from now on, and as the values that `reset` gives back: by name,
        as a mapping or set_variables(w=[1, 2]). A number alone is that for every element."""
        given = as_given(values, named)
        document, arrays = with_variables(self._document, given)
        runs = self._runs
        self._edit(document)
        if runs.begun:
            for name, array in arrays.items():
                storage = storage_name(document.graph[name])
                runs.store.set(storage, runs.backend.put(array))

    @public
    def set_optimizer(self, type: str, /, *, of: Names = (), **hyper: float) -> None:
        """Let runs train by this optimizer and no other: "Adam", learning_rate=0.01. of: what it
        minimizes, where that is not what the document differentiates."""
        self._edit(train_by(self._document, type, hyper, as_names(of)))

    @public
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document, all of it or nothing, in the format of the suffix of `path`
        (.gradstep, .pb, .py…), over a file that is there. Variables start as they are now. A
        UserWarning says what the format does not keep."""
        document = self._document
        if self._runs.begun:
            now = variable_values(document.graph, self._runs.store)
            held = {name: Constant(np.array(array)) for name, array in now.items()}
            document = document.with_(initial={**document.initial, **held})
        found = as_path(path)
        if lacks := left_out_sentence(os.path.basename(found), write_exported(found, document)):
            warnings.warn(f"{lacks}\nhint: a .gradstep file has all of it", stacklevel=3)

    def _edit(self, document: Document) -> None:
        self._runs = self._runs.edited(Loaded(document, self._runs.loaded.functions))
        self.__dict__.pop("_drawn", None)

    # -- how it shows --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<gradstep.Session of {self._described}>"

    def _repr_html_(self) -> str:
        """In a notebook: the picture."""
        return show_document(self._document, self._described, lambda: self._drawn)

    @cached_property
    def _drawn(self) -> str:
        return draw_svg(self._document)

    @property
    def _described(self) -> str:
        document = self._document
        request, count = main_request(document), len(document.graph)
        title = f" ({document.title})" if document.title else ""
        operations = "1 operation" if count == 1 else f"{count:,} operations"
        wrt = ", ".join(ref.short for ref in request.wrt)
        asked = f", d {name_of(request.of)} / d {wrt}" if request.of and request.wrt else ""
        return f"{self._name}{title}: {operations}{asked}"

    # ------------------------------------------------------------------------------------------

    @property
    def _document(self) -> Document:
        return self._runs.loaded.document

    def _asked(self, query: GradientQuery, feeds: Feeds | None) -> Loaded:
        """The document, fed, that asks for this. Raises GradstepError for what it does not have."""
        loaded = self._runs.fed(feeds)
        return Loaded(as_asked(loaded.document, query), loaded.functions)

    def _from_now(self, program: Program) -> Program:
        """The program from the variables on as they are now."""
        if not self._runs.begun:
            return program
        values = variable_values(program.graph, self._runs.store)
        edited = program.edited
        if isinstance(edited, EditedPrograms):
            edited = replace(edited, initial=values)
        return replace(program, initial={**program.initial, **values}, edited=edited)
