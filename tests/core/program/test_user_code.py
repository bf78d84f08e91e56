"""The document's Python: compiled only when trusted, its failures said with their line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.errors import GradstepError, Interrupted
from gradstep.core.program.user_code import compile_item, functions_of


def pyfunc(source: str) -> CodeItem:
    return CodeItem("f", CodeKind.PYFUNC, source)


def test_the_last_function_is_the_one() -> None:
    item = pyfunc("def helper(x):\n    return x + 1\n\ndef main(x):\n    return helper(x) * 2\n")
    assert compile_item(item, trusted=True)(3) == 8


def test_a_function_of_its_name_comes_before_the_last() -> None:
    both = "def main(x):\n    return 2 * x\n\ndef other(x):\n    return 0\n"
    assert compile_item(CodeItem("main", CodeKind.PYFUNC, both), trusted=True)(3) == 6
    registered = f"@tf.RegisterGradient('Own')\n{both}"
    assert compile_item(CodeItem("Own", CodeKind.GRADIENT, registered), trusted=True)(3) == 6


def test_numpy_and_the_graph_language_are_there() -> None:
    item = CodeItem("g", CodeKind.GRADIENT, "def g(op, grad):\n    return np.pi, tf.identity\n")
    pi, identity = compile_item(item, trusted=True)(None, None)
    assert pi == pytest.approx(3.14159265)
    assert callable(identity)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(x:\n    return x", "line 1"),
        ("def f(x):\n    return x +", "line 2"),
        ("x = 1", "no function"),
        ("", "no function"),
        ("class A:\n    def f(self): pass", "no function"),
        ("def f(x):\n    return x\n\nf = 3", "no longer a function"),
        ("def f(x):\n    return x\n\nnothing()", "line 4: NameError: name 'nothing'"),
        ("\0", "null"),
        ("(" * 5000, "'f'"),
        ("import sys\nsys.exit(3)\ndef f(): pass", "line 2: SystemExit: 3"),
        ("import tensorflow.gone as tf\ndef f(): pass", "line 1: ModuleNotFoundError"),
    ],
)
def test_broken_code_is_an_error_at_its_line(source: str, said: str) -> None:
    functions, [problem] = functions_of([pyfunc(source)], trusted=True)
    assert (problem.kind, problem.node) == ("CodeError", "f")
    assert said in problem.message
    with pytest.raises(GradstepError) as failure:  # whatever calls it fails for the same reason
        functions["f"](1.0)
    assert failure.value.message == problem.message
    assert failure.value.node is None  # so that it is located where it was called


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(x):\n    y = 1\n    return x / 0", "'f', line 3: ZeroDivisionError"),
        (
            "def f(x):\n    def inner():\n        raise KeyError('k')\n    inner()",
            "line 3: KeyError",
        ),
        ("def f(x, y):\n    return x", "TypeError"),
        ("def f(x):\n    assert x > 5", "line 2: AssertionError"),
        ("def f(x):\n    raise SystemExit", "line 2: SystemExit"),
        ("def f(x):\n    raise KeyboardInterrupt", "line 2: KeyboardInterrupt"),
        ("def f(x):\n    raise GeneratorExit('gone')", "line 2: GeneratorExit: gone"),
        ("class Odd(BaseException): pass\ndef f(x):\n    raise Odd(3)", "line 3: Odd: 3"),
        ("def f(x):\n    return f(x)", "RecursionError"),
    ],
)
def test_an_exception_names_its_line(source: str, said: str) -> None:
    function = compile_item(pyfunc(source), trusted=True)
    with pytest.raises(GradstepError) as failure:
        function(1.0)
    assert failure.value.kind == "CodeError"
    assert said in failure.value.message
    assert "\n" not in failure.value.message
    assert failure.value.hint


def test_ctrl_c_is_no_error_of_the_code() -> None:
    source = "from gradstep.core.errors import Interrupted\ndef f(x):\n    raise Interrupted"
    with pytest.raises(Interrupted):
        compile_item(pyfunc(source), trusted=True)(1.0)


def test_a_line_without_an_end_is_passed_on_in_pieces() -> None:
    printed: list[str] = []
    source = "def f(x):\n    for i in range(100_000): print('0123456789', end='')\n"
    compile_item(pyfunc(source), trusted=True, output=printed.append)(1)
    assert "".join(printed) == "0123456789" * 100_000
    assert max(map(len, printed)) < 10_000


def test_untrusted_code_is_not_even_compiled(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    source = f"open({str(witness)!r}, 'w').close()\ndef f(x):\n    return x\n"
    functions, [problem] = functions_of([pyfunc(source)], trusted=False)
    assert problem.kind == "UntrustedCodeError"
    assert problem.hint
    with pytest.raises(GradstepError) as failure:
        functions["f"](1.0)
    assert failure.value.kind == "UntrustedCodeError"
    assert not witness.exists()
    compile_item(pyfunc(source), trusted=True)
    assert witness.exists()  # it would have been noticed


def test_what_it_prints_is_handed_over(capfd: pytest.CaptureFixture[str]) -> None:
    printed: list[str] = []
    source = (
        "import sys\nprint('loading')\n"
        "def f(x):\n    print('a', 'b')\n    print('rest', end='')\n    sys.stdout.write('!\\n')\n"
        "    print('last', end='')\n    return x\n"
    )
    function = compile_item(pyfunc(source), trusted=True, output=printed.append)
    assert printed == ["loading\n"]
    function(1)
    assert printed[1:] == ["a b\n", "rest!\n", "last"]
    assert capfd.readouterr().out == ""


def test_by_default_prints_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    compile_item(pyfunc("def f(x):\n    print('hello')\n"), trusted=True)(1)
    assert capfd.readouterr() == ("", "hello\n")
    assert sys.stdout is not sys.stderr
