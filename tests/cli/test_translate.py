"""Every sentence has its translation, no sentence escapes translation, and what is no sentence is left as it is."""

from __future__ import annotations

import ast
import json
import re
import string
import subprocess
import sys
from functools import cache
from pathlib import Path

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.app.settings import LANGUAGES
from oracle.cli import help as parser
from oracle.cli import session
from oracle.cli.application import EPILOG
from oracle.cli.i18n import translate
from oracle.cli.output import cells, padded, wrap
from oracle.domain import timestamps
from oracle.wording import from_json, joined, say, say_many, spoken, to_json
from tests import catalogues
from tests.cli.transcript import call

RENEW = "renew the catalogue with `make catalogues`, then translate what it names (references/translating.md)"
ENGLISH_ALONE = ("oracle/compat/",)
"""What programs read: the bytes of these never change."""

ODD = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("{}%\n\\!:中文。"), max_size=20)


@pytest.fixture
def oracle(root, monkeypatch):
    monkeypatch.setenv("ORACLE_ROOT", str(root))

    def ask(*words: str) -> tuple[int, str, str]:
        return call(list(words), monkeypatch)

    yield ask
    translate.set_language(translate.ENGLISH)


# The catalogues -------------------------------------------------------------------------------------------------------


EVERY_CATALOGUE = pytest.mark.parametrize("path", catalogues.paths(), ids=lambda path: path.stem)


def entries(path: Path) -> dict[tuple[str, str], polib.POEntry]:
    found = polib.pofile(str(path))
    assert not [entry.msgid for entry in found if entry.obsolete or entry.fuzzy]
    return {(entry.msgctxt or "", entry.msgid): entry for entry in found}


def told(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def test_a_language_is_one_that_has_a_catalogue():
    assert sorted(LANGUAGES) == sorted(["auto", translate.ENGLISH, *(path.stem for path in catalogues.paths())])


@EVERY_CATALOGUE
def test_the_catalogue_holds_every_sentence_and_no_other(path):
    texts, found = catalogues.texts(), entries(path)
    assert sorted(set(texts) - set(found)) == [], f"sentences without an entry: {RENEW}"
    assert sorted(set(found) - set(texts)) == [], f"entries without a sentence: {RENEW}"
    assert {key: entry.msgid_plural for key, entry in found.items()} == texts


@EVERY_CATALOGUE
def test_every_entry_is_translated_with_the_same_values(path):
    forms = catalogues.forms_of(polib.pofile(str(path)))
    for (context, english), entry in entries(path).items():
        assert len(told(entry)) == (forms if entry.msgid_plural else 1), f"{english!r} lacks a form: {RENEW}"
        for text in told(entry):
            assert text, f"{english!r} has no translation: {RENEW}"
            if context != translate.HELP:
                assert catalogues.placeholders(text) == catalogues.placeholders(english), english


KEPT = re.compile(
    r"`[^`]*`|(?<![\w-])--[a-z][a-z-]+|not_in_\w+|TASK_ALREADY_QUEUED|BLOCKED|seat_needed|\w+\.(?:md|json|toml)\b"
)


@EVERY_CATALOGUE
def test_codes_commands_flags_and_files_are_the_same_in_translation(path):
    for (_, english), entry in entries(path).items():
        for text in told(entry):
            assert sorted(set(KEPT.findall(english)) - set(KEPT.findall(text))) == [], english


OTHER_WORDS = {
    "zh": re.compile(
        r"智能体|代理(?!对)|决策|您|打印|凭证|仓库|论断|排练|转录文件|附加组件|中心(?!库)|\bRoot\b|。 | 。|…… "
    )
}
"""Words of a language for which the page on translating names another one, and blanks that its full stop needs none of."""


@EVERY_CATALOGUE
def test_a_concept_has_one_word(path):
    other = OTHER_WORDS[path.stem]
    assert [text for entry in entries(path).values() for text in told(entry) if other.search(text)] == []


@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [
        (say("{age} ago", age=timestamps.say_age(240)), "4 分钟前"),
        (say("{age} left", age=timestamps.say_age(7200)), "剩 2 小时"),
        (
            say("{what} {hint}", what=say("Nothing was found."), hint=say("See `oracle handoffs`.")),
            "什么也没找到。见 `oracle handoffs`。",
        ),
    ],
)
def test_what_is_put_into_a_chinese_sentence_needs_no_blank(sentence, chinese):
    translate.set_language("zh")
    try:
        assert spoken(sentence) == chinese
    finally:
        translate.set_language(translate.ENGLISH)


# No sentence escapes --------------------------------------------------------------------------------------------------


