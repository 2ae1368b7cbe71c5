"""What the disk says of Feishu: whether pushing is on, which group a project has, what OpenClaw is set to. Read only."""

from __future__ import annotations

import json
import os
import re

from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.store.root.layout import Root
from oracle.store.root.preferences import SETTINGS
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BINDING = "PROJECT_BINDING.toml"
_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def is_push_on(root: Root) -> bool:
    """Tell whether `[push] enabled = true` stands in `config.toml`, which its owner alone can write. Raises UsageError."""
    path = root.join(SETTINGS)
    stated = _toml(path).get("push", {})
    enabled = stated.get("enabled", False) if isinstance(stated, dict) else None
    if not isinstance(stated, dict) or not isinstance(enabled, bool) or set(stated) - {"enabled"}:
        raise UsageError(
            say("[push] in {settings} is not understood.", settings=SETTINGS),
            hint=say("Write `[push]` and below it `enabled = true`."),
        )
    if enabled and os.stat(path).st_mode & 0o022:
        raise UsageError(
            say("{settings} can be written by others, so nothing is pushed.", settings=SETTINGS),
            hint=say("chmod 600 it."),
        )
    return enabled


def read_group(root: Root, project: str) -> str:
    """Return the id of the group that a project is bound to, "" when it is bound to none. Raises UsageError, InvalidName."""
    content = _toml(f"{root.task_tree(project)}/{BINDING}")
    bridge = content.get("bridge")
    given = content.get("feishu_group_id") or (bridge.get("group_id") if isinstance(bridge, dict) else "") or ""
    if not isinstance(given, str) or (given and not _GROUP.fullmatch(given)):
        raise UsageError(
            say("The group in {binding} of {project} is no id of a group.", binding=BINDING, project=project),
            hint=say("It looks like oc_…."),
        )
    return given


def openclaw_file(root: Root, environ: Mapping[str, str]) -> str:
    """Return where OpenClaw keeps its configuration: in `OPENCLAW_HOME`, else `.openclaw` in the home of the Root."""
    return f"{environ.get('OPENCLAW_HOME') or f'{root.home}/.openclaw'}/openclaw.json"


def read_openclaw(path: str) -> dict[str, object] | None:
    """Return OpenClaw's configuration, None when there is none. Raises UsageError for one that is no JSON object."""
    raw = steps.read(path)
    if raw is None:
        return None
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UsageError(
            say("{path} is no JSON object, so it was not looked at.", path=path),
            hint=say("Take comments out, or look by hand."),
        )
    return content


def _toml(path: str) -> dict[str, object]:
    import tomllib  # few Roots have such a file

    raw = steps.read(path)
    try:
        return tomllib.loads(raw.decode("utf-8-sig")) if raw is not None else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            say("{path} can't be read: {error}.", path=path, error=error), hint=say("Correct the file.")
        ) from error
