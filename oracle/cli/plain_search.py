"""Search and print the hits. The parser of the command line is not needed for plain words, and takes longer than the search."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from oracle.cli.listing import mark, seat_of
from oracle.cli.output import headed, indented, mark_cuts, write_out
from oracle.errors import NotInMemory, UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from oracle.app.context import Context
    from oracle.app.records.views import Hit
    from oracle.cli.session import Call

_OF_THE_SHELL = frozenset("'\"\\$`&|;<>()*?[]{}!")
_LONGEST_ECHO = 200
"""Characters of what was looked for that a sentence repeats."""

_SHARED = ("--memory-dir", "--json")
"""The options that may come before the command word too."""

_FILTERS = ("--project", "--seat", "--kind", "--status", "--author", "--task", "--since", "--until")
_SWITCHES = ("--strict", "--lexical", "--meaning", "--explain", "--fresh")


def run(call: Call, words: Sequence[str]) -> bool:
    """Run `oracle search` if the words are as plain as most: False for a case that only the parser knows."""
    given = read(words, "search", _SWITCHES, least=1)
    if given is None:
        return False
    call.memory_dir = given.get("--memory-dir")
    call.is_fresh = "--fresh" in given
    switches = {name[2:]: name in given for name in _SWITCHES}
    search(call, given["text"], filters_of(given), limit=int(given.get("--limit", "10")), **switches)
    return True


def filters_of(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the filters among the options that were read."""
    return {name[2:]: given[name] for name in _FILTERS if name in given}


def read(words: Sequence[str], command: str, switches: Sequence[str], *, least: int) -> dict[str, Any] | None:
    """Return the options by name and the words behind the command (`text`), None for what is not plain.

    `least` is the smallest `--limit`.
    """
    text: list[str] = []
    given: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word[:1] != "-":
            text.append(word)
            continue
        name, is_joined, content = word.partition("=")
        if name in given or not (text or name in _SHARED):
            return None
        if word == "--json" or word in switches:
            given[word] = True
        elif name in (*_FILTERS, "--memory-dir", "--limit"):
            given[name] = content if is_joined else next(rest, "-")
            if not given[name] or given[name][0] == "-":
                return None
        else:
            return None
    limit = given.get("--limit", "1")
    is_number = limit.isascii() and limit.isdecimal() and int(limit[:9]) >= least and len(limit) < 10
    if text[:1] != [command] or not is_number or "_ORACLE_COMPLETE" in os.environ:
        return None
    return {**given, "text": " ".join(text[1:])}


def search(
    call: Call,
    words: str,
    filters: dict[str, str],
    *,
    limit: int,
    strict: bool,
    lexical: bool,
    meaning: bool,
    explain: bool,
    fresh: bool,
) -> None:
    """Print the hits for some words. Raises NotInMemory where there are none."""
    from oracle.app.queries import lookup

    if lexical and meaning:
        raise UsageError(say("--lexical and --meaning exclude each other."), hint=say("Leave one out."))
    lookup.require_words(words)
    asked = {"text": words, "filters": filters, "limit": limit, "fresh": fresh, "strict": strict, "lexical": lexical}
    with call.context("records") as context:
        found = lookup.find(context, "search", asked, loads_models=meaning)
        call.take(found, context, meaning=meaning)
        hits: list[Hit] = found.result
        if not hits:
            from oracle.app.overview import completion

            hint = completion.known_words(context, filters) or _way_out(context, words, filters)
            raise NotInMemory(say("not_in_memory_db: nothing was found for {words!r}.", words=_cut(words)), hint=hint)
        root = context.root
    if hits[0].instead_of:
        call.warn(say("{instead_of} would come first, but no longer holds.", instead_of=hits[0].instead_of))
    if call.as_json:
        call.print_json({"records": [{**hit.as_json(), **signals(hit, explain)} for hit in hits], **call.standing})
    else:
        write_out("\n".join(_hit_text(hit, explain, root.join(hit.record.path)) for hit in hits))


def _way_out(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return where else the words were found, in names or facts, else what to try."""
    from oracle.app.records import listing

    if not listing.list_records(context, {}, limit=1):
        return say("The Root {path} holds no records: is it the one that you mean?", path=context.root.path)
    found = _in_names(context, words, filters) or _in_facts(context, words, filters)
    return found or say("Try fewer words, or fewer filters.")


def _in_names(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return which records have the words in the name of their file alone, "" when none has."""
    from oracle.app.records.naming import find_with_words

    named = find_with_words(context, words, filters)
    return say("Found only in the names of {names}.", names=named) if named else ""


def _in_facts(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return how to see the facts that hold the words, "" without any or when the filters ask for records."""
    from oracle.app.search.federated import keys_of_facts

    keys = [] if filters else keys_of_facts(context, words.strip())
    return (
        say("Found only in facts: {commands}.", commands=[f"`oracle show {quote(key)}`" for key in keys])
        if keys
        else ""
    )


def signals(hit: Hit, explain: bool) -> dict[str, object]:
    """Return what each signal gave to a hit, as its JSON has it where it was asked for."""
    return {"signals": {name: round(points, 3) for name, points in hit.parts}} if explain else {}


def _hit_text(hit: Hit, explain: bool, path: str) -> str:
    record = hit.record
    place = _pasteable(f"{record.path}:{hit.first_line}-{hit.last_line}")
    about = f"{record.title} ({record.kind}, {seat_of(record)}, {record.sort_ts[:10]})"
    lines = [headed(place, [about, mark(record, hit.chain)])]
    if explain:
        given = ", ".join(f"{name} {points:+.2f}" for name, points in hit.parts)
        signals = given or say("nothing")
        score = say("score {score:.2f} = {given}; {why}", score=hit.score, given=signals, why=hit.why)
        lines.append(indented(score))
    if hit.snippet.strip():
        lines.append(indented(mark_cuts(hit.snippet, path, (hit.first_line, hit.last_line))))
    return "\n".join(lines) + "\n"


def _pasteable(place: str) -> str:
    """Return a place as it may be given to `oracle show` in a shell: quoted where it holds blanks or what a shell reads."""
    if not any(char.isspace() or char in _OF_THE_SHELL for char in place):
        return place
    return quote(place)


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST_ECHO else f"{words[:_LONGEST_ECHO]}…"
