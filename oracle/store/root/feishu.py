"""Files about Feishu: whether pushing is on, the group of a project, OpenClaw's settings. Read only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.store.root.layout import Root
from oracle.store.root.preferences import SETTINGS
from oracle.wording import say

BINDING = "PROJECT_BINDING.toml"
_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def is_push_on(root: Root) -> bool:
    """Return whether `config.toml` has `[push] enabled = true`.

    Only its owner may be able to write it. Raises UsageError.
    """
    path = root.join(SETTINGS)
    stated = _toml(path).get("push", {})
    enabled = stated.get("enabled", False) if isinstance(stated, dict) else None
    if not isinstance(stated, dict) or not isinstance(enabled, bool) or set(stated) - {"enabled"}:
        raise UsageError(
            say("[push] in {settings} is not valid.", settings=SETTINGS),
            hint=say("Write `[push]` and below it `enabled = true`."),
        )
    if enabled and os.stat(path).st_mode & 0o022:
        raise UsageError(
            say("{settings} can be written by others, so nothing is pushed.", settings=SETTINGS),
            hint=say("chmod 600 it."),
        )
    return enabled


def read_group(root: Root, project: str) -> str:
    """Return the group id that a project is bound to, "" without one. Raises UsageError, InvalidName."""
    content = _toml(f"{root.task_tree(project)}/{BINDING}")
    bridge = content.get("bridge")
    given = content.get("feishu_group_id") or (bridge.get("group_id") if isinstance(bridge, dict) else "") or ""
    if not isinstance(given, str) or (given and not _GROUP.fullmatch(given)):
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
    raw = steps.read(path)
    if raw is None:
        return None
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UsageError(
            say("{path} is not a JSON object, so it was not checked.", path=path),
            hint=say("Remove comments, or check it by hand."),
        )
    return content


def _toml(path: str) -> dict[str, object]:
    import tomllib  # few Roots have this file

    raw = steps.read(path)
    try:
        return tomllib.loads(raw.decode("utf-8-sig")) if raw is not None else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            say("{path} can't be read: {error}.", path=path, error=error), hint=say("Correct the file.")
        ) from error
