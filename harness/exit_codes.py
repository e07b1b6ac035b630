"""The exit codes of the command.

0    all is done, and what was asked holds
1    any other error; a gate, an extension or a watch that is shown not to hold; a certificate that is stale or allows nothing
2    an invalid flag, name or combination
3    a content or data file is wrong
4    a judge cannot be reached, used or trusted, or most of its values cannot be read; published data cannot be fetched
5    the results cannot be stored or written, or the system refuses a file or a folder
6    the run ended, but some calls have no reply; a board was not checked, because its data are not here; data that a card cannot confirm
7    the evidence does not suffice to say whether a gate, an extension, a watch or a certificate holds
130  interrupted by Ctrl-C
"""

from __future__ import annotations

OTHER_ERROR = 1
GATE_FAILED, GATE_INCONCLUSIVE = 1, 7
STALE, NOTHING_ALLOWED, UNCONFIRMED = 1, 1, 7  # of a certificate; unconfirmed: not all of it could be made again
USAGE = 2
CONTENT = 3
JUDGE, FETCH = 4, 4
STORE, OUTPUT = 5, 5
INCOMPLETE, UNCHECKED = 6, 6  # unchecked: a board whose data are not here
INTERRUPTED = 130  # Ctrl-C; the shells' convention
