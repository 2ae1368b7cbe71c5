"""Read a Gemfile and a Rakefile. They are programs and are not run: only what is written out in them counts."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.scan.readers import Facts

_GEM = re.compile(r"""^\s*gem[\s(]+["']([\w.-]{1,100})["']((?:\s*,\s*["'][^"'\n]{1,60}["']){0,5})([^\n]{0,300})""")
_BLOCK = re.compile(
    r"(?:\bdo\b(?:\s*\|[^|\n]{0,60}\|)?\s*$|^\s*(?:if|unless|case|begin|def|class|module|while|until)\b)"
)
_NAMESPACE = re.compile(r"""\s*namespace[\s(]+[:"']?(\w+)""")
_TASK = re.compile(r"""\s*(?:multi)?task[\s(]+(?:[:"']([A-Za-z][\w:-]{0,60})|([a-z_]\w{0,60}):\s)""")
_TASK_OF_LIBRARY = re.compile(r"""\s*(?:\w+\s*=\s*)?([A-Z]\w+(?:::\w+){1,3})\.new(?:[\s(]+[:"']([\w:]+))?""")
_MAX_DEPTH = 30
_DEVELOPMENT_GROUPS = frozenset(
    """development dev test tests doc docs documentation lint linting rubocop ci tools build release benchmark benchmarks debug
    cucumber profile e2e system_test""".split()
)
_LIBRARY_TASKS = {
    "Rake::TestTask": "test",
    "RSpec::Core::RakeTask": "spec",
    "RuboCop::RakeTask": "rubocop",
    "Cucumber::Rake::Task": "cucumber",
}
"""Classes that define a task, and the name of the task unless another is stated."""


def _lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the lines of a program, each with the first lines of the blocks around it."""
    around: list[str] = []
    deeper = 0  # open blocks beyond the greatest depth that is tracked
    for line in text.splitlines():
        code = re.sub(r"(?:^|\s)#[^\n]*", "", line)
        if re.match(r"\s*end\b", code) and around:
            if deeper:
                deeper -= 1
            else:
                around.pop()
            continue
        yield code, tuple(around)
        if _BLOCK.search(code) and not re.search(r"\bend\s*$", code):
            if len(around) < _MAX_DEPTH:
                around.append(code)
            else:
                deeper += 1


def read_gemfile(_path: str, text: str) -> Facts:
    """Read a Gemfile. Gems of development groups, and all gems next to a gemspec, are for development."""
    ruby = re.search(r"""^[ \t]*ruby[\s(]+["']([^"'\n]{1,40})["']""", text, re.MULTILINE)
    has_gemspec = re.search(r"^[ \t]*gemspec\b", text, re.MULTILINE) is not None
    gems: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
    for line, around in _lines(text):
        found = _GEM.match(line)
        if found:
            is_development = has_gemspec or not _DEVELOPMENT_GROUPS.isdisjoint(_groups(found[3], around))
            gems[is_development].append((found[1], " ".join(re.findall(r"""["']([^"']+)["']""", found[2]))))
    return {
        "runtimes": {"ruby": ruby[1]} if ruby else {},
        "dependencies": gems[False],
        "dev_dependencies": gems[True],
    }


def _groups(options: str, around: tuple[str, ...]) -> list[str]:
    """Return the groups of a gem: those in its own options and those of the blocks around it."""
    stated = [options[options.index("group") :]] if "group" in options else []
    stated += [line for line in around if line.lstrip().startswith("group")]
    return re.findall(r"""[:"'](\w+)""", " ".join(stated))


def rake_tasks(text: str) -> list[str]:
    """Return the tasks of a Rakefile with their namespaces, in order."""
    found: list[str] = []
    for line, around in _lines(text):
        namespaces = [one[1] for one in map(_NAMESPACE.match, around) if one]
        own, of_library = _TASK.match(line), _TASK_OF_LIBRARY.match(line)
        name = (own[1] or own[2]).rstrip(":") if own else ""
        if not own and of_library and of_library[1] in _LIBRARY_TASKS:
            name = of_library[2] or _LIBRARY_TASKS[of_library[1]]
        found += [":".join([*namespaces, name])] if name else []
    return list(dict.fromkeys(found))
