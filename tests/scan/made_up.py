"""Make a home with every kind of file that the scanners read, a made-up credential in every field of each.

The values are made when a test runs, so that no scanner of repositories finds one here.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Fakes:
    """Makes credentials by name, always the same ones, and remembers each."""

    def __init__(self) -> None:
        self.values: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return a token of a published shape."""
        return self._made("gh" + "p_", name, 36)

    def opaque(self, name: str) -> str:
        """Return letters and digits that no shape gives away."""
        return self._made("", name, 32)

    def _made(self, prefix: str, name: str, length: int) -> str:
        digits = b"".join(hashlib.sha256(f"{name}{at}".encode()).digest() for at in range(2))
        value = prefix + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digits[:length])
        self.values.add(value)
        return value


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_home(home: Path, fake: Fakes) -> dict[str, str]:
    """Fill a home; return the environment that goes with it."""
    _put_credentials(home, fake)
    _put_tools(home, fake)
    _put_git(home, fake)
    return {
        "HOME": str(home),
        "PATH": f"/usr/bin:/opt/{fake('path')}",
        "LANG": "C.UTF-8",
        "EDITOR": f"vi --token={fake('editor')}",
        "PLAIN_API_KEY": fake.opaque("environment"),
        "CLAUDE_CODE_OAUTH_TOKEN": fake("oauth-environment"),
        "HTTPS_PROXY": f"http://me:{fake.opaque('proxy')}@proxy.example:8080/{fake('proxy-path')}",
        "NO_PROXY": f"localhost,{fake('no-proxy')}",
        "OPENAI_BASE_URL": f"https://{fake('user')}@api.example/v1/{fake('endpoint')}?key={fake.opaque('query')}",
        "CLAWSEAT_PROJECT": fake("project"),
        "CLAWSEAT_WORKSPACE_ROOT": f"/srv/{fake('workspace')}",
    }


def _put_credentials(home: Path, fake: Fakes) -> None:
    files = {
        ".agents/.env.global": "export FIRST_API_KEY='{}'\nSHARED=\"{}\"\nnot a line {}\n",
        ".env": "HOME_TOKEN={} # {}\nSHARED={}\n",
        ".env.local": 'LOCAL_SECRET={}\nMULTI="a\n{}\n"\n',
        ".agents/secrets/claude/one.env": "A1={}\n",
        ".agent-runtime/secrets/two.env": "A2={}\n",
        ".gstack/secrets/three.env": "A3={}\n",
        ".openclaw/secrets/four.env": "A4={}\n",
        ".config/clawseat/five.env": "A5={}\n",
        ".config/openclaw/six.env": "A6={}\nX_BASE_URL=https://x.example/v2/{}\n",
        ".env.example": "TEMPLATE={}\n",
        ".agents/secrets/no.txt": "NOT={}\n",
    }
    for name, text in files.items():
        values = [fake.opaque(f"{name}{at}") if at % 2 else fake(f"{name}{at}") for at in range(text.count("{}"))]
        put(home / name, text.format(*values))
    (home / ".env.bin").write_bytes(b"BINARY=\0" + fake("binary").encode())
    put(home / ".agents/secrets" / f"{fake('file-name')}.env", f"{fake('key')}={fake('under-key')}\n")
    tokens = {"claudeAiOauth": {"accessToken": fake("access"), "refreshToken": fake("refresh"), fake("field"): 1}}
    put(home / ".claude/.credentials.json", json.dumps(tokens))


def _put_tools(home: Path, fake: Fakes) -> None:
    config = {
        "gateway": {"auth": {"token": fake.opaque("gateway")}, "port": 18789},
        "channels": {
            "feishu": {
                "enabled": True,
                "appSecret": fake.opaque("app"),
                "accounts": {fake("account"): {"appId": fake("app-id")}},
                "groups": {f"oc_{fake.opaque('chat')}": {"requireMention": True, "note": fake("note")}},
            }
        },
        "agents": {"list": [{"id": "koder", "model": "x/y", "phone": 13800138000}, {"id": fake("agent")}]},
        "words": [fake.opaque("list"), 3, True, None],
        fake("key-of-config"): fake("under"),
    }
    put(home / ".openclaw/openclaw.json", f"// {fake('comment')}\n" + json.dumps(config)[:-1] + ",}")
    for folder in (
        f"skills/{fake('skill')}",
        "skills/memory",
        "workspace-koder/skills/own",
        "extensions/feishu",
        "agents/main",
    ):
        (home / ".openclaw" / folder).mkdir(parents=True)
    (home / ".gstack/skills/review").mkdir(parents=True)
    (home / "ClawSeat").mkdir()
    put(home / ".agents/profiles/arena-profile-dynamic.toml", f"x = '{fake('profile')}'")
    put(home / ".agents/sessions/arena/planner/session.toml", f"x = '{fake('session')}'")
    put(home / ".clawseat/projects.json", json.dumps([{"name": "arena", "token": fake("registry")}]))


def _put_git(home: Path, fake: Fakes) -> None:
    put(
        home / ".gitconfig",
        f"""[user]
    name = {fake("git-name")}
    email = team@example.org ; {fake("git-comment")}
[init]
    defaultBranch = main
[credential]
    helper = !f() {{ echo password={fake("helper")}; }}; f
[credential "https://{fake("in-url")}@git.example/"]
    helper = store
[url "https://{fake("instead")}@github.com/"]
    insteadOf = https://github.com/
[http]
    extraHeader = "Authorization: Bearer {fake("header")}"
[core]
    editor = vi
""",
    )
    put(
        home / ".config/gh/hosts.yml",
        f"github.com:\n  user: octo\n  oauth_token: {fake('gh')}\n  git_protocol: ssh\n  {fake('gh-key')}: {fake('gh-value')}\n",
    )
    key = base64.b64encode(b"\0\0\0\x0bssh-ed25519" + b"k" * 36).decode()
    put(home / ".ssh/id_ed25519.pub", f"ssh-ed25519 {key} me@{fake('comment-of-key')}\n")
    put(home / ".ssh/id_ed25519", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{fake.opaque('private')}\n")
    put(home / ".ssh/odd.pub", f"{fake('odd')} ***\n")
    put(home / "src/app/.git/HEAD", f"ref: refs/heads/{fake('branch')}\n")
    put(
        home / "src/app/.git/config",
        f'[remote "origin"]\n\turl = https://{fake("remote")}:x@git.example/team/app.git\n[x]\n\ty = {fake("git")}\n',
    )
