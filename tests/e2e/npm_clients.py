"""Codex and Gemini as seats: the real clients from npm, offline, for one turn or in a pane.

`ORACLE_CLIENTS` names the folder that npm installed them in, else `.cache/clients` of the checkout. With
`ORACLE_CLIENTS_NEEDED=1` a client that is missing is a failure. Both are read before tests empty the environment.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oracle.cli.main import run
from tests.e2e.model_endpoint import Endpoint, Turn, scripted
from tests.wake.stage import Stage, until

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CLIENTS = Path(os.environ.get("ORACLE_CLIENTS") or CHECKOUT / ".cache" / "clients")
IS_NEEDED = os.environ.get("ORACLE_CLIENTS_NEEDED") == "1"
PATH = os.environ["PATH"]
"""The search path outside of tests: npm's clients look for node there."""


class Client:
    """One seat: its home, its workspace, and what reached the model."""

    tool = ""

    def __init__(self, folder: Path) -> None:
        self.home, self.workspace = folder / f"{self.tool}-home", folder / f"{self.tool}-work"
        self.home.mkdir()
        self.workspace.mkdir()
        self.requests: list[dict[str, Any]] = []
        self.extra: dict[str, str] = {}

    @classmethod
    def program(cls) -> Path:
        return CLIENTS / "node_modules" / ".bin" / cls.tool

    @classmethod
    def why_missing(cls) -> str:
        """Return what is missing, "" if nothing is, or if a missing client is to fail the test."""
        return "" if IS_NEEDED or cls.program().exists() else f"no {cls.tool} is installed in {CLIENTS} (npm, .ci/run)"

    def install_hook(self, root: str, *words: str) -> None:
        where = ["--tool", self.tool, "--workspace", str(self.workspace), "--memory-dir", root]
        assert run(["hook", "install", *where, *words]) == 0

    def trust(self) -> None:
        """Do what the advice of `oracle hook install` says."""
        raise NotImplementedError

    def configure(self, printed: str) -> None:
        """Do what the note of `oracle mcp --print-config` says."""
        raise NotImplementedError

    def ask(self, prompt: str, *turns: Turn) -> str:
        """Run one turn in which the model says `turns`. Return what the client prints."""
        with scripted(list(turns)) as endpoint:
            done = self._run(*self.words(endpoint), prompt, environ=self.environ(endpoint))
        self.requests = endpoint.requests
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def started(self, stage: Stage, session: str, endpoint: Endpoint) -> Iterator[str]:
        """Run the client in a pane. Give the pane's id once it takes prompts."""
        clean = {"HOME": str(self.home), "PATH": PATH, "TERM": "screen-256color", "LANG": "C.UTF-8"}
        environ = [f"{key}={value}" for key, value in {**clean, **self.environ(endpoint), **self.extra}.items()]
        own = 'TMUX="$TMUX" TMUX_PANE="$TMUX_PANE"'
        words = shlex.join([str(self.program()), *self.options(endpoint)])
        command = f"cd {shlex.quote(str(self.workspace))}; exec env -i {shlex.join(environ)} {own} {words}"
        pane = stage.session(session, command)
        process = int(stage.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))
        try:
            until(lambda: self.ready in stage.shows(pane), "the client is ready")
            yield pane
        finally:
            os.kill(process, signal.SIGKILL)

    ready = ""
    """What the input box shows while it is empty."""

    def words(self, endpoint: Endpoint) -> list[str]:
        """Return the words of a turn without a screen; the prompt comes last."""
        raise NotImplementedError

    def options(self, endpoint: Endpoint) -> list[str]:
        return []

    def environ(self, endpoint: Endpoint) -> dict[str, str]:
        return {}

    def results(self) -> list[str]:
        """Return the results of tools in the last request, as the client words them."""
        raise NotImplementedError

    def _run(self, *words: str, environ: dict[str, str], said: str = "") -> subprocess.CompletedProcess[str]:
        clean = {"HOME": str(self.home), "PATH": PATH, "TERM": "xterm", "LANG": "C.UTF-8"}
        return subprocess.run(
            [str(self.program()), *words],
            cwd=self.workspace,
            env={**clean, **environ, **self.extra},
            input=said,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


class Codex(Client):
    """Codex, with a model provider of its own."""

    tool = "codex"
    ready = "Ask Codex to do anything"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.config = self.home / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text(f"[projects.{json.dumps(str(self.workspace))}]\ntrust_level = 'trusted'\n")

    def trust(self) -> None:
        """Accept the hooks as `/hooks` does, through the same interface of the client."""
        asked = [
            {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "0"}}},
            {"method": "initialized"},
            {"id": 1, "method": "hooks/list", "params": {"cwds": [str(self.workspace)]}},
        ]
        (found,) = self._serve(asked)["data"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found["hooks"]}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        assert self._serve([*asked[:2], {"id": 1, "method": "config/batchWrite", "params": {"edits": [edit]}}])

    def configure(self, printed: str) -> None:
        approved = 'default_tools_approval_mode = "approve"\n'  # nobody is there to be asked
        path = self.workspace / ".codex" / "config.toml"
        path.parent.mkdir()
        path.write_text(printed + approved)

    def _serve(self, asked: list[dict[str, Any]]) -> Any:
        """Return the result of the message with the id 1."""
        clean = {"HOME": str(self.home), "PATH": PATH}
        server = subprocess.Popen(
            [str(self.program()), "app-server"],
            cwd=self.workspace,
            env=clean,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdin
        assert server.stdout
        with server:
            server.stdin.write("".join(json.dumps(message) + "\n" for message in asked))
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            result = next(answer for answer in answers if answer.get("id") == 1)["result"]
            server.stdin.close()
        return result

    def words(self, endpoint: Endpoint) -> list[str]:
        return ["exec", "--strict-config", "--skip-git-repo-check", *self.options(endpoint)]

    def options(self, endpoint: Endpoint) -> list[str]:
        provider = {"name": "test", "base_url": f"{endpoint.url}/v1", "wire_api": "responses", "request_max_retries": 0}
        given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in provider.items())
        settings = ("model='test'", "model_provider='test'", f"model_providers.test={{{given}}}")
        return [word for setting in settings for word in ("-c", setting)]

    def results(self) -> list[str]:
        return [item["output"] for item in self.requests[-1]["input"] if item["type"] == "function_call_output"]


class Gemini(Client):
    """Gemini, with a key that nobody checks."""

    tool = "gemini"
    ready = "Type your message"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        path = self.home / ".gemini" / "settings.json"
        path.parent.mkdir()
        path.write_text(json.dumps({**settings, "privacy": {"usageStatisticsEnabled": False}}))

    def trust(self) -> None:
        """Trust the folder as the client's dialog does."""
        trusted = {str(self.workspace): "TRUST_FOLDER"}
        (self.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))

    def configure(self, printed: str) -> None:
        path = self.workspace / ".gemini" / "settings.json"
        path.parent.mkdir()
        content = json.loads(printed)
        content["mcpServers"]["oracle"]["trust"] = True  # nobody is there to be asked
        path.write_text(json.dumps(content))

    def words(self, endpoint: Endpoint) -> list[str]:
        return ["-p"]

    def environ(self, endpoint: Endpoint) -> dict[str, str]:
        beside = {"GEMINI_CLI_NO_RELAUNCH": "true"}  # one process, so that it ends with its pane
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": endpoint.url, **beside}

    def results(self) -> list[str]:
        parts = [part for content in self.requests[-1]["contents"] for part in content["parts"]]
        return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
