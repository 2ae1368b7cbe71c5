"""One call of `oracle`: its Root and options, and how it prints answers, warnings, errors and a wait."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from typing import TYPE_CHECKING

from oracle.app.settings import LANGUAGES
from oracle.cli.i18n.translate import ENGLISH
from oracle.cli.output import (
    OutputLost,
    ReaderGone,
    Spinner,
    Table,
    as_json,
    is_terminal,
    print_line,
    print_lines,
    print_table,
    tell,
    write_out,
)
from oracle.domain.spelling import suggest
from oracle.errors import NotFound, OracleError, UsageError
from oracle.wording import Sentence, say, spoken, visible

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.wakeups import WakeUp
    from oracle.app.queries.lookup import Found


class Call:
    """What the shared options say. `beside_error` and `standing` are printed as JSON beside an error and beside a listing."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.memory_dir: str | None = None
        self.as_json = as_json
        self.is_plain = False
        """Whether the command ran without the parser: its work is over and nothing waits for the process."""
        self.waiting = Spinner()
        self._warned: set[str] = set()
        self.beside_error: Mapping[str, object] = {}
        self.standing: Mapping[str, object] = {}
        self.language = ""
        """The language that was asked for, "" where English is only the default."""
        self.is_fresh = False
        """Whether everything is looked at first, and the hub of this Root is asked for news."""
        self.asks_hub = False
        """Whether the whole team's records are asked, in place of those of this machine."""
        self.unusable: tuple[str, ...] = ()
        """What this call warned of in the settings, which it does not repeat where it needs them."""
        self.says_root = False
        """Whether the command itself says that it made the Root."""
        self.words_only = ""
        """Why the models were left out of a search, "" if they were not."""

    @contextmanager
    def context(self, listing: str = "") -> Iterator[Context]:
        """Open the Root for a block. With JSON a `listing` gets its standing, and an empty listing beside its error."""
        with self.waiting, self._open() as context:
            try:
                yield context
                if listing and not self.standing:
                    self.standing = self.standing_of(context)
            except NotFound:
                if listing and self.as_json:
                    self.beside_error = {listing: [], **self.standing_of(context)}
                raise

    @contextmanager
    def _open(self) -> Iterator[Context]:
        from oracle.app.context import Context

        with Context.open(self.memory_dir, warn=self.warn) as context:
            was_there = os.path.isdir(context.root.path)  # noqa: PTH112 -- not worth pathlib's import
            if not self.asks_hub:
                if self.is_fresh and context.has_hub:
                    from oracle.app.hubs import following

                    following.sync_first(context)
                yield context
                if not (was_there or self.says_root) and os.path.isdir(context.root.path):  # noqa: PTH112
                    self.note(say("Created the Root {path}", path=context.root.path))
                return
            from oracle.app.hubs import team_copy

            with team_copy.open_copy(context) as copy:
                yield copy

    def standing_of(self, context: Context) -> dict[str, object]:
        """Return `problems` and `freshness` of what was read last, for JSON alone."""
        if not self.as_json:
            return {}
        from oracle.app.records import listing

        return self._beside(listing.standing(context))

    def take(self, found: Found, context: Context, *, meaning: bool) -> None:
        """Keep what belongs beside a result that was looked up, and say if it is by words alone. `meaning` was asked for."""
        if found.words_only:
            self.words_only = say(
                "only words were searched, as {why}; or add --meaning to load the models now", why=found.words_only
            )
            self.note(self.words_only)
        elif meaning:
            self.note_lack_of_meaning(context)
        self.standing = self._beside(found.standing) if self.as_json else {}

    def note_lack_of_meaning(self, context: Context) -> None:
        """Say why a search by meaning is one by words alone, if it is."""
        from oracle.app.search.search import why_no_meaning

        why = say("the team's records have no vectors; leave --hub out") if self.asks_hub else why_no_meaning(context)
        if why:
            self.words_only = say("only words were searched, as {why}", why=why)
            self.note(self.words_only)

    def _beside(self, standing: Mapping[str, object]) -> dict[str, object]:
        return {**standing, **({"words_only": self.words_only} if self.words_only else {})}

    def answer(self, document: object, text: Table | Iterable[str] = ()) -> None:
        """Print the answer: one JSON document when JSON was asked for, else a table, a line or several lines."""
        if self.as_json:
            self.print_json(document)
        elif isinstance(text, Table):
            print_table(text)
        elif isinstance(text, str):
            print_line(text)
        else:
            print_lines(text)

    def warn(self, line: str) -> None:
        """Print a warning on standard error, once."""
        if line not in self._warned:
            self._warned.add(line)
            tell([visible(say("warning: {line}", line=line))])

    def note(self, line: str) -> None:
        """Print on standard error what belongs to the answer but not into its text; JSON holds it already."""
        if not self.as_json:
            tell([say("note: {line}", line=line)])

    def print_json(self, document: object) -> None:
        """Print the one JSON document of this call."""
        write_out(as_json(document))

    @property
    def can_ask(self) -> bool:
        """Whether a person is there to answer a question: both ends are a terminal, and no JSON was asked for."""
        return not self.as_json and is_terminal(sys.stdin) and is_terminal(sys.stderr)

    def ask(self, question: str) -> str:
        """Return what a person types for a question, asked again until it is something."""
        import typer

        with self.waiting.paused():
            answer: str = typer.prompt(spoken(question), err=True)  # noqa: TID251
        return answer

    def is_agreed(self, question: str) -> bool:
        """Return whether a person says yes to a question; nothing typed is a no."""
        import typer

        with self.waiting.paused():
            return typer.confirm(spoken(question), err=True)  # noqa: TID251

    def fail(self, error: OracleError) -> int:
        """Print an error and return the exit code of the process.

        It goes to standard output as JSON when JSON was asked for; where that takes nothing, to standard error as a sentence.
        """
        if self.as_json and not isinstance(error, OutputLost):
            beside = self.beside_error if isinstance(error, NotFound) else {}
            with suppress(OutputLost):
                with suppress(ReaderGone):
                    self.print_json({**beside, **_without_secrets(error).as_json()})
                return error.exit_code
        if error.sentence in self.unusable:
            error = UsageError(say("Nothing was done: this needs the file that can't be read."))
        error.sentence, error.hint = spoken(error.sentence), spoken(error.hint)
        error = _without_secrets(error)
        tell(map(visible, [error.sentence, *([say("hint: {hint}", hint=error.hint)] if error.hint else [])]))
        return error.exit_code


