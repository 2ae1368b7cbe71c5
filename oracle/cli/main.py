"""The entry point of `oracle`: run the application, and turn every failure into one sentence and an exit code.

It imports nothing heavy itself, so that an interrupt during start-up is as quiet as a later one.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from oracle.errors import OracleError, UsageError
from oracle.wording import say, speak

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from oracle.cli.session import Call

INTERRUPTED = 130


def run(words: Sequence[str] | None = None) -> int:
    """Run `oracle` with the words given (default: those of the process) and return the exit code; prints every error."""
    try:
        from oracle.cli.output import prepare_streams
        from oracle.cli.session import Call

        if words is None and sys.getfilesystemencoding() != "utf-8":
            from oracle.process import speak_utf8

            speak_utf8()
        given = list(sys.argv[1:] if words is None else words)
        prepare_streams()
        options = given[: given.index("--")] if "--" in given else given
        call = Call(as_json="--json" in options)
        code = _run(call, given)
    except KeyboardInterrupt:
        return INTERRUPTED
    if words is None and call.is_plain:
        from oracle.compat.door import end

        end(code)  # to free all that a search has read takes as long as a new interpreter
    return code


def _run(call: Call, words: list[str]) -> int:
    from oracle.cli.output import ReaderGone

    try:
        if not all(map(str.isascii, words)):
            from oracle.process import require_text

            require_text(words)
        words = _agree_on_language(call, words)
        call.is_plain = _run_plain(call, words)
        return 0 if call.is_plain else _parse(call, words)
    except ReaderGone:
        return 0
    except OracleError as error:
        return call.fail(error)
    except Exception as error:  # noqa: BLE001 -- the one place where a traceback ends, so that no person ever reads one
        from oracle.app.root import unexpected
        from oracle.process import lost_folder

        return call.fail(_as_usage(error) or lost_folder(error) or unexpected(call.memory_dir, error))


def _run_plain(call: Call, words: list[str]) -> bool:
    """Run a command that people wait for without the parser. Return False for words that it has to read."""
    if "search" in words:
        from oracle.cli.plain_search import run
    elif "list" in words:
        from oracle.cli.plain_list import run
    else:
        return False
    return run(call, words)


def _parse(call: Call, words: list[str]) -> int:
    """Run the command that the words name, and return its exit code."""
    import typer

    from oracle.cli.application import ask_for_help, needs_own_help
    from oracle.cli.application import command as build
    from oracle.cli.output import held_back

    words = ask_for_help(words)
    command = build()
    if needs_own_help():
        from oracle.cli.help import translate_command

        translate_command(command)
    try:
        with held_back(words), _as_typed():
            code = command.main(words, prog_name="oracle", standalone_mode=False, obj=call)
    except typer.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _agree_on_language(call: Call, words: list[str]) -> list[str]:
    """Choose the language of this call and return the words that do not speak of it."""
    from oracle.cli.i18n.translate import ENGLISH, set_language
    from oracle.cli.session import VARIABLE, choose_language, take_language

    speak(None)
    words, asked = take_language(words)
    language, faults = choose_language(asked, words, os.environ)
    call.language = language if asked or language != ENGLISH or VARIABLE in os.environ else ""
    if language != ENGLISH:
        set_language(language)
    if _command_in(words) == "doctor":  # it names every fault itself
        return words
    call.unusable = tuple(fault.sentence for fault in faults)
    for fault in faults:
        call.warn(say("{what} {hint}", what=fault.sentence, hint=fault.hint))
    return words


def _command_in(words: list[str]) -> str:
    """Return the first word that is neither an option nor the folder that `--memory-dir` names, "" without one."""
    before = ["", *words]
    plain = (word for place, word in zip(before, words, strict=False) if place != "--memory-dir" and word[:1] != "-")
    return next(plain, "")


def _as_typed() -> AbstractContextManager[None]:
    if "_ORACLE_COMPLETE" not in os.environ:
        return nullcontext()
    from oracle.cli.completion import whole_words

    return whole_words(os.environ)


def _as_usage(error: Exception) -> UsageError | None:
    """Return what the parser found wrong with the words; it knows the command, whose help is the way out."""
    import typer

    from oracle.cli.help import ERRORS, find_sentence

    _, _, parser_error, *_ = typer.BadParameter.__mro__  # the public name whose base class is click's own error
    if not isinstance(error, parser_error):
        return None
    context = getattr(error, "ctx", None)
    command = context.command_path.strip() if context is not None else "oracle"
    text = _in_plain_words(" ".join(error.format_message().split()))  # type: ignore[attr-defined]
    hint = say("See `{command} --help`.", command=command)
    if context is not None and text.startswith("Missing "):
        hint = say("{what} {hint}", what=hint, hint=context.command.epilog)
    return UsageError(find_sentence(text, ERRORS), hint=hint)


def _in_plain_words(sentence: str) -> str:
    """Say what a number may be as a person would, not as the parser's types are called."""
    import re

    sentence = re.sub(r"is not a valid int(?:eger)?(?: range)?\.$", "is not a whole number.", sentence)
    sentence = re.sub(r"is not a valid float(?: range)?\.$", "is not a number.", sentence)
    sentence = re.sub(r"is not in the range (\d+)<=x<=(\d+)\.$", r"is not between \1 and \2.", sentence)
    return re.sub(r"(\S+) is not in the range x>=(\d+)\.$", r"\1 is too small; \2 is the least.", sentence)
