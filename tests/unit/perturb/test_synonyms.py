"""Words that become others of their group in the lexicon."""

from __future__ import annotations

from harness.content.lexicons import lexicon_complaints
from harness.content.specs import Lexicon
from harness.model import Item
from harness.perturb import apply, parse_perturbation

LEXICON = Lexicon(tag="en", version="1.0.0", reviewed_by=(), synonyms=(("big", "large"), ("quickly", "rapidly", "swiftly")))


def changed(text: str, form: str = "swap-synonyms:1", lexicon: Lexicon = LEXICON, seed: int = 0) -> tuple[str, bool, dict[str, float]]:
    [perturbation] = parse_perturbation(form)
    found = apply(perturbation, Item("i", "en", "summarize", fields={"output": text}), (), seed, ("output",), {"en": lexicon})
    return str(found.item.fields["output"]), found.applied, found.realised


def test_words_of_a_group_are_exchanged_and_capitals_stay() -> None:
    text, applied, realised = changed("A big dog. Big dogs! LARGE houses, bigger ones.")
    assert text == "A large dog. Large dogs! BIG houses, bigger ones." and applied
    assert realised == {"exchanged": 3 / 9, "words": 9.0}


def test_a_word_never_stays_and_every_word_of_its_group_may_come() -> None:
    assert {changed("It ran quickly.", seed=seed)[0] for seed in range(30)} == {"It ran rapidly.", "It ran swiftly."}


def test_a_greater_dose_makes_the_changes_of_a_smaller_one() -> None:
    text = "big big big big quickly quickly quickly quickly"
    half, all_words = (changed(text, f"swap-synonyms:{dose}")[0].split() for dose in (0.5, 1))
    moved = [number for number, word in enumerate(half) if word != text.split()[number]]
    assert len(moved) == 4 and all(half[number] == all_words[number] for number in moved)


def test_a_text_without_such_words_is_not_changed() -> None:
    assert changed("Nothing here.")[1] is False
    assert changed("A big dog.", lexicon=Lexicon(tag="en", version="1.0.0", reviewed_by=()))[1] is False


def test_what_is_wrong_with_a_list_is_said() -> None:
    def complaints(*groups: tuple[str, ...]) -> str:
        return " ".join(message for message, _ in lexicon_complaints(Lexicon(tag="en", version="1.0.0", reviewed_by=(), synonyms=groups)))

    assert "fewer than two words" in complaints(("big",))
    assert "'at once' in synonyms holds a space" in complaints(("now", "at once"))
    assert "'big' is listed twice" in complaints(("big", "large"), ("Big", "huge"))
    assert complaints(("big", "large")) == ""
