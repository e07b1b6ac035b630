"""The environment that judges are opened with, which knows what of it they have read: no more of it has to travel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class Environment(Mapping[str, str]):
    """Variables by name. Going through all of them counts as reading all of them.

    >>> environment = Environment({"KEY": "k", "SHELL": "sh"})
    >>> environment.get("KEY"), environment.read
    ('k', {'KEY': 'k'})
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self._read.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        self._read.update(self._variables)
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def read(self) -> dict[str, str]:
        """What was asked for so far and is there."""
        return {name: value for name, value in self._variables.items() if name in self._read}
