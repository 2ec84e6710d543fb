"""A statement as a tree that can be shrunk, and a case: the statements of one seed.

A part is a string, a sequence of parts, or an Items. An Items is a list that the shrinker may make shorter: the columns of
a table, the rows of an INSERT, the terms of a WHERE. Tagged items with the same tag are removed together: a column and its
values.
"""

from dataclasses import dataclass, field


@dataclass
class Tagged:
    tag: str
    part: object


@dataclass
class Items:
    """items: parts or Tagged parts. least: how many valid SQL needs. before and after are left out if there is no item."""

    items: list
    separator: str = ", "
    least: int = 1
    before: str = ""
    after: str = ""


def maybe(*parts, before=" "):
    """A part that the shrinker may leave out."""
    return Items([list(parts)], least=0, before=before)


def render(part):
    if isinstance(part, str):
        return part
    if isinstance(part, Tagged):
        return render(part.part)
    if isinstance(part, Items):
        if not part.items:
            return ""
        return part.before + part.separator.join(render(item) for item in part.items) + part.after
    return "".join(render(inner) for inner in part)


def lists_of(part):
    """Every Items in a part, the outer ones first."""
    if isinstance(part, Items):
        yield part
        for item in part.items:
            yield from lists_of(item)
    elif isinstance(part, Tagged):
        yield from lists_of(part.part)
    elif not isinstance(part, str):
        for inner in part:
            yield from lists_of(inner)


@dataclass
class Statement:
    """kind: for the report, and for what is compared (compare.RULES).

    variants: forms of the same query, all with the same answer; the first one runs on InnoDB too. None: only text.
    reader: a second connection runs it, which only reads. theirs: what InnoDB runs instead; "": the same.
    """

    kind: str
    text: object
    ordered: bool = False
    variants: Items | None = None
    reader: bool = False
    theirs: str = ""

    def texts(self):
        if self.variants is None:
            return [render(self.text)]
        return [render(variant) for variant in self.variants.items]

    def lists(self):
        if self.variants is not None:
            yield from lists_of(self.variants)
        else:
            yield from lists_of(self.text)


@dataclass
class Case:
    """settings: SET statements of both sessions; statements: a list of Statement."""

    seed: int
    settings: list = field(default_factory=list)
    statements: list = field(default_factory=list)