@cache
def error_classes() -> set[str]:
    """Return the names of the errors, wherever they are defined."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for _, tree in catalogues.modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"OracleError"}
    while more := {name for name, those in bases.items() if those & found} - found:
        found |= more
    return found


CODED = {"Skipped", "Unreadable", "_Unreadable"}
"""Errors whose first argument is a code, or a line."""

PRINTERS = {
    "warn",
    "_warn",
    "report",
    "print_line",
    "print_lines",
    "tell",
    "write_out",
    "visible",
    "visible_lines",
    "emphasise",
}
CHECKS = {"passed": (1,), "note": (1, 2), "error": (1, 2), "warning": (1, 2)}
"""The findings of the doctor, by the arguments that are sentences."""

SHELL = re.compile(r"(?:chmod|rm|sudo|touch|printf) ")
OURSELVES = re.compile(r"oracle\b\S*$")


def named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def words_in(node: ast.expr) -> str:
    """Return the bare words of an expression that are for people, "" when it has none: those of a template are not seen here."""
    if isinstance(node, ast.IfExp):
        return words_in(node.body) + words_in(node.orelse)
    if isinstance(node, ast.BoolOp):
        return "".join(map(words_in, node.values))
    if isinstance(node, ast.List | ast.Tuple):
        return "".join(map(words_in, node.elts))
    if isinstance(node, ast.BinOp):
        return words_in(node.left) + words_in(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "format"):
        return words_in(node.func.value) + "".join(words_in(part) for part in node.args)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return (
        text if re.search(r"[A-Za-z]{2}", text) and not SHELL.match(text) and not OURSELVES.match(text.strip()) else ""
    )


def sentences(call: ast.Call, path: str) -> list[ast.expr]:
    """Return the arguments of a call that a person reads."""
    name = named(call.func)
    if name in error_classes():
        return [
            *call.args[name in CODED :],
            *(word.value for word in call.keywords if word.arg in ("hint", "sentence")),
        ]
    if name == "Table":
        return list(call.args[0].elts) if isinstance(call.args[0], ast.Tuple) else []
    if name in CHECKS and path.startswith("oracle/app/doctor/"):
        return [call.args[at] for at in CHECKS[name] if at < len(call.args)]
    if name == "note" and isinstance(call.func, ast.Attribute) and named(call.func.value) == "call":
        return call.args[:1]
    return call.args[:1] if name in PRINTERS else []


def escaped(path: str, tree: ast.Module) -> list[str]:
    return [
        f"{path}:{node.lineno}: {ast.unparse(argument)[:100]}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in sentences(node, path)
        if words_in(argument)
    ]


def test_every_error_warning_finding_and_line_is_said_by_a_template():
    """A bare string or f-string there is English for ever: say it with `oracle.wording.say`."""
    found = [
        place
        for path, tree in catalogues.modules()
        if not path.startswith(ENGLISH_ALONE)
        for place in escaped(path, tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'raise UsageError("The title is empty.")',
        'raise UsageError(say("x"), hint=f"Choose {name}.")',
        'raise NotFound("no " + name)',
        'raise NotFound(say("x") if a else "The file is gone")',
        'call.warn(f"{name} is stale")',
        'print_line("; ".join(["one is", name]))',
        'Table(("slug", "when"), rows)',
        'write_out(f"made {visible(path)}\\n")',
    ],
)
def test_a_sentence_that_escapes_is_found(line):
    assert escaped("oracle/cli/x.py", ast.parse(line))


WRITE_ENGLISH = tuple(
    f"oracle/{name}"
    for name in (
        *(
            "app/answers/owner_programs.py",
            "app/decisions/handover.py",
            "app/memories/keep.py",
            "app/memories/remember.py",
            "app/records/memory_index.py",
            "app/records/retire.py",
            "app/search/models.py",
        ),
        *(f"app/delivery/{name}.py" for name in ("deliver", "dispatch", "divergent", "steps")),
        *("app/queries/attend.py", "app/queries/packet.py"),
        *("app/prompting/brief.py", "app/prompting/context_for.py", "domain/injection/envelope.py"),
        *(f"app/teamwork/{name}.py" for name in ("integration", "peers", "rehearsal", "workflow", "workspaces")),
        *("daemon/", "hook/skills.py", "hook/stop.py", "domain/values.py", "compat/", "mcp/"),
        *("domain/experiences/", "domain/skills/catalogue.py"),
    )
)
"""Modules with sentences that go into records, receipts, packets, wake-ups, logs and to models, or that nobody reads."""

SENTENCE = re.compile(r"[A-Z{`].*[a-z})`'\"] ?[.?!…]\s*", re.DOTALL)


def bare_sentences(tree: ast.Module) -> list[str]:
    """Return the whole sentences of a module that are no template, no docstring, no help and no part of another text."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and named(node.func) in (*catalogues.SAYERS, "option", "argument", "group"):
            skipped |= {id(part) for argument in (*node.args, *node.keywords) for part in ast.walk(argument)}
        elif isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
        elif isinstance(node, ast.Expr):
            skipped.add(id(node.value))
    texts = [words_of(node) for node in ast.walk(tree) if id(node) not in skipped]
    return [text for text in texts if SENTENCE.fullmatch(text) and len(text.split()) > 2]


