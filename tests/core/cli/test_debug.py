"""gradstep debug: stepping forward, backward and back, breakpoints, values, errors."""

from __future__ import annotations

import builtins
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.cli.console.console import Console
from gradstep.core.cli.debug import GOES_ON, PROMPT, interact
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support.queueing import trained_queue

TUTORIAL = FOLDER / "tutorial.gradstep"


def test_a_script_goes_forward_backward_and_back(cli: Cli) -> None:
    script = "run_to loss; print loss; step; print loss; continue; grad c; print c; step_back; w"
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    assert result.status == 0
    done = result.json["commands"]
    assert done[1]["value"] is None
    assert done[3]["value"]["data"] == pytest.approx(0.66369414)
    assert done[4]["stop"]["reason"] == "end"
    assert done[5]["value"]["data"] == pytest.approx([0.56751364, -0.99436176])
    after, back = done[6]["value"]["data"], done[7]["stop"]
    assert after != [0.06, -0.04]
    assert back["phase"] == "update"
    assert back == {**done[8]["stop"], "reason": back["reason"]}


def test_a_value_is_as_of_the_step(cli: Cli) -> None:
    script = "continue; p c; reverse_continue; p c; continue; p c"
    values = [
        c["value"]["data"]
        for c in cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
        if "value" in c
    ]
    assert values[1] == [0.06, -0.04]
    assert values[0] == values[2] != values[1]


def test_breakpoints(cli: Cli) -> None:
    script = "break a if max(value) > 0; b gradient e; breakpoints; c; c; delete 1; delete; c"
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert [b["target"] for b in done[2]["breakpoints"]] == ["a", "e"]
    assert done[3]["stop"]["reason"] == "breakpoint"
    assert (done[4]["stop"]["phase"], done[4]["stop"]["node"]) == ("backward", "e")
    assert done[6]["breakpoints"] == []
    assert done[7]["stop"]["reason"] == "end"


def test_several_sessions_of_one_graph_and_of_another(cli: Cli) -> None:
    gather = FOLDER / "gather.gradstep"
    script = f"c; new b; p c; copy main b c; p c; duplicate d; new g {gather}; end b; session main"
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert done[2]["value"]["data"] == [0.06, -0.04]
    assert done[4]["value"]["data"] not in ([0.06, -0.04], done[2]["value"]["data"])
    held = {s["name"]: s.get("held", {}) for s in done[-1]["sessions"]}
    assert (list(held), done[-1]["current"]) == (["main", "d", "g"], "main")
    assert held["d"]["c"] == held["main"]["c"]
    assert held["d"]["k"] != held["main"]["k"]
    result = cli("debug", TUTORIAL, "--script", "new b; copy main b c=loss", "--json")
    assert result.status == 1
    assert result.json["error"]["message"].startswith("'loss' is not a variable")


def test_single_operations_and_the_words_of_the_protocol(cli: Cli) -> None:
    script = "run_to 0:8; stepIn; stepOut; next; stepBack; reverseContinue; restart; list; list all"
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    assert result.status == 0
    done = result.json["commands"]
    assert done[1]["stop"]["step"] == 9
    assert done[6]["stop"]["step"] == 0
    assert len(done[8]["steps"]) > len(done[7]["steps"])


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("stpe", "did you mean step"),
        ("step_back", "not possible here"),
        ("print nothing", "nothing"),
        ("print", "needs the name"),
        ("print c:7", "The operation, 'c', exists but only has 1 outputs."),
        ("gradient c of k", "there is loss"),
        ('break a if x["los"] > 1', "did you mean loss"),
        ("delete 1", "there are no breakpoints"),
        ("new", "a session needs a name"),
        ("new b; copy main b zzz", "there are c, k, c/Adam, c/Adam_1, beta1_power and 3 more"),
        ("break", "needs"),
        ("break nowhere", "nowhere"),
        ("break a if (", "("),
        ("break a; delete 7", "needs a number from 1 to 1"),
        ("run_to", "needs a node"),
        ("run_to 0:999", "0:35 is its end"),
    ],
)
def test_a_mistake_ends_a_script(cli: Cli, script: str, said: str) -> None:
    result = cli("debug", TUTORIAL, "--script", f"where; {script}; step", "--json")
    assert result.status == 1
    assert len(result.json["commands"]) == len(script.split(";"))
    assert result.json["error"]["hint"]
    assert said in result.json["error"]["message"] + result.json["error"]["hint"]


