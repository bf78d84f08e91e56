"""Operations by the scope right in another one, and the same after an edit."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.persistent.sequence_places import changed_places, common_ends

Split = dict[str, list[str]]  # scope, "" for none -> the operations in it, in their order

FEW = 64  # names that came and went; of more, all are split again


def scope_of(name: str, inside: str) -> str:
    """The scope right in `inside` (with its slash) that a name is in; "" for none."""
    start = len(inside) if name.startswith(inside) else 0
    return name[: max(name.find("/", start), 0)]


def split(names: Sequence[str], inside: str) -> Split:
    """The operations by the scope right in `inside`; those that are not in it by their first."""
    found: Split = {}
    own, start = list[str](), ""  # those of the name before, and how names there begin
    for name in names:
        if not start or not name.startswith(start):  # most are where the one before is
            scope = scope_of(name, inside)
            own, start = found.setdefault(scope, []), f"{scope}/" if scope else ""
        own.append(name)
    return found


def split_again(before: Split, old: Sequence[str], new: Sequence[str], inside: str) -> Split | None:
    """As `split` of `new`, from that of `old`; the scopes that are as they were have the same list.
    None where too much differs, or where scopes may come in another order."""
    if len(old) == len(new):
        places = changed_places(old, new)
        pairs = None if places is None else [(old[i], new[i]) for i in places]
        return None if pairs is None else _renamed(before, pairs, inside)
    first, last = common_ends(old, new)
    gone, came = len(old) - first - last, len(new) - first - last
    if gone + came > FEW:
        return None
    return _exchanged(before, old[first : first + gone], new, range(first, first + came), inside)


def with_names(groups: Split, others: Sequence[tuple[str, str, str]]) -> Split:
    """The same with other names in some places. others: the group, and what the one in it was
    called, and is."""
    at = [groups[group].index(old) for group, old, _ in others]
    found = groups | {group: [*groups[group]] for group, _, _ in others}
    for place, (group, _, new) in zip(at, others, strict=True):
        found[group][place] = new
    return found


def _renamed(before: Split, pairs: Sequence[tuple[str, str]], inside: str) -> Split | None:
    """With other names in the same places."""
    scopes = [scope_of(old, inside) for old, _ in pairs]
    if scopes != [scope_of(new, inside) for _, new in pairs]:
        return None
    return with_names(before, [(s, *pair) for s, pair in zip(scopes, pairs, strict=True)])


def _exchanged(
    before: Split, gone: Sequence[str], names: Sequence[str], came: range, inside: str
) -> Split | None:
    """Without the names `gone`, and with those of `names` in the places `came`."""
    scopes = {scope_of(name, inside) for name in (*gone, *(names[i] for i in came))}
    if not scopes <= before.keys():
        return None
    found = before | {scope: [*before[scope]] for scope in scopes}
    for name in gone:
        own = found[scope_of(name, inside)]
        if own[0] == name:
            return None
        own.remove(name)
    for place in came:
        scope = scope_of(names[place], inside)
        near = names[max(place - FEW, 0) : place]
        above = next((name for name in reversed(near) if scope_of(name, inside) == scope), None)
        if above is None:
            return None
        own = found[scope]
        own.insert(own.index(above) + 1, names[place])
    return found
