"""Scan the machine into `machine/<name>.json`, one file for each scanner; show facts without the values of credentials.

The value of a credential is read from its file on request.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

from oracle.app.answers.reply import CitedFact
from oracle.app.context import Context
from oracle.domain import timestamps
from oracle.domain.safety.secrets import find_secrets
from oracle.domain.spelling import find_near
from oracle.domain.values import replace, value
from oracle.errors import NotInMemory, OracleError, UsageError
from oracle.scan.machine import DEFAULT, SCANNERS, Machine, fingerprint, read_value, run
from oracle.store.root import facts
from oracle.store.root.facts import HIDDEN, Fact, hides
from oracle.store.root.layout import choose_home
from oracle.wording import say

__all__ = ["SCANNERS", "Scanned", "reveal", "scan"]


Progress = Callable[["Scanned"], None]

_CREDENTIALS = "machine/credentials.json"
_KEY = "credentials.keys."


@value
class Scanned:
    """The outcome of one scanner: the file that it wrote, or why it wrote nothing."""

    name: str
    path: str
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether its file was written."""
        return not self.error

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, as in `index.json`."""
        values: dict[str, object] = {"path": self.path, "ok": self.ok}
        return {**values, "error": self.error} if self.error else values


def scan(
    context: Context,
    only: Sequence[str] = (),
    *,
    network: bool = False,
    with_values: bool = False,
    progress: Progress | None = None,
) -> list[Scanned]:
    """Run scanners and write what each found; one may fail alone. Raises UsageError, RootUnusable, LockTimeout, DiskFailure."""
    names = choose(only)
    context.root.require()
    machine = Machine(
        choose_home(os.environ),
        dict(os.environ),
        timestamps.print_moment(context.now()),
        asks_network=network,
        keeps_values=with_values,
    )
    done: list[Scanned] = []
    with context.index.lock():
        for found in run(machine, names):
            path = facts.machine_path(context.root, found.name)
            outcome = Scanned(found.name, path, found.error)
            if found.content is not None:
                outcome = _save(context, outcome, found.content)
            done.append(outcome)
            if progress is not None:
                progress(outcome)
        _note(context, machine, done)
    return done


def choose(only: Sequence[str]) -> tuple[str, ...]:
    """Return the scanners to run: those named, else the usual ones. Raises UsageError for an unknown scanner."""
    unknown = [name for name in only if name not in SCANNERS]
    if unknown:
        near = find_near(unknown[0], tuple(SCANNERS))
        raise UsageError(
            say("unknown scanners: {unknown}; did you mean {near}?", unknown=unknown, near=near)
            if near
            else say("unknown scanners: {unknown}", unknown=unknown),
            hint=say("available: {scanners}", scanners=SCANNERS),
        )
    return tuple(dict.fromkeys(only)) or DEFAULT


def _save(context: Context, outcome: Scanned, content: dict[str, object]) -> Scanned:
    try:
        facts.save(context.root, outcome.path, content)
    except OracleError as error:
        return replace(outcome, error=error.sentence)
    return outcome


def _note(context: Context, machine: Machine, done: Sequence[Scanned]) -> None:
    """Write the outcomes into `index.json`, which other programs read, and note the event."""
    from oracle.app.records.publish import merge_catalogue

    errors = [f"{item.name}: {item.error}" for item in done if item.error]
    merge_catalogue(
        context.root,
        {
            "scanned_at": machine.scanned_at,
            "output_dir": context.root.path,
            "machine_dir": context.root.machine,
            "scanners": [item.name for item in done],
            "results": {item.name: item.as_json() for item in done},
            "errors": errors,
        },
    )
    context.note("scan", {"scanners": [item.name for item in done], "failed": [i.name for i in done if i.error]})


def reveal(context: Context, key: str, project: str = "") -> Fact:
    """Return a fact with a credential read now; only for commands of a user. Raises NotInMemory, RootUnusable."""
    context.root.require()
    name, dot, field = key.strip().removeprefix(_KEY).rpartition(".")
    if not (key.strip().startswith(_KEY) and dot and field == "value"):
        return facts.find(context.root, key, project)
    entry = facts.find(context.root, f"{_KEY}{name}", project)
    known = entry.value if isinstance(entry.value, dict) else {}
    source = known.get("source")
    if known.get("value") is not None or not isinstance(source, str) or entry.path != _CREDENTIALS:
        return facts.find(context.root, key, project)
    return facts.Fact(_read(context, name, source, known.get("fingerprint")), source, legacy=False)


def _read(context: Context, name: str, source: str, noted: object) -> str:
    found = read_value(Machine(choose_home(os.environ), dict(os.environ), ""), name, source)
    if found is None:
        raise NotInMemory(
            say("not_in_memory_db: {name} is no longer in {source}.", source=source, name=name),
            hint=say("Run `oracle scan machine --only credentials` to find it again."),
        )
    if noted and fingerprint(found) != noted:
        context.warn(say("{name} was changed since the scan", name=name))
    return found


_ABOUT_SECRETS = frozenset(("fingerprint", "sources", "oauth_sources", "problems", "reason"))
"""Keys of a credential scan that only describe a credential. `store.facts` lists more."""


def veiled_fact(key: str, fact: Fact) -> object:
    """Return the value of a fact with every credential described instead of shown."""
    return _veiled(fact.value, key, fact.path, is_secret=_is_secret(key, fact.path))


def veiled_claim(item: CitedFact) -> dict[str, object]:
    """Return the claim of a cited fact. The value of a credential is described instead of shown."""
    claim = item.as_json()
    shown = _veiled(item.value, item.key, item.path, is_secret=_is_secret(item.key, item.path))
    if shown == item.value:
        return claim
    told = json.dumps(shown, ensure_ascii=False)
    return {**claim, "value": shown, "statement": f"{item.key} = {told}", "evidence": []}


def _is_secret(key: str, path: str) -> bool:
    """Return whether a dotted key leads to a secret, judging by the file's name and each part of the key."""
    parts: Sequence[str] = [path.rpartition("/")[2].removesuffix(".json"), *key.split(".")[1:]]
    is_secret = False
    for part in parts:
        is_secret = _hides(part, is_secret=is_secret)
    return is_secret


def _hides(key: str, *, is_secret: bool) -> bool:
    return key not in _ABOUT_SECRETS and hides(key, is_secret=is_secret)


def _veiled(content: object, name: str, source: str, *, is_secret: bool) -> object:
    if isinstance(content, dict):
        return {
            key: _veiled(item, f"{name}.{key}", source, is_secret=_hides(str(key), is_secret=is_secret))
            for key, item in content.items()
        }
    if isinstance(content, list):
        return [_veiled(item, f"{name}.{at}", source, is_secret=is_secret) for at, item in enumerate(content)]
    if content in (None, True, False, "", HIDDEN) or not (
        is_secret or (isinstance(content, str) and find_secrets(content))
    ):
        return content
    return _described(str(content), name, source)


def _described(text: str, name: str, source: str) -> dict[str, object]:
    found: dict[str, object] = {"credential": name, "source": source, "length": len(text)}
    digest = fingerprint(text)
    return {**found, "fingerprint": digest} if digest else found