def test_sessions_of_two_graphs_with_queues(cli: Cli, tmp_path: Path) -> None:
    """Each has variables and queues of its own, also of one graph; copies are values, by name and
    by scope, into another graph as well; what does not fit is said as TensorFlow does."""
    paths = []
    for name, size in (("one", 2), ("other", 3)):
        b = GraphBuilder()
        with b.as_default():
            queue = tf.FIFOQueue(5, tf.float32, shapes=[[]], name="q")
            queue.enqueue(1.0, name="put")
            queue.size(name="size")
        w = b.variable("net/w", shape=(2,))
        b.variable("v", shape=(size,))
        b.one("AssignAdd", w, [1.0, 1.0], name="count")
        initial = {"net/w": Constant(np.zeros(2, np.float32))}
        initial["v"] = Constant(np.zeros(size, np.float32))
        fetches, targets = (TensorRef("size"), TensorRef("count")), ("put",)
        document = Document(b.build(), initial=initial, fetches=fetches, targets=targets)
        paths.append(tmp_path / f"{name}.gradstep")
        gradstep_file.save(paths[-1], document)
    script = f"c; c; new b; c; new far {paths[1]}; copy main far net/; c; session main; c; sessions"
    found = cli("debug", paths[0], "--script", f"{script}; p q; session b; p q", "--json").json
    *_, said, own, _, other = found["commands"]
    held = {one["name"]: one["held"]["net/w"] for one in said["sessions"]}
    assert held == {"main": "[3. 3.]", "b": "[1. 1.]", "far": "[3. 3.]"}
    assert [x["value"]["data"].split(":")[0] for x in (own, other)] == ["3 of 5", "1 of 5"]
    error = cli("debug", paths[0], "--script", f"{script}; copy main far v", "--json").json["error"]
    words = "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]"
    assert (error["message"], error["hint"]) == (words, "copy from a variable shaped like 'v'")


def test_gradients_of_several_losses(cli: Cli, tmp_path: Path) -> None:
    """Of a variable that both train: each is said with its loss, and can be asked for alone."""
    b = GraphBuilder()
    w = b.variable("w", shape=())
    b.one("Mul", w, 3.0, name="a")
    b.one("Square", w, name="b")
    losses = [(TensorRef("a"),), (TensorRef("b"),)]
    path, optimizers = (
        tmp_path / "two.gradstep",
        [Optimizer("GradientDescent", {"learning_rate": 0.1}, of=of) for of in losses],
    )
    initial = {"w": Constant(np.float32(5))}
    gradstep_file.save(path, Document(b.build(), optimizers=tuple(optimizers), initial=initial))
    script = "run_to b; g w; c; g w; g w of b; p grad w of a; g w of c"
    done = cli("debug", path, "--script", script).out
    assert "d b / d w  not computed yet" in done
    assert "d a / d w  float32[] 3.\nd b / d w  float32[] 10." in done
    found = cli("debug", path, "--script", script, "--json").json
    both, of_b, of_a = found["commands"][-3:]
    assert {loss: x["data"] for loss, x in both["gradients"].items()} == {"a": 3, "b": 10}
    assert (both["value"]["data"], of_b["value"]["data"], of_a["value"]["data"]) == (3, 10, 3)
    assert found["error"]["hint"] == "there are a, b"
    assert cli("expect", path, "--that", 'grad["w", "b"]', "--gradient", "w").status == 0
    expected = gradstep_file.load(path).expectations
    assert [(e.what, e.value and float(e.value.array)) for e in expected] == [
        ('grad["w"]', 3.0),
        ('grad["w", "b"]', 10.0),
    ]
    renamed = document_edits.rename_operation(gradstep_file.load(path), "b", "loss").expectations
    assert [e.what for e in renamed] == ['grad["w"]', 'grad["w", "loss"]']
    missing = cli("expect", path, "--that", 'grad["w", "c"]')
    assert "there is no operation named 'c'" in missing.err


