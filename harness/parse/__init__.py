"""What a judge's reply says: strict about meaning, tolerant about form, never a guess.

`json_form` finds JSON objects in a text, `values` reads one choice on a scale, `prose` reads what is not JSON, and
`reply` puts them together. `probabilities` reads scores from the likelihood of the answer's tokens.
"""

from harness.parse.probabilities import entropy, expected_score, score_probabilities
from harness.parse.reply import read_reply
from harness.parse.values import Reading

__all__ = ["Reading", "entropy", "expected_score", "read_reply", "score_probabilities"]
