"""A .gradstep file with a loop that is none is refused, and said why."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_import import from_pbtxt
from tests.support import oracle

FORWARD = (oracle.CASES.parent / "graphs" / "while_loop_forward.pbtxt").read_text()

BAD_LOOPS = {
    "an argument that is none": (
        lambda loop: loop["variables"].__setitem__(0, "while/Less"),
        "a loop's argument 'while/Less' is no _Arg among its operations",
    ),
    "too few results": (
        lambda loop: loop["results"].pop(),
        "a loop has 2 variables, but 1 results",
    ),
    "a condition from elsewhere": (
        lambda loop: loop.__setitem__("cond", "x:0"),
        "a loop refers to 'x:0', which is not among its operations",
    ),
    "an operation that takes what is outside": (
        lambda loop: loop["operations"][-1].__setitem__("inputs", ["x:0"]),
        "takes 'x', which is not in that loop",
    ),
    "a name that is taken outside": (
        lambda loop: loop["operations"][-1].__setitem__("name", "x"),
        "",
    ),
}


@pytest.mark.parametrize("case", BAD_LOOPS)
def test_a_file_with_a_loop_that_is_none(case: str) -> None:
    change, message = BAD_LOOPS[case]
    data = gradstep_file.to_bytes(from_pbtxt(FORWARD.encode()))
    with pytest.raises(GradstepError) as caught:
        gradstep_file.from_bytes(_changed(data, change))
    assert message in caught.value.message
    assert caught.value.kind == "FileError"
    assert "x" in {op.name for op in within(from_pbtxt(FORWARD.encode()).graph)}


def _changed(data: bytes, change: Any) -> bytes:
    """The file with its loop's record changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            member = old.read(info)
            if info.filename == "document.json":
                document = json.loads(member)
                op = next(o for o in document["operations"] if o["type"] == "While")
                change(op["attrs"]["loop"])
                member = json.dumps(document).encode()
            new.writestr(info, member)
    return out.getvalue()
