"""Options of a table with people's and judges' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from harness.options import Flag, Names, Options
from harness.text import as_names

Role = Literal[
    "human", "judge", "text", "language", "id", "group", "system", "metric", "annotator", "score", "probability", "reason", "unused"
]


@dataclass(frozen=True, kw_only=True)
class TableOptions(Options):
    """State the roles of a table's columns, where their names and cells do not show them."""

    heading: ClassVar[str] = "columns of a table (docs/one-table.md)"

    judge: tuple[str, ...] = ()
    """columns with a judge's scores; the judges that are compared, if they are named, are columns of the table"""
    human: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns with people's scores; a judge's columns are named with --judge"""
    text: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns with texts"""
    language: Annotated[str | None, Flag(metavar="COLUMN_OR_TAG")] = None
    """the column that names each text's language, or the language of all"""
    id: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """the column of ids; two tables are joined by it"""
    group: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """what texts share, such as a document: texts of one group are not independent"""
    metric: Annotated[str | None, Flag(metavar="COLUMN_OR_NAME")] = None
    """the column that names what was scored, or the name of it"""
    system: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """the column that names whose text it is"""
    scale: Annotated[tuple[str, ...], Flag(metavar="[METRIC=]SCALE")] = ()
    """the scale, such as 1..5:best=5 or fail,pass:best=pass; repeatable"""
    recode: Annotated[tuple[str, ...], Flag(metavar="COLUMN:FROM=TO")] = ()
    """what a column's scores are on the other side's scale: judge:0..1=1..5 or judge:4..5=pass,1..3=fail; repeatable"""
    drop: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns that do not matter"""
    sampling: Annotated[Literal["random", "convenience", "unknown"] | None, Flag()] = None
    """how the texts were chosen; corrected means need random ones (default: unknown)"""
    source: Annotated[Literal["native", "people", "constructed"], Flag(setting=True)] = "native"
    """who labelled the texts"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("judge", "human", "text", "scale", "recode", "drop"):
            object.__setattr__(self, name, as_names(getattr(self, name)))

    @property
    def columns(self) -> dict[str, Role]:
        """The columns that are named outright, with their roles."""
        single: dict[Role, str | None] = {"id": self.id, "group": self.group, "system": self.system}
        several: dict[Role, tuple[str, ...]] = {"human": self.human, "judge": self.judge, "text": self.text, "unused": self.drop}
        roles: dict[str, Role] = {name: role for role, name in single.items() if name}
        return roles | {name: role for role, names in several.items() for name in names}
