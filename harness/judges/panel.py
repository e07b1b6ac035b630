"""`panel/<file.toml>`: several judges as one. A panel is never asked: its score is computed from its members' scores of one question.

It answers where more than half of its members gave a score that could be read. Where fewer did, it fails in the way in which most of
them failed; a tie that its file does not settle is the failure `tied`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from harness.content.problems import line_of
from harness.content.specs import Text, read_spec
from harness.errors import ContentError, UsageError
from harness.judges.judge_protocol import JudgeOptions
from harness.model import Failure, JudgeIdentity, Scale, Score

KIND = "panel"
_FILE = re.compile(rf"{KIND}/(?P<path>.+\.toml)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")

Vote = Score | Failure


class Panel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A panel file.

    Attributes:
        members: names of judges, in the order in which `ties = "first"` asks them.
        rule: `majority` needs classes, `median` an order, `mean` an interval scale. The median of an even number is the lower one.
        ties: what settles a tie of the majority: nothing (the panel fails), the lower median of all votes, or the vote of the first
            member that gave one of the tied classes.
    """

    members: Annotated[tuple[Text, ...], msgspec.Meta(min_length=2)]
    rule: Literal["majority", "median", "mean"] = "majority"
    ties: Literal["none", "median", "first"] = "none"

    def score(self, votes: Sequence[Vote], scale: Scale) -> Vote:
        """Return the panel's score of one question, or why it has none. `votes` are of members that were asked, in the order of `members`.

        >>> panel = Panel(("a", "b", "c"))
        >>> scale = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
        >>> panel.score([2, 1, 2], scale), str(panel.score([0, 1, 2], scale)), str(panel.score([2, Failure.REFUSED], scale))
        (2, 'tied', 'refused')
        """
        scores = [vote for vote in votes if not isinstance(vote, Failure)]
        if 2 * len(scores) <= len(self.members):
            # The failure of most members; `missing` if there is no such one.
            ranked = Counter(vote for vote in votes if isinstance(vote, Failure)).most_common(2)
            alone = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] > ranked[1][1])
            return ranked[0][0] if alone else Failure.MISSING
        if self.rule == "mean":
            return sum(map(float, scores)) / len(scores)
        if self.rule == "median":
            return _lower_median(scores, scale)
        counts = Counter(scores)
        most = max(counts.values())
        tied = [score for score in counts if counts[score] == most]
        if len(tied) == 1 or self.ties == "first":
            return next(score for score in scores if score in tied)
        return _lower_median(scores, scale) if self.ties == "median" else Failure.TIED

    def problem_with(self, metric: str, scale: Scale) -> str:
        """Return why the rule does not fit the scale of a metric, as a clause; empty if it does."""
        if scale.kind == "interval":
            if self.rule == "majority":
                return f'takes a majority, but the scores of \'{metric}\' are numbers without classes; take rule = "median" or "mean"'
        elif self.rule == "mean":
            instead = "median" if scale.kind == "ordinal" else "majority"
            return f"takes a mean, but '{metric}' has classes, and a mean of classes is no class; take rule = \"{instead}\""
        elif scale.kind == "nominal" and "median" in (self.rule, self.ties):
            key, instead = ("rule", "majority") if self.rule == "median" else ("ties", "first")
            return f"takes a median, but the classes of '{metric}' have no order; take {key} = \"{instead}\""
        return ""

    def identity(self, name: str, members: Mapping[str, JudgeIdentity] | None = None) -> JudgeIdentity:
        """Return the panel as a judge: its file's content, and the identities of its members where they are known."""
        settings = {"members": " + ".join(self.members), "rule": self.rule, "ties": self.ties}
        if members is not None:
            identities = [members[member] for member in self.members]
            settings["identities"] = hashlib.sha256(msgspec.json.encode(identities, order="sorted")).hexdigest()
        return JudgeIdentity(KIND, name.removeprefix(f"{KIND}/"), settings)


