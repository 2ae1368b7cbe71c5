"""Stems are those of the full-text index, whoever asks and whatever is asked for beside."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from oracle.index.read.candidates import Stemmer


def test_a_word_that_the_tokenizer_parts_leaves_the_others_their_stems() -> None:
    odd = "a\u19b0b"  # a vowel of New Tai Lue, which is no letter for the tokenizer
    assert Stemmer().stems(["running", odd, "walks"]) == {"running": "run", odd: odd, "walks": "walk"}


def test_threads_may_ask_at_the_same_time() -> None:
    stemmer, before = Stemmer(), sys.getswitchinterval()
    asked = [[f"walks{thread}x{at}ing" for at in range(200)] for thread in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda words: [stemmer.stems([word])[word] for word in words], asked))
    finally:
        sys.setswitchinterval(before)
    alone = Stemmer().stems(chain.from_iterable(asked))
    assert found == [[alone[word] for word in words] for words in asked]
