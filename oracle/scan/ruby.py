"""What Ruby programs state: Gemfile, gemspec, Rakefile. They are never run; what is written out in them counts."""

from __future__ import annotations

import re

from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GEM = re.compile(r"""^\s*gem[\s(]+["']([\w.-]{1,100})["']((?:\s*,\s*["'][^"'\n]{1,60}["']){0,5})([^\n]{0,300})""")
_GEM_NEEDS = re.compile(
    r"""\.add_(development_|runtime_)?dependency[\s(]+(?:["']|%q<)([\w.-]{1,100})["'>](?:\.freeze)?(?:\s*,\s*\[?["']([^"'\n]{1,60})["'])?"""
)
_OPENS = re.compile(
    r"(?:\bdo\b(?:\s*\|[^|\n]{0,60}\|)?\s*$|^\s*(?:if|unless|case|begin|def|class|module|while|until)\b)"
)
_DEVELOPING = frozenset(
    """development dev test tests doc docs documentation lint linting rubocop ci tools build release benchmark benchmarks debug
    cucumber profile e2e system_test""".split()
)
_DEEPEST = 30
_NAMESPACE = re.compile(r"""\s*namespace[\s(]+[:"']?(\w+)""")
_TASKS = {
    "Rake::TestTask": "test",
    "RSpec::Core::RakeTask": "spec",
    "RuboCop::RakeTask": "rubocop",
    "Cucumber::Rake::Task": "cucumber",
}


def _lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the lines of a program, each with the lines that open the blocks around it."""
    around: list[str] = []
    deeper = 0  # blocks that are open beyond the deepest that is told apart
    for line in text.splitlines():
        plain = re.sub(r"(?:^|\s)#[^\n]*", "", line)
        if re.match(r"\s*end\b", plain) and around:
            if deeper:
                deeper -= 1
            else:
                around.pop()
            continue
        yield plain, tuple(around)
        if _OPENS.search(plain) and not re.search(r"\bend\s*$", plain):
            if len(around) < _DEEPEST:
                around.append(plain)
            else:
                deeper += 1


def read_gemfile(path: str, text: str) -> Manifest:
    """Read a Gemfile: gems and Ruby; those of groups for developing, and all beside a gemspec that it names, are for developing."""
    ruby = re.search(r"""^\s*ruby[\s(]+["']([^"'\n]{1,40})["']""", text, re.MULTILINE)
    gems: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
    names_gemspec = re.search(r"^\s*gemspec\b", text, re.MULTILINE) is not None
    for line, around in _lines(text):
        found = _GEM.match(line)
        if found:
            develops = names_gemspec or not _DEVELOPING.isdisjoint(_groups(found[3], around))
            gems[develops].append((found[1], " ".join(re.findall(r"""["']([^"']+)["']""", found[2]))))
    return Manifest(
        path,
        "ruby",
        runtimes={"ruby": ruby[1]} if ruby else {},
        dependencies=wanted(gems[False]),
        dev_dependencies=wanted(gems[True]),
    )


def _groups(options: str, around: tuple[str, ...]) -> list[str]:
    """Return the groups that a gem is of: by its own options, by the blocks around it."""
    stated = [options[options.index("group") :]] if "group" in options else []
    stated += [line for line in around if line.lstrip().startswith("group")]
    return re.findall(r"""[:"'](\w+)""", " ".join(stated))


def read_gemspec(path: str, text: str) -> Manifest:
    """Read a .gemspec: name, version, Ruby, programs and gems where they are written out."""
    stated = dict(re.findall(r"""\.(name|version)\s*=\s*["']([\w.-]{1,100})["']""", text))
    ruby = re.search(
        r"""\.required_ruby_version\s*=\s*(?:Gem::Requirement\.new\(?)?\s*\[?\s*((?:["'][^"'\n]{1,40}["'](?:\.freeze)?[,\s]*){1,4})""",
        text,
    )
    programs = re.search(r"""\.executables?\s*=\s*(?:%w[\[({]([^\])}\n]{1,300})|\[?([^\n\]]{1,300}))""", text)
    words = (
        programs[1].split()
        if programs and programs[1]
        else re.findall(r"""["']([\w.-]+)["']""", programs[2] if programs else "")
    )
    needs = _GEM_NEEDS.findall(text)
    return Manifest(
        path,
        "ruby",
        name=stated.get("name", ""),
        version=stated.get("version", ""),
        runtimes={"ruby": ", ".join(re.findall(r"""["']([^"'\n]+)["']""", ruby[1]))} if ruby else {},
        dependencies=wanted((gem, spec) for kind, gem, spec in needs if kind != "development_"),
        dev_dependencies=wanted((gem, spec) for kind, gem, spec in needs if kind == "development_"),
        entry_points=dict.fromkeys(words, "executable"),
    )


def tasks(text: str) -> list[str]:
    """Return the tasks of a Rakefile, in order, with the namespaces that they are in."""
    found: list[str] = []
    for line, around in _lines(text):
        spaces = [one[1] for one in map(_NAMESPACE.match, around) if one]
        plain = re.match(r"""\s*(?:multi)?task[\s(]+(?:[:"']([A-Za-z][\w:-]{0,60})|([a-z_]\w{0,60}):\s)""", line)
        made = re.match(r"""\s*(?:\w+\s*=\s*)?([A-Z]\w+(?:::\w+){1,3})\.new(?:[\s(]+[:"']([\w:]+))?""", line)
        name = (
            (plain[1] or plain[2]).rstrip(":")
            if plain
            else ((made[2] or _TASKS.get(made[1], "")) if made and made[1] in _TASKS else "")
        )
        found += [":".join([*spaces, name])] if name else []
    return list(dict.fromkeys(found))
