"""What a specification may not say, and what a protocol's name depends on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.errors import UsageError
from harness.protocol import RunSpec, prepare
from harness.runner import open_judges


@pytest.mark.parametrize(
    "spec",
    [RunSpec(temperatures=(0.0, 0.0)), RunSpec(variants=("single", "simple")), RunSpec(variants=("detailed", "single+detailed"))],
    ids=["temperature", "two names of one variant", "short and long name"],
)
def test_a_condition_named_twice_is_refused(spec: RunSpec) -> None:
    with pytest.raises(UsageError, match="twice"):
        prepare(msgspec.structs.replace(spec, languages=("cs",)))


def test_two_judges_with_one_name_are_refused(tmp_path: Path) -> None:
    models = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "judge.gguf"
        path.parent.mkdir()
        path.write_bytes(b"GGUF" + folder.encode())
        models.append(f"local/{path}")
    spec = RunSpec(languages=("cs",), judges=tuple(models))
    with pytest.raises(UsageError, match="both be called 'local/judge'"):
        open_judges(spec, prepare(spec), {})


def test_equal_specifications_are_the_same_run_and_others_are_not() -> None:
    first = prepare(RunSpec(languages=("cs", "ja"))).protocol
    assert first.name == prepare(RunSpec(languages=("ja", "cs"))).protocol.name
    others = [RunSpec(languages=("cs",)), RunSpec(languages=("cs", "ja"), seed=1), RunSpec(languages=("cs", "ja"), repeats=2)]
    assert first.name not in {prepare(other).protocol.name for other in others}


def test_limit_takes_the_first_items_of_each_language_and_task() -> None:
    items = prepare(RunSpec(languages=("cs", "ja"), limit=2)).data.items
    assert len(items) == 2 * 2 * 3
    assert {(item.language, item.task) for item in items} == {
        (tag, task) for tag in ("cs", "ja") for task in ("open_prompt", "continue_writing", "summarize")
    }