def _without_secrets(error: OracleError) -> OracleError:
    """Return the error as it may be printed: its sentence may repeat a value of the caller's, which may be a secret."""
    from oracle.domain.safety.secrets import redact

    error.sentence, error.hint = redact(error.sentence)[0], redact(error.hint)[0]
    return error


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Say how to install a package that a block imports and that is missing. Raises UsageError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "oracle":
            raise
        raise UsageError(
            say("This needs the package {package}, which is not installed.", package=error.name),
            hint=say(
                "Install it: {executable} -m pip install 'memory-oracle[{extra}]'.",
                executable=sys.executable,
                extra=extra,
            ),
        ) from error


def note_wake_up(call: Call, wake_up: WakeUp) -> None:
    """Say whom a delivery woke, or why nobody was woken."""
    if wake_up.result == "sent":
        call.note(say("woke {seat} in {detail}", seat=wake_up.seat, detail=wake_up.detail))
    elif wake_up.result == "attended":
        call.note(say("{seat} is not woken: {detail}", seat=wake_up.seat, detail=wake_up.detail))


# The language: `--lang`, else ORACLE_LANG, else `language` in config.toml, else English

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


def choose_language(
    asked: str | None, words: Sequence[str], environ: Mapping[str, str]
) -> tuple[str, list[UsageError]]:
    """Return a language of `LANGUAGES` that is not `auto`, and what is wrong with the file if that was asked.

    Raises UsageError for an unknown language in the option or the variable. No command fails for the language of the file.
    """
    if asked is not None:
        return _stated(asked, say("Unknown language {language!r}.", language=asked)), []
    if stated := environ.get(VARIABLE):
        return _stated(stated, say("{variable} is {language!r}.", variable=VARIABLE, language=stated)), []
    configured, faults = _configured(words)
    return _spoken(configured or ENGLISH), [] if "_ORACLE_COMPLETE" in environ else faults


def _stated(language: str, fault: Sentence) -> str:
    if language not in LANGUAGES:
        raise UsageError(fault, hint=suggest(language, LANGUAGES))
    return _spoken(language)


def _spoken(language: str) -> str:
    return (_of_operator() or _of_locale(os.environ)) if language == AUTO else language


def _configured(words: Sequence[str]) -> tuple[str, list[UsageError]]:
    """Return the language that the Root sets and what is wrong with the file. An unusable Root is reported elsewhere."""
    from oracle.app.settings import Root, choose_root, load_language, root_in

    try:
        return load_language(Root(choose_root(root_in(words))))
    except (OracleError, OSError):
        return "", []


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
    language = stated[:2].lower()
    return language if language in LANGUAGES and not stated[2:3].isalpha() else ENGLISH
