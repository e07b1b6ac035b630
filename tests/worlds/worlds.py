"""Worlds with a known truth: what is drawn, and who labels and judges it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from harness.correction.mean_estimates import Sample
from harness.stats.core.arrays import Floats, Ints

HIT, FALSE = np.array([0.95, 0.85, 0.7]), np.array([0.01, 0.03, 0.08])
"""How often a lenient, a middle and a strict annotator give the rarer class where it is true, and where it is not."""


def group_sizes(rng: Generator, groups: int, mean: float, spread: float) -> Ints:
    """Return sizes that are 1 plus a Poisson number whose mean is lognormal; `spread` 0 makes every group as large as the mean."""
    if spread == 0:
        return np.full(groups, round(mean))
    rates = (mean - 1) * rng.lognormal(-(spread**2) / 2, spread, groups)
    return 1 + rng.poisson(rates)


@dataclass(frozen=True)
class RareClass:
    """One class of two, whose share in a group is beta-distributed with the intra-class correlation `icc`.

    Three annotators of different strictness label whole groups. The judge is right in a beta-distributed share of a group's texts, and its
    answers are unreadable three times as often where the class is true (`failures` otherwise).
    """

    share: float
    groups: int
    size: float = 1
    spread: float = 0
    icc: float = 0.1
    skill: float = 0.85
    failures: float = 0.0
    unlabelled: int = 10

    @property
    def truth(self) -> float:
        """The expected share of the class among labels."""
        return float(self.share * HIT.mean() + (1 - self.share) * FALSE.mean())

    def draw(self, rng: Generator) -> Sample:
        """Draw `groups` labelled groups and `unlabelled` times as many that only the judge has read."""
        sizes = group_sizes(rng, self.groups * (1 + self.unlabelled), self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        strength = 1 / self.icc - 1
        shares = rng.beta(self.share * strength, (1 - self.share) * strength, len(sizes))[group]
        skills = rng.beta(self.skill * 8, (1 - self.skill) * 8, len(sizes))[group]
        true = rng.random(len(group)) < shares
        labels = rng.random((len(group), 3)) < np.where(true[:, None], HIT, FALSE)
        answers = np.where(rng.random(len(group)) < skills, true, ~true).astype(float)
        answers[rng.random(len(group)) < self.failures * np.where(true, 3, 1)] = np.nan
        y = np.where(group < self.groups, labels.mean(1), np.nan)
        return Sample(y, answers, group)


@dataclass(frozen=True)
class Confidences:
    """A judge whose answers agree with people with the probability `low` to `high` along its confidence, in beta-binomial groups."""

    groups: int
    size: float
    spread: float
    low: float
    high: float
    icc: float = 0.2

    def draw(self, rng: Generator) -> tuple[Floats, Floats, Ints, Floats]:
        """Draw confidences in steps of .05, agreement, groups, and the expected agreement of each text."""
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        confidence = np.round(rng.beta(3, 1.5, len(group)) * 20) / 20
        chance = self.expected(confidence)
        # A part of each group shares one uniform number, so agreement is correlated in a group and its mean stays.
        common = rng.random(len(sizes))[group]
        uniform = np.where(rng.random(len(group)) < np.sqrt(self.icc), common, rng.random(len(group)))
        return confidence, (uniform < chance).astype(float), group, chance

    def expected(self, confidence: Floats) -> Floats:
        """Return the probability of agreement at each confidence."""
        return self.low + (self.high - self.low) * confidence

    def truth(self, threshold: float) -> float:
        """Return the expected agreement of what is accepted, of a million texts."""
        confidence = np.round(np.random.default_rng(1).beta(3, 1.5, 1_000_000) * 20) / 20
        return float(self.expected(confidence[confidence >= threshold]).mean())


@dataclass(frozen=True)
class Judged:
    """Classes with the given shares, three annotators of different strictness, and a judge whose gap to them is known.

    An annotator is right with the probability in `people`, and else takes the neighbouring class in the direction of the strictness: the
    third always the lower one. The judge is right in a beta-distributed share of a group's texts, with the mean that gives `gap`, and else
    takes a class by the shares. A share of the labels is missing.
    """

    shares: tuple[float, ...]
    people: tuple[float, float, float]
    groups: int
    size: float = 1
    spread: float = 0
    missing_wrong: float = 0.0
    failures: float = 0.0

    def _labels(self, rng: Generator, true: Ints) -> Ints:
        step = np.where(rng.random((len(true), 3)) < [0.7, 0.5, 0.0], 1, -1)
        right = rng.random((len(true), 3)) < self.people
        wrong = true[:, None] + step
        top = len(self.shares) - 1
        wrong = np.where((wrong < 0) | (wrong > top), true[:, None] - step, wrong)
        return np.where(right, true[:, None], wrong)

    def skill(self, gap: float) -> float:
        """Return how often a judge is right whose agreement with people is `gap` above theirs with each other, from 400,000 texts.

        Agreement is linear in this share, so two points give it.
        """
        rng = np.random.default_rng(7)
        true = rng.choice(len(self.shares), 400_000, p=self.shares)
        labels = self._labels(rng, true)
        among = np.mean([(labels[:, a] == labels[:, b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))])
        right = (labels == true[:, None]).mean()
        guess = (labels == rng.choice(len(self.shares), 400_000, p=self.shares)[:, None]).mean()
        return float((among + gap - guess) / (right - guess))

    def draw(self, rng: Generator, skill: float) -> tuple[Ints, Floats, Floats]:
        """Draw groups, labels (items, 3) and answers (items,), NaN where one is missing.

        `missing_wrong` of the texts where the judge is not right lose one label; `failures` of the answers on the last class, and a third
        as many of the others, are unreadable.
        """
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        true = rng.choice(len(self.shares), len(group), p=self.shares)
        skills = rng.beta(skill * 10, (1 - skill) * 10, len(sizes))[group]
        right = rng.random(len(group)) < skills
        answers = np.where(right, true, rng.choice(len(self.shares), len(group), p=self.shares)).astype(float)
        labels = self._labels(rng, true).astype(float)
        lost = ~right & (rng.random(len(group)) < self.missing_wrong)
        labels[lost, rng.integers(0, 3, lost.sum())] = np.nan
        answers[rng.random(len(group)) < self.failures * np.where(true == len(self.shares) - 1, 1, 1 / 3)] = np.nan
        return group, labels, answers
