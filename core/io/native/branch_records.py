"""The branches that a document keeps as records of its file, and back."""

from __future__ import annotations

from gradstep.core.document.kept_branch import KeptBranch, KeptChange, KeptEdit
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.attribute_records import TensorFiles, TensorSource, read_tensor


def write_branch(branch: KeptBranch, files: TensorFiles) -> file_schema.BranchRecord:
    changes = [
        file_schema.ChangeRecord(
            run=change.run,
            step=change.step,
            op=change.op,
            values={name: files.record(value) for name, value in change.values.items()},
            words=change.words,
            inside=[*change.inside],
        )
        for change in branch.changes
    ]
    return file_schema.BranchRecord(
        name=branch.name,
        parent=branch.parent,
        run=branch.run,
        step=branch.step,
        op=branch.op,
        changes=changes,
        inherited=branch.inherited,
        place=branch.place,
        inside=[*branch.inside],
        edits=[
            file_schema.BranchEditRecord(
                run=e.run, step=e.step, op=e.op, kind=e.kind, names=[*e.names], words=e.words
            )
            for e in branch.edits
        ],
    )


def read_branch(record: file_schema.BranchRecord, members: TensorSource) -> KeptBranch:
    """The inverse of `write_branch`. Raises GradstepError."""
    changes = tuple(
        KeptChange(
            c.run,
            c.step,
            c.op,
            {name: read_tensor(value, members) for name, value in c.values.items()},
            c.words,
            (*c.inside,),
        )
        for c in record.changes
    )
    edits = tuple(KeptEdit(e.run, e.step, e.op, e.kind, (*e.names,), e.words) for e in record.edits)
    where = record.run, record.step, record.op
    rest = record.inherited, record.place, edits
    inside = (*record.inside,)
    return KeptBranch(record.name, record.parent, *where, changes, *rest, inside=inside)
