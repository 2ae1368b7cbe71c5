"""The TOML files of a Root: patterns for link extraction, the owner's `config.toml`, and what is said about Feishu. Read only."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping

from oracle.domain.compiling import compiled
from oracle.errors import UsageError
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.links.links import Patterns

SETTINGS = "config.toml"
LANGUAGES = ("auto", "zh", "en")
"""The values of `language`; each but `auto` and English has a catalogue in `oracle/cli/i18n`."""

_KEYS = ("language", "synthesizer", "judge", "daemon", "push", "experience", "injection", "skills")
"""The keys of `config.toml`."""

_LONGEST = 31 * 86_400
"""The longest term in seconds."""

_MOST_BYTES = 1 << 20
"""The largest file in bytes."""

_SUFFIX, _PREFIX = r"[A-Za-z][A-Za-z0-9_]*", r"[A-Za-z][A-Za-z0-9_-]*"

Report = Callable[[str, str], None]
"""Called with the root-relative path and the reason if a file cannot be used."""


def load_patterns(root: Root, project: str, *, report: Report) -> Patterns:
    """Return the patterns of a project.

    Of several files that set a key, the first counts; the project's come before the Root's.

    `task_prefixes = ["ARENA", "T"]` and `[component_patterns] suffixes = ["Engine"]` are read. An invalid file or value
    is reported and skipped.
    """
    from oracle.domain.links.links import DEFAULT_PATTERNS, Patterns  # --help asks for the language alone

    prefixes: frozenset[str] | None = None
    suffixes: tuple[str, ...] | None = None
    for path in root.pattern_files(project):
        table = _load(root, path, report)
        prefixes = prefixes if prefixes is not None else _words(table.get("task_prefixes"), _PREFIX, path, report)
        components = table.get("component_patterns")
        listed = components.get("suffixes") if isinstance(components, dict) else None
        found = _words(listed, _SUFFIX, path, report)
        suffixes = suffixes if suffixes is not None or found is None else tuple(sorted(found))
    return Patterns(
        task_prefixes=prefixes,
        component_suffixes=DEFAULT_PATTERNS.component_suffixes if suffixes is None else suffixes,
    )


def patterns_of(root: Root, project: str, *, report: Report) -> Patterns:
    """Return the patterns of a project. They find the folder of its repository when a path needs it."""
    from functools import cache

    from oracle.domain.values import replace

    @cache
    def repository() -> tuple[str, ...]:
        from oracle.store.root import projects  # few records need it

        return projects.repository_spellings(root, project, os.environ)

    return replace(load_patterns(root, project, report=report), repository=repository)


def load_command(root: Root, name: str) -> tuple[str, ...]:
    """Return the command that a key of `config.toml` names (`synthesizer`, `judge`), () if there is none.

    Raises UsageError for an invalid command, and if others than the owner can write the file.
    """
    stated = read_settings(root).get(name)
    if stated is None:
        return ()
    words = [stated] if isinstance(stated, str) else stated
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise UsageError(
            say("The {name} in {settings} is not a command.", name=name, settings=SETTINGS),
            hint=say('Write it as `{name} = ["claude", "-p"]`.', name=name),
        )
    if not words[0].strip() or any("\0" in word for word in words):
        raise UsageError(
            say("The {name} in {settings} names no program.", name=name, settings=SETTINGS),
            hint=say("Name a program, or remove the line."),
        )
    if os.stat(root.join(SETTINGS)).st_mode & 0o022:
        raise UsageError(
            say("{settings} can be written by others, so its {name} is not run.", settings=SETTINGS, name=name),
            hint=say("chmod 600 it."),
        )
    return tuple(words)


_SECONDS = ("seat_bound", "seat_lease", "consolidate_every")


def load_daemon(root: Root) -> dict[str, object]:
    """Return `[daemon]` of `config.toml`: `hold`, and the others in seconds. Raises UsageError."""
    stated = read_settings(root).get("daemon", {})
    if not isinstance(stated, dict):
        raise UsageError(
            say("{settings}: {fault}", settings=SETTINGS, fault=say("daemon is not a table.")),
            hint=say("Correct it; see references/daemon.md."),
        )
    found: dict[str, object] = {}
    for key, item in stated.items():
        is_number = isinstance(item, int | float) and not isinstance(item, bool) and 1 <= item <= _LONGEST
        if not (isinstance(item, bool) if key == "hold" else key in _SECONDS and is_number):
            raise UsageError(
                say(
                    "{settings}: daemon.{key} = {item} is not valid.",
                    settings=SETTINGS,
                    key=key,
                    item=shown(item),
                ),
                hint=say("The keys are hold (true or false), {keys} (seconds, up to a month).", keys=_SECONDS),
            )
        found[key] = item if key == "hold" else float(item)
    return found


def load_language(root: Root) -> tuple[str, list[UsageError]]:
    """Return the `language` of `config.toml`, "" for none that is known, and what is wrong with the file.

    That is a file that cannot be read, keys that nothing reads, an unknown language. The content of a table is checked by its
    own reader: `load_command`, `load_daemon`, `is_push_on`, `features`.
    """
    try:
        stated = read_settings(root)
    except UsageError as error:
        return "", [error]
    known = say("The settings are {known}.", known=_KEYS)
    faults = [_fault(say("Unknown setting {key!r}.", key=key[:100]), known) for key in stated if key not in _KEYS]
    language = stated.get("language", "")
    if isinstance(language, str) and language in ("", *LANGUAGES):
        return language, faults
    told = (language if isinstance(language, str) else shown(language))[:100]
    choices = say("Choose one of {choices}.", choices=LANGUAGES)
    return "", [*faults, _fault(say("Unknown language {language!r}.", language=told), choices)]


def _fault(what: str, hint: Sentence) -> UsageError:
    return UsageError(say("{settings}: {fault}", settings=SETTINGS, fault=what), hint=hint)


def read_settings(root: Root) -> dict[str, object]:
    """Return `config.toml`. Raises UsageError for a file that cannot be read."""
    faults: dict[str, str] = {}
    stated = _load(root, SETTINGS, faults.__setitem__)
    if faults:
        raise _fault(faults[SETTINGS], say("Correct the file."))
    return stated


def _load(root: Root, path: str, report: Report) -> dict[str, object]:
    try:
        if not stat.S_ISREG(os.stat(root.join(path)).st_mode):  # reading a pipe would wait
            report(path, say("The configuration is not a regular file."))
            return {}
        with open(root.join(path), "rb") as stream:
            import tomllib  # few Roots have this file

            raw = stream.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            report(path, say("The configuration can't be read: {error}.", error=say("it is larger than 1 MiB")))
            return {}
        return tomllib.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, NotADirectoryError) and not os.path.isdir(root.path):
            return {}  # the Root is not a folder, which is said elsewhere
        report(path, say("The configuration can't be read: {error}.", error=error))
        return {}


def shown(item: object) -> str:
    """Return a value for a message: the start of a long one, nothing for a number that is too long to print."""
    try:
        return repr(item)[:100]
    except (ValueError, RecursionError):
        return "…"


def _words(value: object, shape: str, path: str, report: Report) -> frozenset[str] | None:
    if value is None:
        return None
    words = value if isinstance(value, list) else [value]
    good = [word for word in words if isinstance(word, str) and compiled(shape).fullmatch(word)]
    if len(good) != len(words):
        report(path, say("A pattern is not a plain word; it is left out."))
    return frozenset(good)


# Feishu ----------------------------------------------------------------------------------------------------------------

BINDING = "PROJECT_BINDING.toml"
_GROUP = r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}"


def is_push_on(root: Root) -> bool:
    """Return whether `config.toml`, which only its owner may write, has `[push] enabled = true`. Raises UsageError."""
    stated = read_settings(root).get("push", {})
    enabled = stated.get("enabled", False) if isinstance(stated, dict) else None
    if not isinstance(stated, dict) or not isinstance(enabled, bool) or set(stated) - {"enabled"}:
        raise UsageError(
            say("[push] in {settings} is not valid.", settings=SETTINGS),
            hint=say("Write `[push]` and below it `enabled = true`."),
        )
    if enabled and os.stat(root.join(SETTINGS)).st_mode & 0o022:
        raise UsageError(
            say("{settings} can be written by others, so nothing is pushed.", settings=SETTINGS),
            hint=say("chmod 600 it."),
        )
    return enabled


def read_group(root: Root, project: str) -> str:
    """Return the group id that a project is bound to, "" without one. Raises UsageError, InvalidName."""
    import tomllib  # few Roots have this file

    from oracle.store.disk import steps

    path = f"{root.task_tree(project)}/{BINDING}"
    try:
        content = tomllib.loads((steps.read(path) or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            say("{path} can't be read: {error}.", path=path, error=error), hint=say("Correct the file.")
        ) from error
    bridge = content.get("bridge")
    given = content.get("feishu_group_id") or (bridge.get("group_id") if isinstance(bridge, dict) else "") or ""
    if not isinstance(given, str) or (given and not compiled(_GROUP).fullmatch(given)):
        raise UsageError(
            say("The group in {binding} of {project} is not a group id.", binding=BINDING, project=project),
            hint=say("A group id starts with oc_."),
        )
    return given


def openclaw_file(root: Root, environ: Mapping[str, str]) -> str:
    """Return the path of OpenClaw's configuration: in `OPENCLAW_HOME`, else in `.openclaw` of the Root's home folder."""
    return f"{environ.get('OPENCLAW_HOME') or f'{root.home}/.openclaw'}/openclaw.json"


def read_openclaw(path: str) -> dict[str, object] | None:
    """Return OpenClaw's configuration, None if there is none. Raises UsageError if it is not a JSON object."""
    from oracle.store.disk import steps

    raw = steps.read(path)
    if raw is None:
        return None
    content = steps.parse_object(raw)
    if content is None:
        raise UsageError(
            say("{path} is not a JSON object, so it was not checked.", path=path),
            hint=say("Remove comments, or check it by hand."),
        )
    return content
