"""The columns of ablations: the comparison, the change, and its size."""

from __future__ import annotations

from harness.reports.tables.column import (
    AGREEMENT_ABLATIONS,
    CLASS_SHARES,
    COEFFICIENT,
    COUNT_OR_BLANK,
    NAMED_COUNTS,
    NUMBER,
    PERCENT_OF_SCALE,
    POINTS,
    PROBABILITY,
    SHARE,
    TEXT,
    Column,
    Row,
    TableName,
)
from harness.reports.tables.column import in_tables as _in
from harness.reports.tables.minimal_pair_columns import MINIMAL_PAIR_COLUMNS
from harness.reports.tables.numbers import two_digits

_TWO_ANSWERS = _in(TableName.SCORE_POSITION, TableName.METRIC_ORDER)
_PAIRS = _in(TableName.PAIRS, TableName.PAIR_SYSTEMS)
_PARALLEL = _in(TableName.SAME_TEXTS, TableName.SAME_TEXTS_METRICS)
_CHANGED_TEXTS = _in(TableName.PERTURBATIONS, TableName.INJECTION)
_AGREEMENT_DIFFERENCES = AGREEMENT_ABLATIONS | _in(TableName.SCORE_POSITION, TableName.PANELS, TableName.RUNS)


def _achieved(row: Row) -> str:
    """What a change achieved: `moved 0.09, distance 3.2`."""
    start = "realised_"
    return ", ".join(f"{name.removeprefix(start)} {two_digits(value)}" for name, value in row.items() if name.startswith(start))


def _should(row: Row) -> str:
    return {-1: "fall", 0: "stay", 1: "rise", None: ""}[row.get("should")]


def _q_value(name: str, of: str, tables: frozenset[TableName]) -> Column:
    return Column(name, f"q-value of {of}", PROBABILITY, tables, "its p-value, corrected over the rows of one level")


