"""Words that stand for one another."""

from __future__ import annotations

import pytest

from oracle.domain import tables
from oracle.domain.relations.patterns import synonyms
from oracle.index.read.candidates import stemmer


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("repo", "repository"),
        ("repos", "repository"),
        ("kubernetes", "k8s"),
        ("retention", "retain"),
        ("spec", "specification"),
        ("serialised", "serialized"),
        ("analyzers", "analysers"),
        ("prioritization", "prioritisation"),
        ("artefacts", "artifact"),
    ],
)
def test_a_word_is_looked_for_as_the_others_of_its_family(word: str, other: str) -> None:
    assert other in synonyms(word)


@pytest.mark.parametrize("word", ["zeppelin", "s", "", "数据"])
def test_most_words_have_no_family(word: str) -> None:
    assert synonyms(word) == ()


def test_every_family_is_of_words_in_small_letters_that_the_stemmer_keeps_apart() -> None:
    lines = [line.split() for line in "\n".join(tables.load("synonyms").values()).split("\n")]
    assert all(word.isalnum() and word == word.lower() for line in lines for word in line)
    assert all(len(set(stemmer().stems(line).values())) > 1 for line in lines)


def test_who_is_kin_to_one_has_it_for_kin() -> None:
    known = " ".join(tables.load("synonyms").values()).split()
    assert all(word in synonyms(other) for word in known for other in synonyms(word))
