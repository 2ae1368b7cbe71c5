"""The check of `config.toml`, where the owner of a Root says what is switched on. Reads only."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.app.doctor.checks import Check, capped, quoted, warning
from oracle.app.doctor.context import Patient
from oracle.errors import UsageError
from oracle.store.root.configuration import find_unknown, load_daemon, load_synthesizer
from oracle.store.root.feishu import is_push_on
from oracle.store.root.preferences import SETTINGS
from oracle.wording import say


def check_settings(patient: Patient) -> Iterator[Check]:
    """Name what `config.toml` says that nothing understands; what is switched on by it is off until then."""
    mend = say("Mend {path}", path=quoted(patient.root.join(SETTINGS)))
    found: list[tuple[str, str]] = []
    try:
        found += [
            (say("{settings}: {fault}", settings=SETTINGS, fault=fault), mend) for fault in find_unknown(patient.root)
        ]
    except UsageError as trouble:
        yield warning("settings", trouble.sentence, trouble.hint)
        return
    for load in (load_synthesizer, load_daemon, is_push_on):
        try:
            load(patient.root)
        except UsageError as trouble:
            found.append((trouble.sentence, trouble.hint))
    yield from capped(warning("settings", detail, fix) for detail, fix in found)
