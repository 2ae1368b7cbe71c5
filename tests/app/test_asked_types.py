"""Which values a question asks for, and whether a text has one: not any number will do."""

from __future__ import annotations

import pytest

from oracle.app.answers.probability import lacks_value, patterns_asked
from oracle.domain import tables

CASES = [
    ("frequency", "How often is the key changed?", "The key is changed every week.", "The key has 32 bytes."),
    ("frequency", "备份多久做一次？", "备份每天一份", "备份有 3 份"),
    ("duration", "How long do we keep the logs?", "Logs are kept for 30 days.", "Logs fill 30 volumes."),
    ("duration", "How long is the pause?", "A two-minute pause follows.", "The pause has two reasons."),
    ("duration", "日志保留多久？", "日志默认保留7天", "日志分成 7 个文件"),
    ("duration", "How many seconds may it take?", "It may take 默认10s.", "It may take 10 tries."),
    ("times", "How many times is it retried?", "It is retried five times.", "It is retried on 5 hosts."),
    ("times", "失败后重试几次？", "失败后重试三次", "失败后等三秒重试"),
    ("count", "How many tests did the suite have?", "The suite had 2,428 tests.", "The suite had 12 MB of tests."),
    ("count", "How many hosts are there?", "hosts: 12", "hosts are in 2 of our own colours, all grey"),
    ("count", "How many old revisions of a release do we keep?", "保留 3 个版本", "We keep 3 releases."),
    ("amount", "How big is the database?", "The database has 128GB.", "The database is on api-1, see ./v2/3."),
    ("amount", "数据库有多大？", "数据库约 50GB", "数据库放在 S3"),
    (
        "amount",
        "What is the maximum size of a record?",
        "A record has at most 16 MiB.",
        "A record of 2026-11-29 is large.",
    ),
    ("percent", "What percentage is covered?", "91 % are covered.", "91 files are covered."),
    ("percent", "能省几成？", "约省 15%", "约省 15 台"),
    ("default", "What is the default of pool_size?", "pool_size is 5 by default.", "pool_size: 5"),
    ("default", "pool_size 默认值", "| pool_size | 5 | 连接数 |", "pool_size: 5"),
    ("price", "What does the shield cost per month?", "It costs $3,000.", "It costs 3 weeks."),
    ("version", "Which Node version is in the image?", "The image has Node 18.", "The image has 18 layers."),
    ("version", "最低需要哪个版本？", "需要 1.28.0 以上版本", "需要 2 个节点"),
    ("date", "When was it decided?", "It was decided on 17 April.", "It was decided by 17 people."),
    ("date", "What date is it due?", "It is due next week.", "It is due, this amazing thing."),
    ("date", "它是哪天发布的？", "5月3日发布", "发布了 5 个"),
    ("moment", "When is the journal rotated?", "It is rotated at 16 MiB.", "Two journals rotate."),
    ("person", "Who holds the keys?", "The keys are with Ann.", "The keys are in 2 parts."),
    ("person", "证书由谁续期？", "证书由平台组续期", "证书一年续期"),
    ("place", "Where is the query stored?", "The query lies in `.foam/queries/`.", "The query has 3 parts."),
    ("place", "文件放在哪里？", "文件在服务器上", "文件有 3 份"),
]


@pytest.mark.parametrize(("name", "question", "has", "lacks"), CASES)
def test_a_text_has_the_value_that_is_asked_for_or_another(name: str, question: str, has: str, lacks: str) -> None:
    patterns = patterns_asked(question)
    assert len(patterns) == 1
    assert not lacks_value(patterns, has)
    assert lacks_value(patterns, lacks)


def test_every_type_has_a_case() -> None:
    assert {name for name, *_ in CASES} == tables.load("probability")["type"].keys()


@pytest.mark.parametrize(
    "question", ["Why is it retried?", "Which library does it use?", "What to do when it fails?", "最后用谁的值？"]
)
def test_a_question_that_asks_for_no_value_is_content_with_any_text(question: str) -> None:
    assert patterns_asked(question) == []
    assert not lacks_value([], "no value at all")


def test_a_question_may_ask_for_two_values() -> None:
    patterns = patterns_asked("When was it counted, and how many tests were there?")
    assert not lacks_value(patterns, "In May there were 49 tests.")
    assert lacks_value(patterns, "In May there were tests.")
    assert lacks_value(patterns, "There were 49 tests.")
