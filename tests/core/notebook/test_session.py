"""gradstep.open: what a script gets of a document is what the command line prints of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradstep
from gradstep.core.cli.output.command_output import finite, tensor_object
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.open_document import read
from tests.core.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
TUTORIAL = EXAMPLES / "tutorial.gradstep"
SAME = ("tutorial", "stop_gradient", "where_nan_trap", "gan", "while_loop", "dqn_target")


@pytest.fixture
def net() -> gradstep.Session:
    return gradstep.open(TUTORIAL)


def _object(values: dict[str, np.ndarray | None]) -> object:
    return finite({name: tensor_object(value) for name, value in values.items()})


@pytest.mark.parametrize("name", SAME)
def test_it_computes_what_the_command_line_does(cli: Cli, name: str) -> None:
    file = EXAMPLES / f"{name}.gradstep"
    net = gradstep.open(file)
    gradients = cli("grad", file, "--json").json["gradients"]
    assert _object(net.grad()) == gradients
    assert _object(net.run()) == cli("run", file, "--json").json["runs"][0]["fetches"]
    net.reset()
    assert _object(net.grad()) == gradients
    of = cli("why", file, "--json").json["gradients"]
    for wrt, said in of.items():
        loss = said["path"][0] if said["path"] else next(iter(net.run()))
        found = net.why(loss, wrt)
        assert (found.state, found.cause, found.text) == (
            said["state"],
            said["cause"],
            said["text"],
        )
        net.reset()


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--stop", "d", "e<0"], {"stop": ["d", "e<0"]}),
        (["--override", "Mul=AddV2"], {"override": {"Mul": "AddV2"}}),
        (["--stop", "a", "--unconnected", "zero"], {"stop": "a", "unconnected": "zero"}),
        (["--gate"], {"gate": True}),
    ],
)
def test_what_bends_gradients(
    cli: Cli, net: gradstep.Session, flags: list[str], options: dict[str, object]
) -> None:
    said = cli("grad", TUTORIAL, "--of", "loss", "--wrt", "c", "--wrt", "k", *flags, "--json").json
    found = net.grad("loss", ["c", "k"], **options)  # type: ignore[arg-type]
    assert _object(dict(zip("ck", found, strict=True))) == said["gradients"]


def test_values_come_in_the_shape_of_the_question(net: gradstep.Session) -> None:
    a = net.run("a")
    assert isinstance(a, np.ndarray)
    both = net.run(["d", "a:0"])
    assert isinstance(both, list)
    np.testing.assert_array_equal(both[1], a)
    assert list(net.grad()) == ["c", "k"]
    c, k = net.grad("loss", ("c", "k"))
    assert c is not None
    assert k is not None
    np.testing.assert_array_equal(net.grad("loss", "c"), c)
    assert net.run([]) == []


def test_feeds_are_array_like_and_hold_for_one_run(net: gradstep.Session) -> None:
    before = net.run("data")
    np.testing.assert_array_equal(net.run("data", {"data": [3, 4]}), [3, 4])
    np.testing.assert_array_equal(net.run("data", {"data:0": np.arange(2)}), [0, 1])
    np.testing.assert_array_equal(net.run("data"), before)
    fed = net.grad("loss", "c", {"data": [3, 4]})
    assert not np.array_equal(fed, net.grad("loss", "c"))


def test_variables_live_on_from_run_to_run(net: gradstep.Session) -> None:
    first, gradient = net.variables, net.grad("loss", "c")
    losses = [net.run()["loss"] for _ in range(5)]
    assert losses[-1] < losses[0]
    after = net.variables
    assert not np.array_equal(after["c"], first["c"])
    assert not np.array_equal(net.grad("loss", "c"), gradient)
    np.testing.assert_array_equal(net.debug()["c"], after["c"])
    net.why("loss")
    np.testing.assert_array_equal(net.variables["c"], after["c"])
    net.reset()
    np.testing.assert_array_equal(net.variables["c"], first["c"])
    assert net.run()["loss"] == losses[0]


@pytest.mark.parametrize("how", ["given", "set"])
def test_a_batch_like_the_one_before_compiles_nothing(
    net: gradstep.Session, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    def feed(data: list[int]) -> dict[str, list[int]] | None:
        if how == "given":
            return {"data": data}
        net.set_feeds(data=data)
        return None

    net.run(None, feed([1, 2]))
    net.grad("loss", "c", feed([1, 2]))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it is compiled anew")

    monkeypatch.setattr("gradstep.core.engine.run.tf_session.compile_plan", refuse)
    monkeypatch.setattr("gradstep.core.notebook.program_cache.derive", refuse)
    net.run(None, feed([3, 4]))
    net.grad("loss", "c", feed([3, 4]))


@pytest.mark.parametrize("suffix", [".pb", ".pbtxt"])
def test_graph_defs_open_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"net{suffix}"
    path.write_bytes(to_bytes(read(TUTORIAL), suffix))
    net = gradstep.open(path)
    assert net.operations["a"] == "Mul"
    found = net.run("d", {"data": [1, 2], "c": [10, 20]})
    np.testing.assert_array_equal(found, [11, 22])


def test_no_gradient_is_none_and_why_says_what_stops_it(net: gradstep.Session) -> None:
    assert net.grad("loss", "c", stop=["d", "e"]) is None
    found = net.why("loss", "c", stop=["d", "e"])
    assert (found.state, found.cause, found.node) == ("none", "stopped", "e")
    assert repr(found).startswith(found.text)
    assert "path: loss → a → e" in repr(found)


def test_another_device(tmp_path: Path) -> None:
    gather = EXAMPLES / "gather.gradstep"
    with pytest.raises(gradstep.GradstepError, match=r"indices\[2\] = 6 is not in \[0, 5\)"):
        gradstep.open(gather).run("b")
    found = gradstep.open(gather, device="emulate:tf-gpu").run("b")
    np.testing.assert_array_equal(found, [1, 2, 0])


def _note_of(question: object) -> tuple[gradstep.GradstepError, str]:
    with pytest.raises(gradstep.GradstepError) as raised:
        question()  # type: ignore[operator]
    return raised.value, "\n".join(getattr(raised.value, "__notes__", ()))


def test_errors_say_in_the_traceback_where_and_what_to_do(net: gradstep.Session) -> None:
    error, note = _note_of(lambda: net.run("los"))
    assert (error.kind, error.node, error.hint) == ("ValueError", "los", "did you mean loss?")
    assert note == "hint: did you mean loss?"
    error, note = _note_of(lambda: gradstep.open(EXAMPLES / "gather.gradstep").run("b"))
    assert note.splitlines()[0] == "at:   b, element [2]"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (lambda net: net.run(3), "3 is not the name of a tensor"),
        (lambda net: net.grad("loss", ["c", 3]), "3 is not the name of a tensor"),
        (lambda net: net.run("a", {"data": [1, 2, 3]}), "Cannot feed value of shape"),
        (lambda net: net.run("a", {"dat": 1}), "'dat', does not exist in the graph"),
        (lambda net: net.grad("loss", "c", unconnected="nil"), "unconnected='nil' is not known"),
        (lambda net: net.grad("loss", "cc"), "there is no operation named 'cc'"),
        (lambda net: net.why("los"), "there is no operation named 'los'"),
        (lambda net: net.debug(override={"Mull": "Identity"}), "this override matches nothing"),
    ],
)
def test_wrong_questions(net: gradstep.Session, question: object, said: str) -> None:
    error, note = _note_of(lambda: question(net))  # type: ignore[operator]
    assert said in error.message
    assert note


def test_a_misspelt_option_is_pythons_own_error(net: gradstep.Session) -> None:
    with pytest.raises(TypeError, match="stops"):
        net.grad("loss", "c", stops="d")  # type: ignore[call-overload]


def test_what_nobody_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "bare.gradstep"
    bare = read(TUTORIAL)
    path.write_bytes(to_bytes(type(bare)(graph=bare.graph), ".gradstep"))
    error, _ = _note_of(gradstep.open(path).grad)
    assert (error.message, error.hint) == (
        "of is missing, and the document does not say",
        "give of a name; there is loss",
    )
    path.write_bytes(to_bytes(type(bare)(), ".gradstep"))
    error, _ = _note_of(gradstep.open(path).run)
    assert error.hint == "name what to fetch"


def test_a_file_has_a_memory_budget() -> None:
    error, note = _note_of(lambda: gradstep.open(TUTORIAL, memory=100))
    assert "the limit for a file is 100 bytes" in error.message
    assert int(note.partition("memory=")[2]) > 100
    assert gradstep.open(TUTORIAL, memory=1 << 20).title


def test_what_is_said_of_the_document(net: gradstep.Session) -> None:
    said = "tutorial.gradstep (The tutorial network): 8 operations, d loss / d c, k"
    assert repr(net) == f"<gradstep.Session of {said}>"
    assert net.title == "The tutorial network"
    assert net.note
    assert net.problems == []
    assert set(net.feeds) == {"data:0", "labels:0"}
    assert "loss" in net.to_networkx()


def test_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "net.pbtxt"
    path.write_text('node { name: "x" op: "Zorp" } node { name: "y" op: "Neg" input: "x" }')
    (problem, *_) = gradstep.open(path).problems
    assert problem.startswith("error: x: Op type not registered 'Zorp'")


def test_who_waits_for_a_thread_is_told_where_they_run() -> None:
    net = gradstep.open(EXAMPLES / "queue_train_validation.gradstep")
    error, _ = _note_of(net.run)
    assert error.kind == "DeadlineExceededError"
    assert error.hint.startswith("let the document's threads run: debug() has them; or ")
    assert net.debug().continue_().reason == "end"


def test_values_to_look_at_say_how_they_are_changed(net: gradstep.Session) -> None:
    def write(values: object, name: str) -> None:
        values[name] = 7  # type: ignore[index]

    def add() -> None:
        net.variables["c"].__iadd__(1)

    for what, change in {
        "set_feeds": lambda: net.feeds.update({"data": 7}),  # type: ignore[attr-defined]
        "set_variables": lambda: write(net.variables, "c"),
        "net.set_variables": lambda: write(net.variables["c"], slice(None)),  # type: ignore[arg-type]
        "net.set_variables(w=": add,
    }.items():
        error, _ = _note_of(change)
        assert "would change nothing" in error.message
        assert what in error.hint
    assert type(net.variables["c"] + 1) is np.ndarray
    assert type(net.variables["c"].sum()) is np.float32


def test_feeds_and_variables_that_are_set_stay(net: gradstep.Session) -> None:
    net.run()
    net.set_feeds(data=[5, 6])
    net.set_variables({"c": [1, 1]}, k=3)
    for _ in range(2):
        np.testing.assert_array_equal(net.feeds["data:0"], [5, 6])
        np.testing.assert_array_equal(net.run("d"), [6, 7])
        np.testing.assert_array_equal(net.variables["k"], [3, 3])
        np.testing.assert_array_equal(net.debug().inject("data", 1) and net.run("d"), [6, 7])
        net.reset()


def test_an_optimizer_that_is_set_trains(tmp_path: Path) -> None:
    net = gradstep.open(TUTORIAL)
    gradient, first = net.grad("loss", "c"), net.variables["c"]
    net.set_optimizer("GradientDescent", learning_rate=0.5)
    net.run()
    np.testing.assert_allclose(net.variables["c"], first - 0.5 * gradient, rtol=1e-5)
    error, _ = _note_of(lambda: net.set_optimizer("Adam", lr=1))
    assert "Adam has no hyper-parameter 'lr'" in error.message


def test_what_is_saved_opens_as_it_was(net: gradstep.Session, tmp_path: Path) -> None:
    """Variables as they are, feeds and optimizer included; over a file that is there."""
    path = tmp_path / "net.gradstep"
    path.write_text("another file")
    net.set_feeds(data=[5, 6])
    net.set_optimizer("GradientDescent", learning_rate=0.5)
    net.run()
    net.save(path)
    again = gradstep.open(path)
    for name, value in net.variables.items():
        np.testing.assert_array_equal(again.variables[name], value)
    assert again.run()["loss"] == net.run()["loss"]
    np.testing.assert_array_equal(again.variables["c"], net.variables["c"])
    with pytest.warns(UserWarning, match=r"net.pbtxt is without .*what is fed"):
        net.save(str(tmp_path / "net.pbtxt"))
    assert gradstep.open(tmp_path / "net.pbtxt").operations["a"] == "Mul"
    error, _ = _note_of(lambda: net.save(tmp_path / "net.docx"))
    assert ".gradstep" in error.hint
