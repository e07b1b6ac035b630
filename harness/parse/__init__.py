"""What a judge's reply says: strict about meaning, tolerant about form, never a guess.

`json_form` finds JSON objects in a text, `values` reads one choice on a scale, `prose` reads what is not JSON, and
`reply` puts them together.
"""

from harness.parse.reply import read_reply
from harness.parse.values import Reading

__all__ = ["Reading", "read_reply"]
