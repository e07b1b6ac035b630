"""What checks the golden cases of tests that are looked at every day."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.stats.estimation import betting as b
from harness.watch.watch_check import who_changed

Given = dict[str, Any]


def _alarm(log_e: Any, alpha: float) -> int | None:
    over = np.flatnonzero(np.asarray(log_e) >= math.log(1 / alpha))
    return int(over[0]) if len(over) else None


def _wealth(values: Any, null_mean: float, bets: Any) -> Any:
    """The logarithm of the wealth after each value, with one bet or one for each, in units of 1 / value."""
    stakes = np.broadcast_to(np.asarray(bets) * (1 - null_mean), len(values)).tolist()
    return np.cumsum([b.log_factors([value], null_mean, bets=[stake])[0] for value, stake in zip(values, stakes, strict=True)])


def _fixed(given: Given) -> Given:
    wealth = _wealth(given["agree"], given["null_mean"], [given["bet"]])
    return {"log_wealth": wealth.tolist(), "alarm_at": _alarm(wealth, given["alpha"])}


def _plug_in(given: Given) -> Given:
    """Bets after the spread so far, as `confseq` has them; the project's own tests mix fixed bets instead."""
    x, null = 1 - np.asarray(given["x"]), 1 - given["null_mean"]  # on 1 - x: the hypothesis is "mean <= null" there
    t = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    spread = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], spread[:-1]])
    wanted = np.sqrt(2 * math.log(1 / given["alpha"]) / (t * np.log(t + 1) * before))
    bets = np.minimum(wanted, given["truncation"] / null)
    return {"bets": bets.tolist(), "log_wealth": _wealth(given["x"], given["null_mean"], bets).tolist()}


def _mixture(given: Given) -> Given:
    null = given["null_mean"]
    days = [b.log_factors(day, null, bets=np.asarray(given["bets"]) * (1 - null)) for day in given["agree"]]
    found = b.mixed_wealth(days)
    alarm = _alarm(found.log_e, given["alpha"])
    return {
        "log_e": found.log_e.tolist(),
        "alarm_day": None if alarm is None else alarm + 1,
        "state_after_last_day": np.exp(found.log_sums).tolist(),
    }


def _e_bh(given: Given) -> Given:
    return {"found": {alpha: b.e_benjamini_hochberg(given["e"], float(alpha)) for alpha in ("0.05", "0.1", "0.2")}}


def _reference(given: Given) -> Given:
    observed = given["agree"] / given["n"]
    lower = b.reference_limits(observed, given["n"], given["alpha"] / 2).lower
    return {"null_mean": lower, "alarm_at": round(2 / given["alpha"]), "observed": observed}


def _who(given: Given) -> Given:
    return {"answers": [who_changed(one["production"], one["anchors"], given["last_day"], given["guard"]) for one in given["alarms"]]}


CHECKS = {
    "watch/fixed-bet": _fixed,
    "watch/plug-in-bet": _plug_in,
    "watch/mixture": _mixture,
    "watch/e-bh": _e_bh,
    "watch/reference": _reference,
    "watch/who": _who,
}
