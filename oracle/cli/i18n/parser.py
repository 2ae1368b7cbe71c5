"""Turn the parser's English texts into sentences, so that they can be translated.

The parser fills in its texts itself. The patterns here take them apart again.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from oracle.wording import say, templates

ERRORS = templates(
    "Missing option {names}.",
    "Missing argument {names}.",
    "Missing command.",
    "No such option: {name} (Possible options: {near})",
    "No such option: {name}",
    "Got unexpected extra argument(s) ({words})",
    "Option {name} requires an argument.",
    "Option {name} does not take a value.",
    "Argument {name} takes {count} values.",
    "Invalid value for {names}: {what}",
    "{value} is not a whole number.",
    "{value} is not a number.",
    "{value} is too small; {least} is the least.",
    "{value} is not between {least} and {most}.",
)
"""What the parser says about a command line. The first template that fits a text is taken."""

NOTES = templates("default: {default}", "env var: {var}", "required")
"""What the parser adds to the help of an option, in brackets."""


def find_sentence(text: str, known: tuple[str, ...]) -> str:
    """Return the text as a sentence of one of the known templates; the text itself if none fits."""
    for template in known:
        found = _pattern(template).fullmatch(text)
        if found:
            return say(template, **{name: find_sentence(value, known) for name, value in found.groupdict().items()})
    return text


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = string.Formatter().parse(template)
    return re.compile(
        "".join(f"{re.escape(text)}(?P<{name}>.*)" if name else re.escape(text) for text, name, *_ in parts)
    )
