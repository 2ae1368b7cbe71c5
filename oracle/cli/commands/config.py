"""`oracle config`: the settings of a Root."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.application import group
from oracle.cli.completion import Offer
from oracle.cli.options import argument
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.app.configuration import Setting

_ROOT = "root"


def _keys(*more: str) -> Offer:
    """Return the offer of settings, which is loaded when a shell asks for it."""

    def offer(_: typer.Context, incomplete: str) -> list[str]:
        from oracle.app.configuration import KEYS

        return [key for key in (*more, *KEYS) if key.startswith(incomplete)]

    return offer


Key = Annotated[str, argument("KEY", "The setting, as in daemon.hold.", _keys())]

config_app = group("Read and change the settings of a Root.", example="oracle config list")


@config_app.add("list", example="oracle config list")
def list_settings(call: Call) -> None:
    """List the settings of config.toml, with their defaults."""
    from oracle.app import configuration

    with call.context() as context:
        found = configuration.list_settings(context)
        trusted = configuration.is_trusted(context)
    rows = [(item.key, _shown(item), _json(item.default), item.meaning) for item in found]
    document = {"settings": [item.as_json() for item in found], "trusted": trusted}
    call.answer(document, Table(say_each("setting", "value", "default", "meaning"), rows, stacked=(3,)))


@config_app.add("get", example="oracle config get root")
def get(call: Call, key: Annotated[str, argument("KEY", "The setting, or root.", _keys(_ROOT))]) -> None:
    """Print a setting, or the Root and what chose it."""
    with call.context() as context:
        if key == _ROOT:
            path = context.root.path
            call.answer({"root": path, "exists": os.path.isdir(path)}, path)  # noqa: PTH112 -- not worth pathlib's import
            return
        from oracle.app import configuration

        found = configuration.find_setting(context, key)
    call.answer(found.as_json(), _shown(found))


@config_app.add("set", example="oracle config set language zh")
def set_value(call: Call, key: Key, content: Annotated[str, argument("VALUE", "A word, or JSON.")]) -> None:
    """Set one key; the rest of config.toml stays as it is."""
    from oracle.app import configuration

    with call.context() as context:
        found = configuration.set_value(context, key, content)
        needs_trust = key in ("synthesizer", "judge") and not configuration.is_trusted(context)
    call.answer(found.as_json(), say("{key} = {value}", key=key, value=_shown(found)))
    if needs_trust:
        call.note(say("the program runs after `oracle config trust`"))


@config_app.add("trust", example="oracle config trust")
def trust(call: Call) -> None:
    """Allow the programs that config.toml names, as it is now."""
    from oracle.app import configuration

    with call.context() as context:
        digest = configuration.trust(context)
    call.answer({"trusted": digest}, say("trusted config.toml with SHA-256 {digest}", digest=digest))


def _shown(item: Setting) -> str:
    return _json(item.content if item.content is not None else item.default)


def _json(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
