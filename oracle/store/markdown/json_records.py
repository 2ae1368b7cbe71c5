"""Read records of the old layouts that are JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from oracle.domain.markdown import documents
from oracle.domain.markdown.documents import Document, Problem, Value
from oracle.wording import say

_PROSE_KEYS = ("body", "detail", "reason", "summary")


def parse(raw: bytes) -> Document:
    """Parse a JSON record of the old layouts: scalars become text; prose fields and evidence become the body."""
    text, problems = _decode(raw)
    content = documents.parse_json(text)
    if content is None:
        return Document({}, text, 1, {}, (*problems, Problem(_bad_line(text), say("The file is not valid JSON."))))
    if not isinstance(content, dict):
        return Document({}, text, 1, {}, (*problems, Problem(1, say("The JSON is not an object."))))
    fields = {_clean(key): _value(item) for key, item in content.items() if key not in _PROSE_KEYS or key == "detail"}
    body = "\n\n".join(
        _strings(
            [
                content.get("body", ""),
                content.get("reason", ""),
                content.get("summary", ""),
                content.get("evidence", []),
            ]
        )
    )
    return Document(fields, _clean(body), 1, {}, problems)


def _decode(raw: bytes) -> tuple[str, tuple[Problem, ...]]:
    encoding = documents.encoding_of(raw)
    if encoding != "utf-8":
        reason = say("The file is written in {encoding}; save it as UTF-8.", encoding=encoding.upper())
        return _clean(documents.text_of(raw)), (Problem(1, reason),)
    try:
        return _clean(raw.decode("utf-8-sig")), ()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        reason = say("The file is not UTF-8 from here on; bytes that can't be read were replaced.")
        return _clean(raw.decode("utf-8-sig", "replace")), (Problem(line, reason),)


def _bad_line(text: str) -> int:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return int(getattr(error, "lineno", 1))
    return 1


def _value(stated: Value) -> Value:
    if isinstance(stated, dict):
        return {_clean(key): _value(item) for key, item in stated.items()}
    if isinstance(stated, list):
        return [_value(item) for item in stated]
    return _clean(stated)


def _clean(text: str) -> str:
    """Replace what UTF-8 text cannot store: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _strings(stated: object) -> list[str]:
    if isinstance(stated, str):
        return [stated] if stated else []
    if isinstance(stated, Mapping):
        return [text for item in stated.values() for text in _strings(item)]
    if isinstance(stated, Sequence):
        return [text for item in stated for text in _strings(item)]
    return []
