"""The chunks of a record that become one vector each. Pure.

A chunk is a run of passages below the same headings, up to `MAX_CHARACTERS` long. Its text begins with the record's title and the
headings above it, as a paragraph seldom says what it is about. Every turn of a conversation is a chunk too.
"""

from __future__ import annotations

from collections.abc import Sequence

from oracle.domain.markdown.passages import MAX_CHARACTERS, Passage, is_conversation, speaker_of
from oracle.domain.values import value

_BETWEEN = " > "


@value
class EmbeddingChunk:
    """The text for passages `first` to `last`, numbered from 0 and inclusive."""

    text: str
    first: int
    last: int
    is_turn: bool = False


def embedding_chunks(title: str, passages: Sequence[Passage]) -> list[EmbeddingChunk]:
    """Return the chunks of a record in order, then its turns. Headings are in the texts of chunks, and belong to none."""
    runs: list[list[int]] = []
    size = 0
    for number, passage in enumerate(passages):
        if passage.is_heading:
            continue
        if not runs or passage.headings != passages[runs[-1][0]].headings or size + len(passage.text) >= MAX_CHARACTERS:
            runs.append([])
            size = 0
        runs[-1].append(number)
        size += len(passage.text) + 1
    found = [_chunk(title, passages, run) for run in runs]
    speakers = [speaker_of(passage) for passage in passages]
    if is_conversation(passages, speakers):
        turns = (at for at, speaker in enumerate(speakers) if speaker)
        found += [EmbeddingChunk(passages[at].text, at, at, is_turn=True) for at in turns]
    return found or [EmbeddingChunk(title, 0, 0)]


def _chunk(title: str, passages: Sequence[Passage], run: Sequence[int]) -> EmbeddingChunk:
    headings = [heading for heading in passages[run[0]].headings if heading.strip() != title.strip()]
    body = "\n".join(passages[number].text for number in run)
    return EmbeddingChunk(f"{_BETWEEN.join([title, *headings])}\n{body}", run[0], run[-1])
