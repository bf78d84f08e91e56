"""The branches that a document keeps as records of its file, and back."""

from __future__ import annotations

from gradstep.core.document.kept_branch import KeptBranch, KeptChange, KeptEdit, KeptPlace, KeptTurn
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
        left=[*map(_place_record, branch.left)],
        stands=[*map(_place_record, branch.stands)],
        thread=branch.thread,
        turns=[_turn_record(turn, files) for turn in branch.turns],
        lacks=[*branch.lacks],
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
    return KeptBranch(
        *(record.name, record.parent, *where, changes, *rest),
        inside=(*record.inside,),
        left=tuple(map(_place, record.left)),
        stands=tuple(map(_place, record.stands)),
        thread=record.thread,
        turns=tuple(_turn(turn, members) for turn in record.turns),
        lacks=(*record.lacks,),
    )


def _place_record(place: KeptPlace) -> file_schema.ThreadPlaceRecord:
    return file_schema.ThreadPlaceRecord(
        thread=place.thread, place=[*place.place], ops=[*place.ops]
    )


def _place(record: file_schema.ThreadPlaceRecord) -> KeptPlace:
    return KeptPlace(record.thread, (*record.place,), (*record.ops,))


def _turn_record(turn: KeptTurn, files: TensorFiles) -> file_schema.TurnRecord:
    given, assigned = (
        None if values is None else {name: files.record(value) for name, value in values.items()}
        for values in (turn.given, turn.assigned)
    )
    return file_schema.TurnRecord(
        thread=turn.thread,
        place=[*turn.place],
        ops=[*turn.ops],
        tried=turn.tried,
        given=given,
        words=turn.words,
        assigned=assigned,
        edit=turn.edit,
    )


def _turn(record: file_schema.TurnRecord, members: TensorSource) -> KeptTurn:
    given, assigned = (
        None if records is None else {name: read_tensor(r, members) for name, r in records.items()}
        for records in (record.given, record.assigned)
    )
    where = record.thread, (*record.place,), (*record.ops,)
    return KeptTurn(*where, record.tried, given, record.words, assigned, record.edit)
