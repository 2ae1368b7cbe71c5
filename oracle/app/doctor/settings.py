"""The check of `config.toml`, the settings of a Root. Reads only."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.app.doctor.checks import Check, capped, quoted, warning
from oracle.app.doctor.context import CheckContext
from oracle.errors import UsageError
from oracle.store.root.configuration import find_unknown, load_daemon, load_synthesizer
from oracle.store.root.feishu import is_push_on
from oracle.store.root.preferences import SETTINGS
from oracle.wording import say


def check_settings(context: CheckContext) -> Iterator[Check]:
    """Report unknown or unusable settings in `config.toml`. They are ignored until they are corrected."""
    mend = say("Correct {path}", path=quoted(context.root.join(SETTINGS)))
    found: list[tuple[str, str]] = []
    try:
        found += [
            (say("{settings}: {fault}", settings=SETTINGS, fault=fault), mend) for fault in find_unknown(context.root)
        ]
    except UsageError as trouble:
        yield warning("settings", trouble.sentence, trouble.hint)
        return
    for load in (load_synthesizer, load_daemon, is_push_on):
        try:
            load(context.root)
        except UsageError as trouble:
            found.append((trouble.sentence, trouble.hint))
    yield from capped(warning("settings", detail, fix) for detail, fix in found)
