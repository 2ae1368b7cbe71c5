"""Settings of git and GitHub, and repositories, read from their files. `gh` runs only when the caller allows the network."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import shutil

from oracle.scan import formats
from oracle.scan.formats import names
from oracle.scan.machine import Content, Machine, names_in
from oracle.scan.sanitize import address, text

_HELPER = re.compile(r"[\w./-]{1,80}")
_MAX_DEPTH, _MAX_REPOSITORIES, _MAX_FOLDERS = 4, 500, 20_000
_TIMEOUT = 10.0


def scan_github(machine: Machine) -> Content:
    """Return settings of git, credential helpers, hosts of `gh` and SSH keys, without values that give access."""
    path = machine.path(".gitconfig")
    entries = list(formats.git_config(formats.read_text(path, follows_link=True)))
    settings = {f"{section}.{key}": value for section, sub, key, value in entries if not sub}
    helpers = {
        (address(sub) or "(a place)") if sub else "default": _helper(value)
        for section, sub, key, value in entries
        if (section, key) == ("credential", "helper") and value
    }
    hosts = _hosts(machine)
    kept = names("machine", "git_settings")
    return {
        "gitconfig": {name: text(value) for name, value in sorted(settings.items()) if name in kept},
        "git_credential_helpers": helpers,
        "gh_cli": {"installed": bool(_gh(machine)), "hosts": hosts},
        "ssh_keys": _ssh_keys(machine),
        "remote": _ask_hosts(machine, list(hosts)) if machine.asks_network else {"asked": False},
    }


def _helper(value: str) -> str:
    """Return the program of a credential helper. A line for the shell is left out: it may hold a secret."""
    word = value.split()[0]
    return text(word) if _HELPER.fullmatch(word) else "(a line for the shell)"


def _hosts(machine: Machine) -> dict[str, Content]:
    folder = machine.environ.get("GH_CONFIG_DIR") or machine.path(".config", "gh")
    found: dict[str, Content] = {}
    for host, entry in formats.first_table(formats.read_text(f"{folder}/hosts.yml", follows_link=True)).items():
        known = formats.table(entry)
        users = [known.get("user"), *formats.table(known.get("users"))]
        found[text(host)] = {
            "users": sorted({text(str(user)) for user in users if user}),
            "git_protocol": text(str(known.get("git_protocol") or "https")),
            "has_token": "oauth_token" in known,
        }
    return found


def _ssh_keys(machine: Machine) -> list[Content]:
    folder = machine.path(".ssh")
    found: list[Content] = []
    for name in names_in(folder):
        words = (
            (formats.read_text(f"{folder}/{name}", follows_link=True) or "").split(None, 2)
            if name.endswith(".pub")
            else []
        )
        try:
            raw = base64.b64decode(words[1], validate=True) if len(words) > 1 else b""
        except (binascii.Error, ValueError):
            continue
        if raw:
            digest = base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")
            found.append(
                {
                    "file": text(name),
                    "type": text(words[0]),
                    "fingerprint": f"SHA256:{digest}",
                    "comment": text(words[2].strip()) if len(words) > 2 else "",
                    "has_private": os.path.isfile(f"{folder}/{name.removesuffix('.pub')}"),
                }
            )
    return found


def _gh(machine: Machine) -> str | None:
    return shutil.which("gh", path=machine.environ.get("PATH", ""))


def _ask_hosts(machine: Machine, hosts: list[str]) -> Content:
    """Ask each host with `gh` who is signed in. Its error output is not kept."""
    import subprocess

    program = _gh(machine)
    if program is None:
        return {"asked": False, "reason": "gh is not installed"}
    environ = {**machine.environ, "HOME": machine.home, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"}
    answers: dict[str, object] = {}
    for host in hosts:
        words = [program, "api", "user", "--hostname", host, "--jq", ".login"]
        try:
            done = subprocess.run(
                words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            answers[host] = {"ok": False}
            continue
        login = text(done.stdout.decode("utf-8", "replace").strip())
        answers[host] = {"ok": done.returncode == 0, "login": login if done.returncode == 0 else None}
    return {"asked": True, "hosts": answers}


def scan_repos(machine: Machine) -> Content:
    """Return path, branch and remotes of the repositories in the home, a few folders deep."""
    found: list[Content] = []
    folders = [(machine.home, 0)]
    looked = 0
    while folders and len(found) < _MAX_REPOSITORIES and looked < _MAX_FOLDERS:
        folder, depth = folders.pop(0)
        looked += 1
        if os.path.exists(f"{folder}/.git"):
            found.append(describe_repository(folder))
        elif depth < _MAX_DEPTH:
            below = [name for name in names_in(folder) if name not in names("machine", "unsearched_folders")]
            folders += [
                (path, depth + 1)
                for path in (f"{folder}/{name}" for name in below)
                if os.path.isdir(path) and not os.path.islink(path)
            ]
    return {"home": machine.home, "repositories": found, "complete": not folders}


def describe_repository(folder: str) -> Content:
    """Return branch and remotes of a repository. A worktree has the remotes of the repository that it belongs to."""
    place = _git_folder(folder)
    head = (formats.read_text(f"{place}/HEAD") or "").strip()
    common = (formats.read_text(f"{place}/commondir") or "").strip()
    config = formats.read_text(os.path.normpath(os.path.join(place, common, "config")))
    remotes = {
        text(sub): _remote(value)
        for section, sub, key, value in formats.git_config(config)
        if (section, key) == ("remote", "url")
    }
    return {
        "path": text(folder),
        "branch": text(head.removeprefix("ref: refs/heads/")) if head.startswith("ref: ") else None,
        "remotes": remotes,
    }


def _git_folder(folder: str) -> str:
    place = f"{folder}/.git"
    stated = (formats.read_text(place) or "").strip() if os.path.isfile(place) else ""
    return os.path.join(folder, stated.removeprefix("gitdir: ")) if stated else place


def _remote(url: str) -> str:
    """Return the address of a remote without user, password or token."""
    head, mark, rest = url.partition("://")
    if not mark:
        return text(url)
    return text(f"{head}://{rest.rpartition('@')[2]}")