def words_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_no_sentence_is_put_together_elsewhere_and_said_later():
    found = {path: bare_sentences(tree) for path, tree in catalogues.modules() if not path.startswith(WRITE_ENGLISH)}
    assert {path: texts for path, texts in found.items() if texts} == {"oracle/cli/application.py": [EPILOG]}
    assert bare_sentences(ast.parse('reason = f"The file {name} is gone."')) == ["The file {} is gone."]


def test_every_template_stands_where_it_is_said():
    """What is put together elsewhere can't be found for the catalogues."""
    allowed = {"oracle/wording.py", "oracle/domain/names.py", "oracle/cli/help.py"}
    found = [
        f"{path}:{call.lineno}"
        for path, tree in catalogues.modules()
        if path not in allowed
        for call, given in catalogues.sayings(tree)
        if any(catalogues.constant(text) is None and named(text) != "LIST" for text in given)
    ]
    assert found == []


def test_values_of_a_template_are_plain_names():
    for _, english in (key for key in catalogues.texts() if key[0] != translate.HELP):
        names = [name for _, name, _, _ in string.Formatter().parse(english) if name is not None]
        assert [name for name in names if not name.isidentifier()] == [], english


# Speaking -------------------------------------------------------------------------------------------------------------


@cache
def templates() -> list[tuple[str, str]]:
    return sorted(
        (english, many) for (context, english), many in catalogues.texts().items() if context != translate.HELP
    )


TEMPLATES = st.deferred(lambda: st.sampled_from(templates()))
NUMBERS = re.compile(r"[,.]?\d*[defgoxX%]$")


def values_of(template: str, texts: list[str]) -> dict[str, object]:
    """Return a value for each name: a number where one is printed as such, else one of the texts."""
    fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    taken = iter(texts * len(fields))
    return {
        name: 7 if name == "n" or (spec and NUMBERS.search(f"{spec}")) or spec == "," else next(taken)
        for name, spec in fields
    }


@given(TEMPLATES, st.lists(ODD, min_size=1, max_size=3))
def test_any_sentence_is_translated_whatever_its_values(template, texts):
    english, many = template
    values = values_of(english, texts)
    said = say_many(english, many, **{"n": 7, **values}) if many else say(english, **values)
    told = translate.load("zh").translate(said)
    for name, value in values.items():
        if isinstance(value, str) and f"{{{name}}}" in english:
            assert value in told


@given(TEMPLATES, ODD)
def test_any_sentence_read_back_from_json_is_translated_like_the_original(template, text):
    english, many = template
    values = values_of(english, [text])
    said = say_many(english, many, **{"n": 7, **values}) if many else say(english, **values)
    again = from_json(json.loads(json.dumps(to_json(said))))
    assert (again, translate.load("zh").translate(again)) == (said, translate.load("zh").translate(said))


def test_a_sentence_in_a_sentence_is_translated_too():
    said = say("index: {why}; rebuilt", why=joined(" and ", [say("there was none"), "zz"]))
    assert translate.load("zh").translate(said) == "索引：没有索引 和 zz；已重建"


def test_what_the_system_gives_for_a_reason_is_translated_as_a_value():
    said = say("{path} could not be written: {reason}.", path="Permission", reason="Permission denied")
    assert translate.load("zh").translate(said) == "Permission 写不进去：没有权限。"


def test_a_sentence_that_the_catalogue_lacks_is_english():
    assert translate.load("zh").translate(say("Unheard of: {what}.", what="x")) == "Unheard of: x."


POLISH = """
msgid ""
msgstr "Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"

msgid "{n} error"
msgid_plural "{n} errors"
msgstr[0] "{n} błąd"
msgstr[1] "{n} błędy"
msgstr[2] "{n} błędów"

msgctxt "help"
msgid "Usage: "
msgstr "Użycie: "
"""