def test_a_failing_step_is_where_it_stops(cli: Cli) -> None:
    result = cli("debug", FOLDER / "gather.gradstep", "--script", "continue", "--json")
    assert result.status == 1
    stop = result.json["commands"][0]["stop"]
    assert (stop["reason"], stop["node"]) == ("exception", "b")
    assert result.json["error"]["index"] == [2]


def test_a_script_file_with_remarks(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text("# go\nstep; step\n\nprint d  # not yet\nquit\nstep\n")
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert [c["command"] for c in done] == ["step", "step", "print d", "quit"]


def test_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: Iterator[str] = iter(["step", "", "nonsense", "help", "print data", "grad labels"])

    def ask(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(builtins, "input", ask)
    result = cli("debug", TUTORIAL)
    assert result.status == 0
    assert "[step] run 1, step 2 of" in result.out
    assert "error: there is no command 'nonsense'" in result.out
    assert "reverse_continue" in result.out
    assert "data  float32[2] [1., 2.]" in result.out


@pytest.mark.parametrize(
    "line", ["step 3", "step -1", "continue 5", "back 2", "where now", "list 3", "break d if"]
)
def test_what_a_command_does_not_take_is_refused_and_not_left_out(cli: Cli, line: str) -> None:
    result = cli("debug", TUTORIAL, "--script", f"step; {line}; breakpoints", "--json")
    assert result.status == 1
    assert [c["command"] for c in result.json["commands"]] == ["step"]
    assert result.json["error"]["type"] == "ValueError"


def test_help_of_one_command(cli: Cli) -> None:
    said = cli("debug", TUTORIAL, "--script", "help break").out
    assert "gradient|scope|type" in said
    assert "reverse_continue" not in said


def test_json_without_a_script_reads_the_commands_from_standard_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("step\nstep; back\nbogus\nstep\n"))
    result = cli("debug", TUTORIAL, "--json")
    assert result.status == 1
    assert [c["command"] for c in result.json["commands"]] == ["step", "step", "back"]
    assert result.json["error"]["message"] == "there is no command 'bogus'"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("type Mull", "no type 'Mull'"),
        ("phase sideways", "no phase 'sideways'"),
        ("scope gradientz", "no scope 'gradientz'"),
        ("nope", "no operation named 'nope'"),
        ("op of several words", "no operation named 'of several words'"),
        ("", "break needs"),
        ("a if value[", "cannot evaluate"),
    ],
)
def test_a_breakpoint_on_nothing_is_refused(cli: Cli, target: str, words: str) -> None:
    result = cli("debug", TUTORIAL, "--script", f"break {target}", "--json")
    assert result.status == 1
    assert words in result.json["error"]["message"]


def test_breakpoints_of_every_kind(cli: Cli) -> None:
    script = "break scope gradients/; break type Mul; break phase update; b gradient a if 1 > 0"
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    assert result.status == 0
    assert len(result.json["commands"][-1]["breakpoints"]) == 4


def test_a_wire_from_nowhere_is_a_problem_and_no_traceback(cli: Cli, tmp_path: Path) -> None:
    x = Operation("x", "Const", attrs={"value": Constant(np.float32(1))})
    lost = Operation("y", "Add", (TensorRef("x"), TensorRef("zz")), ("ww",))
    path = tmp_path / "lost.gradstep"
    gradstep_file.save(path, Document(graph=Graph.of([x, lost])))
    result = cli("debug", path, "--script", "step; print x", "--json")
    assert result.status == 0, "what it does not concern runs"
    assert result.json["commands"][1]["value"]["data"] == 1
    assert "input zz:0 does not exist" in cli("check", path).out


