"""Tells what programs write beside the 0 of a call that failed, or of a reply that they could not read, from judges' own words.

A judge's own words may begin alike ("Insufficient detail", "Content filtered answers are explained well"), and its 0 is a score.
"""

from __future__ import annotations

import re

from harness.model import Failure

# Replies that promptfoo could not read, and calls that failed. Only its versions since April 2026 mark most of them with `graderError`; the
# checks of facts, contexts and closed questions are not marked to this day.
_UNREADABLE = re.compile(
    r"could not extract json|[\w.:-]+ (produced|response) (a )?malformed response|model grader produced a malformed response|"
    r"llm-proposed evaluation (result|steps?) |llm does not propose|g-eval (steps|result|response) |error parsing output|"
    r"invalid (option|similarity score|select-best verdict|json)|(error|failed) (parsing|to parse)|unexpected token|"
    r"unable to parse|could not parse",
    re.IGNORECASE,
)
_FAILED_CALL = re.compile(
    r"(\w+ ){0,3}api (call |response |request )?error|api returned|no output\b|g-eval .{0,80} returned no output|"
    r"remote (grading|scoring) |could not perform remote|(request|connection|websocket)\b.{0,40} (timed out|failed|refused|reset|closed)|"
    r"(\w*error|exception)\s*:|error (calling|from|while|when) |failed to (call|fetch|connect|perform)|fetch failed|"
    r"(grading|grader|provider|provider call|grading call|grading request) (call )?failed|"
    r"(http |status |error |code |\w+ error )+[45]\d\d\b|[45]\d\d (internal|bad|too|not found|unauthori|forbidden|service|gateway|error)|"
    r"rate limit|too many requests|(\w+ )?(timed? ?out|timeout)(\s*[:.,;(-]|\s*$| after | exceeded| while | waiting )|thread run failed|"
    r"service (error|unavailable)|unknown error|embedding not found|no embedding|malformed response data|model not found|"
    r"(\w+ )?quota( \w+)? (exceeded|reached|exhausted)|insufficient[_ ](quota|credit|balance|fund|permission)|unauthori[sz]ed\b\s*(\W|$)|"
    r"getaddrinfo|e(connrefused|connreset|notfound|timedout|hostunreach|pipe)\b|internal server error|bad gateway|gateway time",
    re.IGNORECASE,
)
_PARTY = r"(?:(?:the|an?|this) )?(?:\w+ )?(?:provider|upstream|server|service|engine|grader|judge|api|endpoint|gateway|backend|deployment)"
_MODEL = r"(?:(?:the|an?|this) )?(?:\w+ )?model"
_NAMED = r"(?: [`'\"]?[\w./:@-]+[`'\"]?)?"  # by its name: "model gpt-5"
_UNUSABLE = (
    r"(?:overloaded|unavailable|not available|busy|unreachable|offline|at capacity|down|loading|not found|not supported|deprecated|"
    r"decommissioned|does not exist|timed out|not responding|did not respond)"
)
_SENDS = r"(?:returned|responded with|reported|raised|threw|encountered|sent|gave)"
_FILTERS = r"(?:filters?|polic(?:y|ies)|moderation|guardrails?|provider|safety)"
_SECRET = r"(?:(?:\w+ ){0,2}api[ _-]?key|api token|access token|credentials|authentication|authori[sz]ation)"
# These name a failed call only if the sentence ends after them.
_WHOLE_STATEMENTS = (
    rf"(?:invalid|incorrect|missing|expired|wrong|unknown|bad|no valid|no) (?:{_SECRET}|request|model name)"
    r"(?: (?:provided|supplied|found|set|specified|error))?",
    rf"(?:(?:the|your) )?(?:{_SECRET}|account)(?: \S+)? (?:is|was|are|has been) (?:not )?"
    r"(?:invalid|expired|missing|revoked|disabled|suspended|deactivated|valid|active|set)",
    rf"(?:{_PARTY}|{_MODEL}){_NAMED} (?:is |was |are )?(?:currently |temporarily |still )?{_UNUSABLE}",
    rf"(?:{_PARTY}|{_MODEL}){_NAMED} {_SENDS}(?: an?)?(?: \w+){{0,2}} (?:error|exception|status(?: code)?(?: [45]\d\d)?|[45]\d\d)",
    rf"{_PARTY}{_NAMED} {_SENDS} (?:nothing|no \w+|an? empty \w+)",
    rf"(?:no|empty) (?:response|answer|reply|completion|content) (?:returned )?from (?:{_PARTY}|{_MODEL})",
    r"(?:(?:the|this|your) )?(?:content|prompt|request|response|input|completion|message)(?: was| is| has been)? "
    rf"(?:filtered|blocked|(?:filtered|blocked|flagged|rejected|stopped) by .{{1,60}}?{_FILTERS})",
    r"(?:content|safety|moderation)[ _-]filter(?:s|ing)?(?: was| were)?(?: triggered| error)?|guardrails?(?: was| were)? triggered",
    r"(?:maximum |max |model )?(?:context|prompt|token|input|request)(?: length| window| size| limit)?(?: limit)?(?: was| is)? "
    r"(?:exceeded|reached|too (?:long|large))",
    r"(?:authentication|authori[sz]ation|auth|permission|access|network|connection|socket|server|gateway|dns|ssl|tls|certificate|stream)"
    r"(?: verification)? (?:failed|failure|error|required|denied|aborted|lost|interrupted|closed|reset)",
    r"payment required|forbidden|unauthenticated|overloaded|unavailable|throttl(?:ed|ing)|socket hang up",
    r"(?:capacity|deadline) exceeded|resource exhausted",
    r"(?:out of|no|not enough) credits?|credit balance (?:is )?too low|billing (?:is )?(?:not active|hard limit .{0,20}|error)",
    r"(?:the )?(?:operation|request|call|connection) (?:was )?(?:aborted|cancell?ed)",
    r"(?:[a-z]+[_-])+(?:error|exceeded|exhausted|unavailable|denied|not_found|filter|filtered|timeout|key|quota|overloaded|failed)",
)
_STATEMENT = re.compile(rf"(?:{'|'.join(_WHOLE_STATEMENTS)})(?=\s*(?:\Z|[.:;,!(\[{{\n\u2013\u2014]|-\s))", re.IGNORECASE)


def failure_in_reason(reason: str) -> Failure | None:
    """Return the failure that the reason of a 0 names: an unreadable reply, or a call without one. None for a judge's own words.

    >>> [failure_in_reason(text) for text in ("Provider returned error", "Could not parse the reply", "Content filtered texts are rare.")]
    [<Failure.MISSING: 'missing'>, <Failure.NOT_JSON: 'not_json'>, None]
    """
    reason = reason.lstrip()
    if _UNREADABLE.match(reason):
        return Failure.NOT_JSON
    return Failure.MISSING if _FAILED_CALL.match(reason) or _STATEMENT.match(reason) else None