@pytest.fixture
def polish(tmp_path, monkeypatch):
    """A language that nothing but its catalogue and the list of languages names."""
    (tmp_path / "pl.po").write_text(POLISH, encoding="utf-8")
    monkeypatch.setattr(translate, "CATALOGUES", str(tmp_path))
    monkeypatch.setattr(session, "LANGUAGES", (*LANGUAGES, "pl"))
    translate.load.cache_clear()
    yield
    translate.load.cache_clear()
    translate.set_language(translate.ENGLISH)


@pytest.mark.parametrize(("count", "told"), [(1, "1 błąd"), (3, "3 błędy"), (5, "5 błędów"), (12, "12 błędów")])
def test_the_catalogue_says_which_form_belongs_to_a_number(polish, count, told):
    assert translate.load("pl").translate(say_many("{n} error", "{n} errors", n=count)) == told


def test_another_language_needs_its_catalogue_alone(polish, oracle, monkeypatch):
    monkeypatch.setenv("LANG", "pl_PL.UTF-8")
    for words in (("--lang", "pl", "--help"), ("--lang", "auto", "--help")):
        assert oracle(*words)[1].startswith("Użycie: ")


# The option -----------------------------------------------------------------------------------------------------------

ABSENT = {"en": "not_in_memory_db: no record zzz.", "zh": "not_in_memory_db: 没有记录 zzz。"}


@pytest.mark.parametrize(
    "words",
    [("--lang", "zh", "show", "zzz"), ("show", "zzz", "--lang=zh"), ("--lang", "en", "show", "--lang", "zh", "zzz")],
)
def test_the_option_stands_before_or_after_the_command(oracle, words):
    oracle("init")
    assert oracle(*words)[2].startswith(ABSENT["zh"])


def test_english_is_spoken_unless_another_language_is_asked_for(oracle, monkeypatch):
    oracle("init")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert oracle("show", "zzz")[2].startswith(ABSENT["en"])
    oracle("--lang", "zh", "show", "zzz")
    assert oracle("show", "zzz")[2].startswith(ABSENT["en"])


def test_the_environment_and_the_configuration_ask_too(oracle, root, monkeypatch):
    oracle("init")
    (root / "config.toml").write_text('language = "zh"\n', encoding="utf-8")
    assert oracle("show", "zzz")[2].startswith(ABSENT["zh"])
    monkeypatch.setenv("ORACLE_LANG", "en")
    assert oracle("show", "zzz")[2].startswith(ABSENT["en"])
    assert oracle("--lang", "zh", "show", "zzz")[2].startswith(ABSENT["zh"])


@pytest.mark.parametrize("content", ["language = 1\n", "language = \n", 'language = "fr"\n', "\xff"])
def test_a_configuration_that_names_no_language_stops_nothing(oracle, root, content):
    oracle("init")
    (root / "config.toml").write_text(content, encoding="latin-1")
    assert ABSENT["en"] in oracle("show", "zzz")[2]


@pytest.mark.parametrize(
    ("stated", "told"), [('"fr"', "'fr'"), ("1", "'1'"), ('["zh"]', "\"['zh']\""), ('"\\u001b[31m"', "'\\x1b[31m'")]
)
def test_a_configuration_that_names_another_language_is_told_so_once(oracle, root, stated, told):
    oracle("init")
    (root / "config.toml").write_text(f"language = {stated}\n", encoding="utf-8")
    code, out, err = oracle("config", "get", "root", "--json")
    assert (code, json.loads(out)["root"]) == (0, str(root))
    assert err == f"warning: config.toml: Unknown language {told}. Choose one of auto, zh, en.\n"
    assert oracle("--lang", "zh", "config", "get", "root")[2] == ""


@pytest.mark.parametrize(
    ("name", "value", "language"),
    [("LANG", "zh_CN.UTF-8", "zh"), ("LANG", "de_DE", "en"), ("LANGUAGE", "zh_TW:en", "zh"), ("LC_ALL", "C", "en")],
)
def test_auto_goes_by_the_locale(oracle, monkeypatch, name, value, language):
    oracle("init")
    for other in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    assert oracle("--lang", "auto", "show", "zzz")[2].startswith(ABSENT[language])


