"""Choose the language of the output: `--lang`, else ORACLE_LANG, else `language` in config.toml, else English."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from glob import glob

from oracle.app.settings import LANGUAGES, SETTINGS, no_language
from oracle.cli.i18n.translate import CHINESE, ENGLISH
from oracle.errors import OracleError, UsageError
from oracle.wording import Sentence, say

AUTO = LANGUAGES[0]
OPTION = "--lang"
VARIABLE = "ORACLE_LANG"
_LOCALE_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def take_language(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the arguments without `--lang X` before `--`, and the last X, None without any."""
    kept: list[str] = []
    asked = None
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*kept, word, *rest], asked
        if word == OPTION:
            asked = next(rest, "")
        elif word.startswith(f"{OPTION}="):
            asked = word.partition("=")[2]
        else:
            kept.append(word)
    return kept, asked


def choose_language(asked: str | None, words: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return `zh` or `en`. Raises UsageError for an unknown language in the option or the variable.

    An unknown language in the file is only a warning: no command fails for its language.
    """
    if asked is not None:
        return _stated(asked, say("Unknown language {language!r}.", language=asked))
    if stated := environ.get(VARIABLE):
        return _stated(stated, say("{variable} is {language!r}.", variable=VARIABLE, language=stated))
    configured = _configured(words) or ENGLISH
    if configured not in LANGUAGES:
        _complain(configured)
        return ENGLISH
    return _spoken(configured)


def _stated(language: str, fault: Sentence) -> str:
    if language not in LANGUAGES:
        raise UsageError(fault, hint=say("Choose one of {choices}.", choices=LANGUAGES))
    return _spoken(language)


def _spoken(language: str) -> str:
    return (_of_operator() or _of_locale(os.environ)) if language == AUTO else language


def _complain(asked: str) -> None:
    """Warn about an unknown language in the file, except while a shell completes a line."""
    from oracle.cli.output import tell, visible

    if "_ORACLE_COMPLETE" not in os.environ:
        fault = say("{settings}: {fault}", settings=SETTINGS, fault=no_language(asked))
        tell([visible(say("warning: {line}", line=fault))])


def _configured(words: Sequence[str]) -> str:
    """Return the language that the Root sets. An unusable Root is reported elsewhere."""
    from oracle.app.settings import Root, choose_root, load_language

    try:
        return load_language(Root(choose_root(_memory_dir(words))))
    except (OracleError, OSError):
        return ENGLISH


def _memory_dir(words: Sequence[str]) -> str | None:
    named = None
    for at, word in enumerate(words):
        if word == "--memory-dir":
            named = words[at + 1] if at + 1 < len(words) else None
        elif word.startswith("--memory-dir="):
            named = word.partition("=")[2]
    return named


def _of_operator() -> str:
    """Return the language of what the operator typed last in this folder, according to Claude Code's transcripts, else ""."""
    from oracle.domain.language import decide
    from oracle.hook.payload import read_operator

    folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")  # noqa: PTH111
    project = re.sub(r"[^A-Za-z0-9]", "-", os.getcwd())  # noqa: PTH109
    transcripts = glob(f"{folder}/projects/{project}/*.jsonl")  # noqa: PTH207
    newest = max(transcripts, key=_changed, default="")
    typed = read_operator(newest) if newest else ()
    return decide(typed).language if typed else ""


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0


def _of_locale(environ: Mapping[str, str]) -> str:
    stated = next(filter(None, map(environ.get, _LOCALE_VARIABLES)), "")
    return CHINESE if stated.lower().startswith(CHINESE) else ENGLISH