def _lower_median(scores: Sequence[Score], scale: Scale) -> Score:
    """Return the middle one of the scores; of an even number the lower one of the two in the middle."""
    rank = {score: index for index, score in enumerate(scale.classes)}
    rising = sorted(scores, key=lambda score: rank.get(score, score))  # type: ignore[arg-type]
    return rising[(len(rising) - 1) // 2]


class PanelFile(Panel, frozen=True):
    """A panel as its file has it.

    `personas` has a sentence for members that are one model under several labels, such as `openai/m@teacher`: who reads the text. It stands
    before the other words of the system, and is a setting of the judge.
    """

    personas: dict[str, Text] = {}


def personas_of(judges: Sequence[str]) -> dict[str, str]:
    """Return the personas of the members of panels among these judges, by name. Raises as `read_panel`."""
    files = [name for name in judges if is_panel_file(name)]
    return {member: words for name in files for member, words in _read_file(name)[1].personas.items()}


def is_panel_file(name: str) -> bool:
    """Return True if a judge's name is the path of a panel's file: `panel/jury.toml`. `panel/jury` is a panel whose scores are recorded."""
    return _FILE.fullmatch(name) is not None


def panel_file_in(folder: Path, name: str) -> str:
    """Return the name of a panel whose file is in a folder: `panel//home/me/study/jury.toml`.

    >>> panel_file_in(Path("/home/me/study"), "panel/jury.toml")
    'panel//home/me/study/jury.toml'
    """
    return f"{KIND}/{(folder / name.removeprefix(f'{KIND}/')).resolve()}"


def read_panel(name: str) -> tuple[str, Panel]:
    """Return the panel `panel/<file.toml>`, with the name that its rows have: `panel/` and the name of the file.

    Raises UsageError without such a file; ContentError with the line for a file that is no panel, a member that is named twice, a member
    that is a panel, and a persona of a judge that cannot have one.
    """
    panel_name, panel = _read_file(name)
    return panel_name, Panel(panel.members, panel.rule, panel.ties)


def _read_file(name: str) -> tuple[str, PanelFile]:
    match = _FILE.fullmatch(name)
    path = Path(match["path"]) if match else Path(f"{name.removeprefix(f'{KIND}/')}.toml")
    if not path.is_file():
        raise UsageError(f"judge '{name}': there is no panel file '{path}'; write its path, such as panel/jury.toml")
    panel = read_spec(path, PanelFile)
    if not _NAME.fullmatch(path.stem):
        raise ContentError(f"'{path.stem}' cannot be the name of a panel; use letters, digits, '-', '_' and '.'", path)
    for member, times in Counter(panel.members).items():
        line = line_of(path, rf"\"{re.escape(member)}\"|'{re.escape(member)}'", min(times, 2))
        if times > 1:
            raise ContentError(f"the panel names '{member}' {times} times; every member has one vote", path, line)
        if member.startswith(f"{KIND}/"):
            raise ContentError(f"'{member}' is a panel; members of a panel are judges that are asked", path, line)
    if panel.ties != "none" and panel.rule != "majority":
        raise ContentError(f"a {panel.rule} has no ties; leave 'ties' out", path, line_of(path, r"^\s*ties\s*="))
    for member in panel.personas:
        if member not in panel.members or not member.startswith("openai/"):
            advice = "name a member that is a chat model, with a label for each persona, such as openai/m@teacher"
            raise ContentError(f"'{member}' cannot have a persona: {advice}", path, line_of(path, re.escape(member)))
    return f"{KIND}/{path.stem}", panel


def split_panels(judges: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Panel]]:
    """Return the judges to be asked, and the panels by name. Members that are not among the judges are asked too, once.

    Raises as `read_panel`, and UsageError for two panels with one name.
    """
    panels: dict[str, Panel] = {}
    for name in judges:
        if name.startswith(f"{KIND}/"):
            panel_name, panel = read_panel(name)
            if panel_name in panels:
                raise UsageError(f"two panels would have the name '{panel_name}' in the report; rename one of the files")
            panels[panel_name] = panel
    members = [member for panel in panels.values() for member in panel.members]
    named_judges = [name for name in judges if not name.startswith(f"{KIND}/")]
    return (*named_judges, *(member for member in dict.fromkeys(members) if member not in named_judges)), panels


def refuse_unfit_panels(panels: Mapping[str, Panel], scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for a panel whose rule does not fit one of the scales, by metric."""
    for name, panel in panels.items():
        for metric, scale in scales.items():
            if problem := panel.problem_with(metric, scale):
                raise UsageError(f"{name} {problem}, or leave the metric out")


def open_judge(name: str, options: JudgeOptions) -> None:
    """A panel cannot be opened: raises UsageError."""
    raise UsageError(f"a panel is computed from the answers of its members, so '{KIND}/{name}' can only be a judge of 'run' or 'compare'")