@pytest.mark.parametrize(("typed", "language"), [("请看一下这个问题", "zh"), ("please have a look at this", "en")])
def test_auto_goes_by_what_the_operator_typed(oracle, tmp_path, monkeypatch, typed, language):
    oracle("init")
    monkeypatch.setenv("LANG", "en_US.UTF-8" if language == "zh" else "zh_CN.UTF-8")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(Path.cwd()))
    folder.mkdir(parents=True)
    line = {"type": "user", "message": {"role": "user", "content": typed}}
    (folder / "session.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert oracle("--lang", "auto", "show", "zzz")[2].startswith(ABSENT[language])


def test_a_language_that_there_is_not_is_a_mistake(oracle, monkeypatch):
    code, out, err = oracle("--lang", "fr", "config", "get", "root")
    assert (code, out, err) == (2, "", "Unknown language 'fr'.\nhint: Choose one of auto, zh, en.\n")
    monkeypatch.setenv("ORACLE_LANG", "fr")
    assert oracle("config", "get", "root")[0] == 2


def test_what_stands_behind_a_double_dash_is_no_option(oracle):
    oracle("init")
    assert oracle("search", "--", "--lang", "fr")[2].startswith("not_in_memory_db: nothing was found for '--lang fr'.")


def test_json_codes_and_exit_codes_are_the_same_in_every_language(oracle):
    oracle("init")
    for words in (
        ("show", "zzz"),
        ("list", "--limit", "x"),
        ("index", "status"),
        ("doctor",),
        ("backlinks", "entity:taskid:A-1"),
    ):
        english, chinese = (oracle("--lang", language, *words, "--json") for language in ("en", "zh"))
        assert (chinese[0], chinese[2]) == (english[0], english[2])
        assert re.sub(r'"last_full_stat": .*', "", chinese[1]) == re.sub(r'"last_full_stat": .*', "", english[1])
        assert oracle("--lang", "zh", *words)[0] == english[0]


def test_english_loads_no_catalogue():
    check = "import sys; from oracle.cli.main import run; run(['index', 'status']); sys.exit('polib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False, cwd=catalogues.CHECKOUT
    )
    assert (done.returncode, done.stderr[:4]) == (0, "The ")


# Layout ---------------------------------------------------------------------------------------------------------------


def test_a_chinese_letter_is_two_cells_wide():
    assert [cells(text) for text in ("", "abc", "中文", "a中，")] == [0, 3, 4, 5]
    assert padded("根目录", 8) == "根目录  "


@given(st.text("中文字，。（）ab -", max_size=60), st.integers(4, 30))
def test_a_wrapped_paragraph_is_the_paragraph_and_no_line_too_wide(text, width):
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert cells(line) <= width or not re.search(r"[\s]|[\u4e00-\u9fff].*[\u4e00-\u9fff]", line.strip())


def test_no_line_begins_with_a_closing_mark():
    assert [line[0] for line in wrap("一二三四，五六七八。九十", 8) if line[0] in "，。"] == []


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"no catalogue\n", b'msgid "There'])
def test_without_a_catalogue_that_can_be_read_english_is_spoken(tmp_path, monkeypatch, content):
    monkeypatch.setattr(translate, "CATALOGUES", str(tmp_path))
    path = tmp_path / "zh.po"
    if content is not None:
        path.write_bytes(content)
    catalogue = translate.load.__wrapped__("zh")
    assert catalogue.translate(say("There is no {what}.", what="way")) == "There is no way."
    assert catalogue.translate_help("Print JSON.") == "Print JSON."


@pytest.mark.parametrize("wrong", ["{nobody}", "{}", "{0}", "{", "{what.real}"])
def test_a_translation_that_can_not_be_filled_is_english(wrong):
    catalogue = translate.Catalogue({"There is no {what}.": (f"没有 {wrong}",)}, {}, "")
    assert catalogue.translate(say("There is no {what}.", what="way")) == "There is no way."


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("Missing argument 'ID'.", "缺少参数 'ID'。"),
        ("Invalid value for 'N': 'x' is not a whole number.", "'N' 的值无效：'x' 不是整数。"),
        ("default: 20", "默认：20"),
        ("some other text", "some other text"),
    ],
)
def test_texts_of_the_parser_are_translated(text, chinese):
    translate.set_language("zh")
    try:
        assert spoken(parser.find_sentence(text, parser.ERRORS + parser.NOTES)) == chinese
    finally:
        translate.set_language("en")


def test_who_wrote_a_record_of_another_seat_is_said_in_chinese_everywhere(oracle):
    words = ("--title", "Which queue", "--body", "The queue is NATS.", "--author", "planner")
    assert oracle("write", "decision", "--project", "shop", *words)[0] == 0
    for command in (("list",), ("search", "queue"), ("ask", "--now", "Which queue?")):
        _, said, _ = oracle("--lang", "zh", *command)
        assert "memory（作者 planner）" in said, command
    assert "memory (by planner)" in oracle("--lang", "en", "list")[1]