def test_watches_are_said_wherever_it_stops(cli: Cli) -> None:
    script = 'watch loss; watch norm(grad["c"]); continue; watch nosuch'
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    *_, stopped = done = result.json["commands"]
    assert done[0]["watches"] == [{"watch": 'x["loss:0"]', "is": ""}]
    assert [each["is"] for each in stopped["watches"]] == ["0.663694", "1.14491"]
    assert "nosuch" in result.json["error"]["message"]


def test_watches_are_taken_away_by_number(cli: Cli) -> None:
    script = "watch loss; watch c; unwatch 1; watch; unwatch; watch; unwatch 1"
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    done = result.json["commands"]
    assert [each["watch"] for each in done[3]["watches"]] == ['x["c:0"]']
    assert done[5]["watches"] == []
    assert "there is none" in result.json["error"]["message"]


def test_watches_of_the_document_are_there(cli: Cli, tmp_path: Path) -> None:
    document = gradstep_file.from_bytes(TUTORIAL.read_bytes()).with_(watches=('x["c"]',))
    path = tmp_path / "watched.gradstep"
    path.write_bytes(gradstep_file.to_bytes(document))
    assert 'x["c"]  [0.06 -0.04]' in cli("debug", path, "--script", "where").out


@pytest.mark.parametrize(
    ("asked", "value"), [('norm(x["c"])', 0.0721110), ('x["c"][1]', -0.04), ("1 + 1", 2.0)]
)
def test_an_expression_can_be_printed(cli: Cli, asked: str, value: float) -> None:
    done = cli("debug", TUTORIAL, "--script", f"print {asked}", "--json").json["commands"]
    assert done[0]["value"]["data"] == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("asked", "why"), [("los", "no operation"), ("d[0]", "'d' is not known"), ('x["los"]', "los")]
)
def test_what_cannot_be_printed_says_why(cli: Cli, asked: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", f"print {asked}", "--json")
    assert why in result.json["error"]["message"]


def test_a_variable_is_set_where_it_stands(cli: Cli) -> None:
    script = "continue; step; set c [1, 2]; continue; print loss"
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert done[2]["value"]["data"] == [1.0, 2.0]
    initial = gradstep_file.from_bytes(TUTORIAL.read_bytes())
    assert done[4]["value"]["data"] < 0.01  # 0.663 as it was
    assert initial.initial["c"].array.tolist() == pytest.approx([0.06, -0.04])


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("set c", "set needs"),
        ("set nowhere 1", "nowhere"),
        ("set c [1, 2, 3]", "does not fit"),
        ("continue; step_back; set c 1", "is in the past"),
    ],
)
def test_what_cannot_be_set_says_why(cli: Cli, command: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", command, "--json")
    assert why in result.json["error"]["message"]


def test_a_value_is_injected_on_a_branch_that_one_can_leave(cli: Cli) -> None:
    script = (
        "goto 0:6; inject d[1] = 5; print d; continue; print loss; branches; branch main; where; "
        "print d; rename b1 to larger; inject c = 2; branch larger; print loss; drop larger; where"
    )
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert done[2]["value"]["data"] == pytest.approx([1.06, 5.0])
    there = [(b["name"], b["parent"], b["text"]) for b in done[5]["branches"]]
    assert there == [("main", "", ""), ("b1", "main", "d[1] = 5")]
    assert (done[5]["branch"], done[7]["stop"]["branch"]) == ("b1", "main")
    assert (done[7]["stop"]["run"], done[7]["stop"]["step"]) == (0, 6)
    assert done[8]["value"]["data"] == pytest.approx([1.06, 1.96])
    assert done[12]["value"]["data"] == done[4]["value"]["data"]
    assert done[14]["stop"]["branch"] == "main"


NAN = str(FOLDER / "nan_gradient.gradstep")


def test_why_names_edits_that_are_tried_and_taken_on_a_branch(cli: Cli) -> None:
    script = "continue; why grad p; try 1; take 1; why grad p; branches; branch main; why loss"
    done = cli("debug", NAN, "--script", script, "--json").json["commands"]
    assert done[1]["remedies"][0]["kind"] == "safe_where"
    assert (done[2]["mends"], done[2]["rows"][1]["before"]) == (True, "NaN")
    assert done[3]["stop"]["branch"] == "b1"
    assert (done[4]["state"], done[4]["remedies"]) == ("ok", [])
    assert "safe number" in done[5]["branches"][1]["text"]
    assert done[7]["state"] == "ok"
    text = cli("debug", NAN, "--script", "continue; why grad p of loss; try 2").out
    assert "take 1 makes it on a branch:" in text
    assert "In run 1, loss stays -0.562335" in text


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("why", "why needs a tensor"),
        ("try 1", "try needs a `why`"),
        ("why loss; take 1", "names 0 edits now"),
        ("why grad p; try x", "try needs a `why`"),
        ("why grad nowhere", "nowhere"),
        (f"why grad p; take {'9' * 5000}", "and no number 9"),
        ("why grad p; take 1; take 2", "'Add 1e-7 to what logp reads' was named where"),
    ],
)
def test_what_cannot_be_tried_says_why(cli: Cli, script: str, why: str) -> None:
    result = cli("debug", NAN, "--script", f"continue; {script}", "--json")
    assert why in result.json["error"]["message"]


