"""Who does what to whom: the end of a relation at which a link of a sentence stands, by the word that says the relation. Pure."""

from __future__ import annotations

from oracle.domain.compiling import compiled

NAMED = "\x01"
"""Stands in a question for the name of the record, and in a sentence for a link."""
_NOUN = (
    r"(?:mentor|customer|client|investor|backer|owner|acquirer|subscriber|member|partner|competitor|successor|dependent|user)s?|cause"
    r"|culprit|to blame|(?:began|started) (?:in|with)|顾问|客户|用户|股东|董事|导师|竞争|对手|起因|根因|原因"
)
"""Words that call one end something, whichever stands first."""
_THING_NOUN = r"portfolio|mentees?|prot[eé]g[eé]s?|子公司|徒弟|学生"
_REVERSED = r"wait\w*|stuck|stall\w*|等待|等|卡在"
"""Words whose subject is what something is done to."""


def is_doer(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Tell whether the link at `place` does what the word at `cue` says, rather than that it is done to it."""
    word = sentence[slice(*cue)]
    if compiled(_REVERSED).fullmatch(word):
        return place > cue[0]
    if compiled(_THING_NOUN).fullmatch(word):
        return not _owns(sentence, cue, place, noun=True)
    return _owns(sentence, cue, place, noun=compiled(_NOUN).fullmatch(word) is not None)


def _owns(sentence: str, cue: tuple[int, int], place: int, *, noun: bool) -> bool:
    """Tell whether the link at `place` is what a `noun` calls it, or does what a verb says."""
    if place < cue[0]:
        return _owns_before(sentence, cue, place, noun=noun)
    between = sentence[cue[0] : place]
    after = sentence[cue[1] : place]
    if noun:
        return compiled(r"^ (?:of|in|to) ").search(after) is None
    passive = r"\b(?:by|from)\b|\bin favou?r of\b|^replac\w+ with\b|^(?:blocked|held up) on\b|(?:被|由|来自|受|自)$"
    return compiled(passive).search(between) is not None


def _owns_before(sentence: str, cue: tuple[int, int], place: int, *, noun: bool) -> bool:
    """Tell the same of a link that stands before the word."""
    if compiled(r"(?:被|由|受|得到|获得|获)$").search(sentence[:place]):
        return True
    if sentence.startswith(("'s", "’s"), place + 1) or compiled(
        r"\b(?:in|into|of|at|for|on|took|takes) $|(?:把|将|给|向|对|在|为|从)$"
    ).search(sentence[:place]):
        return False
    between = sentence[place + 1 : cue[0]]
    if noun:
        return not between.startswith("的")
    if compiled(r"\w+ing\b").match(sentence, cue[0]):
        return True
    return compiled(r"\b(?:was|were|is|been|being) (?:\w+ly )?$|被|[已遭获]$").search(between) is None