ABLATION_COLUMNS: tuple[Column, ...] = (
    # What was compared
    Column("n", "pairs", COUNT_OR_BLANK, _TWO_ANSWERS | _CHANGED_TEXTS, "pairs of answers that could both be read"),
    Column(
        "n",
        "questions",
        COUNT_OR_BLANK,
        _in(TableName.HALO_EFFECT, TableName.CONSISTENCY),
        "items (and repeats) that were compared",
    ),
    Column("slope_n", "questions", COUNT_OR_BLANK, _in(TableName.TRENDS), "questions that were asked at every temperature"),
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.LENGTH), "texts with a readable score"),
    Column("n", "justifications", COUNT_OR_BLANK, _in(TableName.JUSTIFICATION_LANGUAGE), "justifications whose language was identified"),
    Column(
        "not_applied",
        "not applied",
        COUNT_OR_BLANK,
        _CHANGED_TEXTS,
        "texts that could not be changed in this way; the judge was not asked about them",
    ),
    Column("unreadable", "unread", COUNT_OR_BLANK, _TWO_ANSWERS | _CHANGED_TEXTS, "pairs in which an answer could not be read"),
    Column("unpaired", "unpaired", COUNT_OR_BLANK, _CHANGED_TEXTS, "changed texts whose original was not judged"),
    # Choices between two texts
    Column("n", "choices", COUNT_OR_BLANK, _PAIRS, "answers about pairs of different texts"),
    Column("pairs", "pairs", COUNT_OR_BLANK, _PAIRS, "pairs of different texts"),
    Column("unreadable", "unread", COUNT_OR_BLANK, _in(TableName.PAIRS), "answers without a readable choice"),
    Column("identical", "equal", COUNT_OR_BLANK, _in(TableName.PAIRS), "pairs of equal texts; they count nowhere else"),
    Column(
        "first_position",
        "first place",
        SHARE,
        _in(TableName.PAIRS),
        "how often the text that was read first is chosen, ties half; 50 % if the place does not matter",
    ),
    Column(
        "ambiguous",
        "ambiguous",
        SHARE,
        _in(TableName.PAIRS),
        "the share of pairs in which the choice changes with the order of the texts",
    ),
    Column(
        "same_choice",
        "same choice",
        SHARE,
        _in(TableName.PAIRS),
        "the share of repeated questions with the same choice every time",
    ),
    Column("position", "log-odds of place", COEFFICIENT, _in(TableName.PAIRS), "what the first place adds to a system's strength"),
    Column("win_rate", "wins", SHARE, _in(TableName.PAIR_SYSTEMS), "how often the system's text is chosen, ties half"),
    Column(
        "confidence",
        "confidence",
        SHARE,
        _in(TableName.PAIR_SYSTEMS),
        "how much of the judge's choice goes to the system's text, the mean of both orders",
    ),
    Column(
        "strength",
        "strength",
        COEFFICIENT,
        _in(TableName.PAIR_SYSTEMS),
        "Bradley-Terry strength in log-odds; the strengths of a table's systems add up to 0",
    ),
    # Answers in the judge's own words
    Column("n", "answers", COUNT_OR_BLANK, _in(TableName.FREE_TEXT), "answers in the judge's own words"),
    Column("unreadable", "unread", COUNT_OR_BLANK, _in(TableName.FREE_TEXT), "answers without a readable score, refusals included"),
    Column("refused", "refused", SHARE, _in(TableName.FREE_TEXT), "the share of answers that are refusals"),
    Column(
        "several_n",
        "naming several",
        COUNT_OR_BLANK,
        _in(TableName.FREE_TEXT),
        "answers that name more than one score",
    ),
    Column(
        "several",
        "several scores",
        SHARE,
        _in(TableName.FREE_TEXT),
        "the share of answers with a readable score that name more than one; the first one counts",
    ),
    *MINIMAL_PAIR_COLUMNS,
    # A panel and the best of its members
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.PANELS), "answers that are compared: of the panel and of all its members"),
    Column(
        "panel_agreement", "agreement", SHARE, _in(TableName.PANELS), "of the panel with the labels; answers without a score count as wrong"
    ),
    Column("best_agreement", "best member's", SHARE, _in(TableName.PANELS), "the same of the best member, on the same texts"),
    Column("best", "best member", TEXT, _in(TableName.PANELS), "the member that agrees with the labels most often elsewhere"),
    Column("chosen_on", "chosen on", TEXT, _in(TableName.PANELS), "the texts on which it was chosen; never those that are compared"),
    # One judge in several runs
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.RUNS), "answers with a label"),
    Column("agreement", "agreement", SHARE, _in(TableName.RUNS), "with the labels; answers without a score count as wrong"),
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.RUN_SHARES), "answers with a label and a readable score"),
    Column("shares", "class shares", CLASS_SHARES, _in(TableName.RUN_SHARES), "how often the judge gave each score, in percent"),
    _q_value("margins_q", "equal shares", _in(TableName.RUN_SHARES)),
    # The languages of rubric, item and justification
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.LANGUAGE_FACTORS), "texts (on a metric) with readable scores in all eight cells"),
    Column(
        "incomplete", "incomplete", COUNT_OR_BLANK, _in(TableName.LANGUAGE_FACTORS), "texts without a readable score in one of the cells"
    ),
    Column(
        "effect",
        "effect",
        PERCENT_OF_SCALE,
        _in(TableName.LANGUAGE_FACTORS),
        "the score with this language minus the score with English, the other factors averaged; of products, how far one effect depends "
        "on the other factor",
    ),
    _q_value("effect_q", "the effect", _in(TableName.LANGUAGE_FACTORS)),
    # The same texts in several languages
    Column("n", "texts", COUNT_OR_BLANK, _PARALLEL, "answers about texts that exist in several languages, with a readable score there"),
    Column("unreadable", "unread", COUNT_OR_BLANK, _in(TableName.SAME_TEXTS), "answers without a readable score"),
    Column(
        "shift",
        "shift",
        PERCENT_OF_SCALE,
        _in(TableName.SAME_TEXTS),
        "the score in this language minus the mean of the scores in the others, text by text; + is toward the best",
    ),
    _q_value("shift_q", "the shift", _in(TableName.SAME_TEXTS)),
    Column(
        "agreement",
        "same score",
        SHARE,
        _in(TableName.SAME_TEXTS_METRICS),
        "the share of pairs of languages in which a text has the same score",
    ),
    Column("fleiss", "Fleiss' κ", COEFFICIENT, _in(TableName.SAME_TEXTS_METRICS), "the same beyond chance, languages as raters"),
    Column(
        "randolph", "Randolph's κ", COEFFICIENT, _in(TableName.SAME_TEXTS_METRICS), "the same beyond chance, all classes equally likely"
    ),
    Column(
        "between_sd",
        "spread of languages",
        SHARE,
        _in(TableName.SAME_TEXTS_METRICS),
        "the standard deviation between the languages' mean scores beyond chance, as a share of the scale",
    ),
    Column("i2", "I²", SHARE, _in(TableName.SAME_TEXTS_METRICS), "the share of the variation between languages that is not chance"),
    Column(
        "rates_p",
        "p of equal agreement",
        PROBABILITY,
        _in(TableName.SAME_TEXTS_METRICS),
        "of the hypothesis that the judge is right equally often in all languages",
    ),
    Column("dif_p", "p of no DIF", PROBABILITY, _in(TableName.SAME_TEXTS_METRICS), "of no differential functioning of the languages"),
    Column("dif_effect", "DIF", TEXT, _in(TableName.SAME_TEXTS_METRICS), "its size by Nagelkerke's R²: negligible, moderate or large"),
    # What moved
    Column(
        "diff",
        "difference",
        POINTS,
        _AGREEMENT_DIFFERENCES,
        "agreement minus that of what it is compared with (the plainest condition, the best member, the first run), on the same items, "
        "failures as wrong, in percentage points",
    ),
    _q_value("diff_q", "the difference", _AGREEMENT_DIFFERENCES),
    Column("moved", "score change", COEFFICIENT, _TWO_ANSWERS, "the mean change of the score, in points; + is toward the best"),
    Column(
        "moved_q",
        "q-value of the change",
        PROBABILITY,
        _TWO_ANSWERS,
        "the p-value of the score change, corrected over the rows of one level",
    ),
    Column("changed", "changed", SHARE, _TWO_ANSWERS, "the share of pairs with two different scores"),
    Column(
        "r_named_first",
        "r, named first",
        COEFFICIENT,
        _in(TableName.HALO_EFFECT),
        "Pearson's r of the two metrics' scores when the one is named first",
    ),
    Column("r_named_last", "r, named last", COEFFICIENT, _in(TableName.HALO_EFFECT), "the same when it is named last"),
    Column(
        "drag",
        "drag",
        COEFFICIENT,
        _in(TableName.HALO_EFFECT),
        "the difference of the two; + means that the metric named first drags the other along",
    ),
    _q_value("drag_q", "the drag", _in(TableName.HALO_EFFECT)),
    Column("repeats", "repeats", COUNT_OR_BLANK, _in(TableName.CONSISTENCY), "how often a question was asked, at most"),
    Column("same_score", "same score", SHARE, _in(TableName.CONSISTENCY), "the share of questions with the same answer every time"),
    Column(
        "same_justification",
        "same justification",
        SHARE,
        _in(TableName.CONSISTENCY),
        "the share of questions with the same justification every time",
    ),
    Column(
        "entropy_bits",
        "entropy in bits",
        COEFFICIENT,
        _in(TableName.CONSISTENCY),
        "how much the answers to one question vary; 0 means not at all",
    ),
    Column(
        "slope",
        "slope in points",
        POINTS,
        _in(TableName.TRENDS),
        "the change of agreement for one unit of temperature, in percentage points",
    ),
    # The order of texts by variant
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.CORRELATIONS), "texts with a label and a readable score"),
    Column("kendall_tau", "Kendall's τ", COEFFICIENT, _in(TableName.CORRELATIONS), "rank correlation of the judge's scores and people's"),
    Column(
        "kendall_tau_within",
        "τ within source text",
        COEFFICIENT,
        _in(TableName.CORRELATIONS),
        "rank correlation over the outputs for one source text, the mean over source texts",
    ),
    Column("tau_diff", "difference of τ", COEFFICIENT, _in(TableName.CORRELATIONS), "the paired difference from the plainest variant"),
    _q_value("tau_diff_q", "the difference of τ", _in(TableName.CORRELATIONS)),
    _q_value("slope_q", "the slope", _in(TableName.TRENDS)),
    Column("page_l", "Page's L", NUMBER, _in(TableName.TRENDS), "Page's test that agreement falls step by step as the temperature rises"),
    _q_value("page_q", "Page's L", _in(TableName.TRENDS)),
    Column("should", "should", TEXT, _in(TableName.PERTURBATIONS), "what the change should do to the score", text=_should),
    Column("fell", "fell", SHARE, _CHANGED_TEXTS, "the share of pairs in which the score of the changed text is lower"),
    Column("rose", "rose", SHARE, _CHANGED_TEXTS, "the share of pairs in which it is higher"),
    Column("stayed", "stayed", SHARE, _in(TableName.PERTURBATIONS), "the share of pairs in which it is the same"),
    Column(
        "sensitivity",
        "sensitivity",
        COEFFICIENT,
        _in(TableName.PERTURBATIONS),
        "how often the original scores above the changed text, ties counting half; at ½ the judge does not see the change",
    ),
    Column(
        "from",
        "from",
        TEXT,
        _in(TableName.PERTURBATIONS),
        "what sensitivity was computed from: the scores, or the expected scores of the token probabilities",
    ),
    Column(
        "achieved",
        "achieved",
        TEXT,
        _in(TableName.PERTURBATIONS),
        "how far the texts were changed, on average (docs/perturbations.md)",
        text=_achieved,
    ),
    Column("n_below_best", "below best", COUNT_OR_BLANK, _in(TableName.INJECTION), "pairs whose original does not have the best score"),
    Column(
        "reached_best",
        "of these now best",
        SHARE,
        _in(TableName.INJECTION),
        "the share of them in which the changed text has the best score",
    ),
    Column(
        "tau_given_label",
        "τ given the label",
        COEFFICIENT,
        _in(TableName.LENGTH),
        "Kendall's τ of the judge's score and the number of characters, among texts with the same label",
    ),
    _q_value("tau_given_label_q", "τ", _in(TableName.LENGTH)),
    Column("tau", "τ of the judge", COEFFICIENT, _in(TableName.LENGTH), "the same among all texts"),
    Column("human_tau", "τ of people", COEFFICIENT, _in(TableName.LENGTH), "the same of the annotators' scores, among all texts"),
    Column(
        "too_short",
        "too short",
        COUNT_OR_BLANK,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "justifications too short to identify their language",
    ),
    Column(
        "in_asked_language",
        "as asked",
        SHARE,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "the share of justifications in the language that was asked for",
    ),
    Column(
        "other_languages",
        "other languages",
        NAMED_COUNTS,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "the languages of the others, and how many",
    ),
)
"""The columns that only ablations have, in the order in which tables show them. Agreement in ablations has the columns of other tables."""