def test_a_program_is_edited_on_a_branch_that_one_can_leave(cli: Cli) -> None:
    script = (
        "continue; continue; gradient c; fork stop a<0; where; gradient c; gradient k; "
        "fork stop e<0; branches; branch main; gradient c; drop b2; branches; "
        "compare b1"
    )
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    native, stopped, other = (done[n]["value"]["data"] for n in (2, 5, 6))
    assert stopped == pytest.approx(other)  # c has what k has: by e alone
    assert native != pytest.approx(stopped)
    assert (done[4]["stop"]["branch"], done[4]["stop"]["run"]) == ("b1", 1)
    there = [(b["name"], b["parent"], b["text"]) for b in done[8]["branches"]]
    assert there[1:] == [("b1", "main", "stop a<0"), ("b2", "b1", "stop e<0")]
    assert done[10]["value"]["data"] == native
    assert [b["name"] for b in done[12]["branches"]] == ["main", "b1"]
    assert "with stop a<0" in done[13]["text"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("inject c", "inject needs"),
        ("inject c = ", "inject needs"),
        ("inject nowhere = 1", "nowhere"),
        ("inject c = [1, 2, 3]", "does not fit"),
        ("inject c[7] = 1", "7"),
        ("inject d = [1, 2]", "'d' has no value here yet"),
        ("inject seed = 7", "draws random numbers"),
        ("inject seed = 0.5", "not a whole number"),
        ("fork", "fork needs an edit"),
        ("fork pray", "fork needs an edit"),
        ("fork stop nowhere", "no operation named 'nowhere'"),
        ("fork override a Nope", "'Nope', which is not registered"),
        ("fork set a.alpha = 1", "has no attribute 'alpha'"),
        ("branch b", "there is no branch 'b'"),
        ("rename main", "rename needs"),
        ("drop", "drop needs"),
        ("drop main", "all others leave"),
    ],
)
def test_what_cannot_be_injected_says_why(cli: Cli, command: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", command, "--json")
    assert why in result.json["error"]["message"]


def test_moments_are_compared(cli: Cli) -> None:
    script = (
        "c; goto 0:4; inject d[1] = 5; c; compare main; compare main@0:6; compare 0:1 0:3; "
        "new other; compare main@0:0 other; compare 0:0 other"
    )
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    found = done[4]
    assert (found["left"], found["right"]) == ("main · 0:35", "b1 · 0:35")
    assert found["first_divergence"] == "d"
    differing = {node["name"] for node in found["nodes"] if node.get("differs")}
    assert {"d", "a", "loss", "c", "k"} <= differing
    assert not {"data", "labels", "e", "beta1_power"} & differing
    creating = [node["name"] for node in found["nodes"] if node.get("creates")]
    assert creating == ["d"]
    assert "d (AddV2), by 3.04 at [1]." in found["text"]
    assert "b1 leaves main at 0:4, with d[1] = 5." in found["text"]
    few = [node["name"] for node in done[5]["nodes"] if node.get("differs")]
    assert few == ["d", "a", "loss"]
    assert "are the same to the bit" in done[6]["text"]
    assert done[8]["right"] == "other · 0:0"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("compare", "compare needs"),
        ("compare a b c", "compare needs"),
        ("compare nowhere", "no branch and no session is 'nowhere'"),
        ("compare 0:9", "0:9 has not been run there"),
        ("compare 7:0", "7:0 has not been run there"),
    ],
)
def test_what_cannot_be_compared_says_why(cli: Cli, command: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", command, "--json")
    assert why in result.json["error"]["message"]


def test_a_name_of_a_branch_and_a_session_is_offered_once(cli: Cli) -> None:
    result = cli("debug", TUTORIAL, "--script", "compare nowhere", "--json")
    assert result.json["error"]["hint"] == "there is main"


def test_branches_of_the_terminal_are_a_tree(cli: Cli) -> None:
    script = "goto 0:6; inject d = 5; step; inject e = [1, 2]; branches"
    text = cli("debug", TUTORIAL, "--script", script).out
    assert "leaves b1 at 0:" in text
    assert "    b2" in text
    assert "b2: run 1" in text


def test_beside_threads_an_edit_is_tried_on_a_branch(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "queue.gradstep"
    gradstep_file.save(file, trained_queue(4, 2))
    script = "continue; continue; print r; fork set r.alpha = 0.5; print r; branches; branch main"
    done = cli("debug", file, "--script", script, "--json").json["commands"]
    before, after = (done[n]["value"]["data"] for n in (2, 4))
    assert after == pytest.approx([2 * each for each in before])
    text = cli("debug", file, "--script", script).out
    [_, branch] = done[5]["branches"]
    assert [each[0] for each in branch["left"]] == ["main", "one", "two"]
    assert "leaves main in main at 1:" in text
    failed = cli("debug", file, "--script", "continue; fork set q.capacity = 2", "--json")
    assert failed.json["commands"][-1]["stop"]["branch"] == "b1"  # in run 1 of all threads
    failed = cli("debug", file, "--script", "continue; continue; fork set q.capacity = 2", "--json")
    assert "holds what the threads have put there" in failed.json["error"]["message"]
    assert "run 1 of all threads" in failed.json["error"]["hint"]


def test_a_condition_may_speak_of_the_run(cli: Cli) -> None:
    script = 'break loss if run >= 2 and x["loss"] > 0; continue; continue; continue; where'
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    stops = [(c["stop"]["reason"], c["stop"]["run"]) for c in done[1:]]
    assert stops == [("end", 0), ("end", 1), ("breakpoint", 2), ("breakpoint", 2)]


def test_runs_are_asked_where_something_was_so(cli: Cli) -> None:
    script = 'c; c; c; query x["loss"] < 0.6635; query --every x["loss"] < 0.6635; who c; where'
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    first, every, who, where = done[3:]
    assert [row["run"] for row in first["moments"]] == [1]
    assert [row["run"] for row in every["moments"]] == [1, 2]
    assert every["moments"][0] == first["moments"][0]
    assert who["moments"][0]["node"] == "train/update_c/ApplyAdam"
    assert (where["stop"]["run"], where["stop"]["reason"]) == (2, "end")  # it did not move


def test_back_and_next_are_of_where_it_stands(cli: Cli) -> None:
    script = 'c; c; c; goto 1:3; query --back x["loss"] > 0; query --next x["loss"] > 0; query nan'
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    assert [each["moments"][0]["run"] for each in done[4:6]] == [0, 1]
    assert (done[6]["moments"], done[6]["runs"]) == ([], 3)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("query", "query needs"),
        ("query --every", "query needs"),
        ("who", "who needs"),
        ("who nosuch", "nosuch"),
        ("query x[", "cannot evaluate"),
    ],
)
def test_what_cannot_be_asked_says_why(cli: Cli, command: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", command, "--json")
    assert why in result.json["error"]["message"]


def test_a_logpoint_writes_to_the_terminal_and_into_the_answer(cli: Cli) -> None:
    script = 'log loss if run > 0: loss {x["loss"]}; c; c; breakpoints'
    result = cli("debug", TUTORIAL, "--script", script, "--json")
    first, second, third, listed = result.json["commands"]
    assert "output" not in second
    assert third["output"] == "loss 0.663078\n"
    assert third["stop"]["reason"] == "end"
    assert result.err == "loss 0.663078\n"
    assert first["breakpoints"][0]["log"] == 'loss {x["loss"]}'
    assert listed["breakpoints"][0]["hit"] == 1


def test_breakpoints_are_changed_by_number(cli: Cli) -> None:
    script = "break loss if nan; break write c; hits 2 3; exempt 1 a d; disable 1; exempt 2; where"
    done = cli("debug", TUTORIAL, "--script", script, "--json").json["commands"]
    one, two = done[5]["breakpoints"]
    assert one["condition"] == "isnan(value)"
    assert (one["exempt"], one["enabled"], two["hits"], two["kind"]) == (
        ["a", "d"],
        False,
        3,
        "write",
    )
    text = cli("debug", TUTORIAL, "--script", f"{script}; enable 1; breakpoints").out
    assert "not at a, d" in text
    assert "from hit 3" in text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("log loss", "log needs"),
        ("log loss:  ", "log needs"),
        ("log nosuch: x", "nosuch"),
        ('log loss: {x["nosuch"]}', "nosuch"),
        ("log loss: {", "without another"),
        ("break loss; hits 1", "hits needs"),
        ("break loss; hits 1 0", "hits needs"),
        ("break loss; exempt 1 nosuch", "nosuch"),
        ("break loss; disable 2", "from 1 to 1"),
        ("enable 1", "there are no breakpoints"),
    ],
)
def test_what_is_wrong_with_a_breakpoint_is_said(cli: Cli, command: str, why: str) -> None:
    result = cli("debug", TUTORIAL, "--script", command, "--json")
    assert why in result.json["error"]["message"]


def test_a_command_in_several_lines_is_one(cli: Cli) -> None:
    said = cli("debug", TUTORIAL, "--script", "goto 0:3\nset c [1,\n 2]\nprint \\\n c", "--json")
    done = [each["command"] for each in said.json["commands"]]
    assert done == ["goto 0:3", "set c [1,  2]", "print   c"]
    assert said.json["commands"][-1]["value"]["data"] == [1, 2]


def test_the_terminal_asks_on_while_a_bracket_is_open() -> None:
    program = derive(read(TUTORIAL), {})
    console = Console(begin(program, NumpyBackend()), lambda _: program)
    typed = iter(["goto 0:3", "set c [1,", "2]", "print \\", "c", "set c [3,", ""])
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    said: list[str] = []
    interact(console, ask, said.append)
    assert prompts == [PROMPT, PROMPT, GOES_ON, PROMPT, GOES_ON, PROMPT, GOES_ON, PROMPT]
    assert said[-2] == "c  float32[2] [1., 2.]"
    assert said[-1].startswith("error: ")
