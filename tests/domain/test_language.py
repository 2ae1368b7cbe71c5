"""The language of an operator, from what they wrote last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.language import THRESHOLD, decide

CASES = {
    "english": (["please deploy it"], "en"),
    "chinese": (["请先部署，再看日志"], "zh"),
    "nothing": ([], "zh"),
    "blank": (["", " \n"], "zh"),
    "digits": (["42 + 17?"], "zh"),
    "emoji": (["👍👍"], "zh"),
    "mixed": (["请看 the log 再说"], "zh"),
    "mostly-latin": (["部署 the backend service now"], "en"),
    "traditional": (["請先部署"], "zh"),
    "rare-han": (["𠀋𠀋𠀋"], "zh"),
    "accents": (["où est le résumé"], "en"),
    "full-width": (["ｄｅｐｌｏｙ"], "en"),
    "russian": (["разверни сервис"], "zh"),
    "kana": (["デプロイしてください"], "zh"),
    "only-the-last-three": (["请先部署，再看日志，然后告诉我"] * 5 + ["yes", "go on", "deploy it"], "en"),
    "an-older-one-counts": (["请先部署，再看日志，然后告诉我结果如何", "yes", "ok"], "zh"),
    "blank-ones-don-t": (["deploy it", "", "", ""], "en"),
    "code-does-not": (["跑一下 `python3 scripts/agent_admin.py task create`"], "zh"),
    "fence-does-not": (["看这个\n```\nTraceback (most recent call last)\n```"], "zh"),
    "paths-do-not": (["看core/scripts/agent_admin.py和https://example.com/a/long/page"], "zh"),
    "commands-do-not": (["/compact 一下"], "zh"),
}


@pytest.mark.parametrize(("messages", "language"), CASES.values(), ids=CASES.keys())
def test_decides(messages: list[str], language: str):
    assert decide(messages).language == language


@pytest.mark.parametrize(("latin", "language", "is_default"), [(70, "en", False), (69, "zh", True), (30, "zh", False)])
def test_share_is_seventy_per_cent(latin: int, language: str, *, is_default: bool):
    found = decide(["a" * latin + "中" * (100 - latin)])
    assert (found.language, found.is_default, found.latin, found.letters) == (language, is_default, latin, 100)


@given(st.lists(st.text(max_size=30), max_size=6))
def test_language_follows_the_counts(messages: list[str]):
    found = decide(messages)
    assert found.chinese + found.latin <= found.letters
    assert (found.language == "en") == (found.letters > 0 and found.latin * 100 >= THRESHOLD * found.letters)
    assert found == decide([text for text in messages if text.strip()][-3:])


def test_a_very_long_message_costs_little():
    assert decide(["x" * 10_000_000]).letters == 20_000
