"""A model on 127.0.0.1 that says what a script tells it: over OpenAI's Responses API, and over Gemini's."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Turn = dict[str, Any]
"""What the model says next: `text`, or a call of `tool` of our MCP server with `input`."""


class Endpoint(ThreadingHTTPServer):
    """Turns that are not said yet, and the requests that came."""

    daemon_threads = True

    def __init__(self, turns: list[Turn]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        self._send(404, "text/plain", b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/responses"):
            self._stream(body, as_responses)
        elif ":streamGenerateContent" in self.path:
            self._stream(body, as_gemini)
        else:  # Gemini asks a small model which model is to answer
            choice = json.dumps({"complexity_reasoning": "short", "complexity_score": 1})
            self._send(200, "application/json", json.dumps(as_gemini({"text": choice})[0]).encode())

    def _stream(self, body: dict[str, Any], form: Any) -> None:
        self.server.requests.append(body)
        if not self.server.turns:
            self._send(400, "application/json", b'{"error": {"code": 400, "message": "the script is over"}}')
            return
        lines = [f"data: {json.dumps(event)}\n\n" for event in form(self.server.turns.pop(0))]
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def as_responses(turn: Turn) -> list[dict[str, Any]]:
    """Return a turn as the events of the Responses API."""
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m"}
    if "text" in turn:
        item["content"] = [{"type": "output_text", "text": turn["text"]}]
    else:
        call = {"namespace": "mcp__oracle", "name": turn["tool"], "arguments": json.dumps(turn["input"])}
        item = {"type": "function_call", "call_id": "c", **call}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]


def as_gemini(turn: Turn) -> list[dict[str, Any]]:
    """Return a turn as the one chunk of a stream of Gemini's API."""
    call = {"name": f"mcp_oracle_{turn.get('tool')}", "args": turn.get("input")}
    part = {"text": turn["text"]} if "text" in turn else {"functionCall": call}
    return [{"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}]


@contextmanager
def scripted(turns: list[Turn]) -> Iterator[Endpoint]:
    """Serve turns until the end of the block."""
    endpoint = Endpoint(turns)
    worker = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.05})
    worker.start()
    try:
        yield endpoint
    finally:
        endpoint.shutdown()
        worker.join()
        endpoint.server_close()
