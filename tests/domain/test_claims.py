"""Try how evidence stands against files: quotes at their lines, moved, gone; values at paths, types included."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.records.responses import Claim, ClaimedQuote, Expected, confidence_of, paths_of, read_claims
from oracle.domain.records.verdicts import (
    NOWHERE,
    CitedFile,
    Verdict,
    check,
    check_quote,
    equals,
    fold,
    look_up,
    parse_place,
)
from oracle.errors import UsageError
from tests.growth import costs_at_most, grows_linearly

FILE = "# Title\n\nWe chose option B,\n  because it is\tfaster.\n\nLater: option B again.\r\n结论：采用方案甲。\n"


@pytest.mark.parametrize(
    ("quote", "lines", "verdict", "found"),
    [
        ("option B", (3, 3), Verdict.VERIFIED, (3, 3)),
        ("option B", (6, 6), Verdict.VERIFIED, (6, 6)),
        ("option B", (1, 99), Verdict.VERIFIED, (3, 3)),
        ("option B, because it is faster.", (3, 4), Verdict.VERIFIED, (3, 4)),
        ("option B,\n\n because   it is faster.", (3, 4), Verdict.VERIFIED, (3, 4)),
        ("option B, because it is faster.", (3, 3), Verdict.MOVED, (3, 4)),
        ("采用方案甲", (7, 7), Verdict.VERIFIED, (7, 7)),
        ("采用方案甲", (1, 2), Verdict.MOVED, (7, 7)),
        ("option B", (5, 5), Verdict.MOVED, (6, 6)),
        ("option B", (90, 99), Verdict.MOVED, (6, 6)),
        ("option B", (1, 1), Verdict.MOVED, (3, 3)),
        ("option B", None, Verdict.VERIFIED, (3, 3)),
        ("Option B", (3, 3), Verdict.MISMATCH, None),
        ("optionB", (3, 3), Verdict.MISMATCH, None),
        (" \n ", (3, 3), Verdict.MISMATCH, None),
    ],
)
def test_a_quote_is_found_where_it_stands(
    quote: str, lines: tuple[int, int] | None, verdict: Verdict, found: tuple[int, int] | None
) -> None:
    finding = check_quote(ClaimedQuote("a.md", quote, lines), fold(FILE))
    assert (finding.verdict, finding.lines) == (verdict, found)
    assert bool(finding.reason) is (verdict is not Verdict.VERIFIED)


WORDS = st.lists(st.sampled_from(["a", "b", "ab", "项", "\n", "\r\n", "\r", " ", "\t", "\n\n"]), max_size=30)


@given(WORDS, st.integers(0, 30), st.integers(1, 30), st.data())
def test_a_quote_cut_from_a_text_is_verified_at_just_its_lines(
    pieces: list[str], start: int, length: int, data: st.DataObject
) -> None:
    text = "".join(pieces).replace("\r\n", "\n").replace("\r", "\n")
    cut = text[start : start + length]
    if not cut.split():
        return
    begin = start + len(cut) - len(cut.lstrip())
    first = text[:begin].count("\n") + 1
    last = first + cut.strip().count("\n")
    blanks = data.draw(st.sampled_from([" ", "\n", " \t ", "\u3000"]))
    quote = ClaimedQuote("f", blanks.join(cut.split()), (first, last))
    assert check_quote(quote, fold("".join(pieces))).verdict is Verdict.VERIFIED
    unstated = check_quote(ClaimedQuote("f", quote.quote), fold("".join(pieces)))
    assert unstated.lines is not None
    assert unstated.lines <= (first, last)


@given(WORDS.map("".join), WORDS.map("".join), st.integers(1, 9), st.integers(0, 9))
def test_the_verdict_on_any_quote_is_that_of_a_search_line_by_line(
    text: str, quote: str, first: int, more: int
) -> None:
    finding = check_quote(ClaimedQuote("f", quote, (first, first + more)), fold(text))
    wanted = " ".join(quote.split())
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    inside = " ".join(" ".join(lines[first - 1 : first + more]).split())
    everywhere = " ".join(" ".join(lines).split())
    if not wanted or wanted not in everywhere:
        assert finding.verdict is Verdict.MISMATCH
    else:
        assert finding.verdict is (Verdict.VERIFIED if wanted in inside else Verdict.MOVED)


CONTENT = {
    "a": [{"b": 1, "c.d": "x"}],
    "0": "zero",
    "n": None,
    "t": True,
    "f": 1.0,
    "s": "1",
    "k/v": 2,
    "x": {"y.z": {"w": 3}},
}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("$.a[0].b", 1),
        ("a.0.b", 1),
        ("a/0/b", 1),
        ("/a/0/b", 1),
        ("$.a[-1]['b']", 1),
        ('$["a"][0]["c.d"]', "x"),
        ("a.0.c.d", "x"),
        ("x.y.z.w", 3),
        ("x/y.z/w", 3),
        ("k/v", 2),
        ("['k/v']", 2),
        ("0", "zero"),
        ("n", None),
        ("t", True),
        ("f", 1.0),
        ("$", CONTENT),
    ],
)
def test_a_value_is_found_by_every_form_of_its_path(place: str, value: object) -> None:
    report = check(
        [Claim("s", (Expected("f.json", place, value),))], {"f.json": CitedFile(json.dumps(CONTENT).encode())}
    )
    assert report.all_verified is True


@pytest.mark.parametrize(
    ("place", "value", "verdict"),
    [
        ("a.0.b", True, Verdict.MISMATCH),
        ("a.0.b", 1.0, Verdict.MISMATCH),
        ("a.0.b", "1", Verdict.MISMATCH),
        ("t", 1, Verdict.MISMATCH),
        ("s", 1, Verdict.MISMATCH),
        ("n", False, Verdict.MISMATCH),
        ("n", "", Verdict.MISMATCH),
        ("a", [{"b": True, "c.d": "x"}], Verdict.MISMATCH),
        ("a.1.b", 1, Verdict.MISSING),
        ("a.0.zz", None, Verdict.MISSING),
        ("t.x", 1, Verdict.MISSING),
        ("a..b", 1, Verdict.MISMATCH),
        ("a[", 1, Verdict.MISMATCH),
        ("a[x]", 1, Verdict.MISMATCH),
    ],
)
def test_another_value_or_type_is_no_proof(place: str, value: object, verdict: Verdict) -> None:
    report = check(
        [Claim("s", (Expected("f.json", place, value),))], {"f.json": CitedFile(json.dumps(CONTENT).encode())}
    )
    assert report.claims[0].verdict is verdict
    assert report.all_verified is False
    assert report.failed == report.claims


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.data())
def test_every_value_of_any_json_has_a_path(content: object, data: st.DataObject) -> None:
    place, here = "$", content
    while isinstance(here, (dict, list)) and here and data.draw(st.booleans()):
        if isinstance(here, list):
            number = data.draw(st.integers(0, len(here) - 1))
            place, here = f"{place}[{number}]", here[number]
        else:
            key = data.draw(st.sampled_from(sorted(here)))
            escaped = key.replace("\\", "\\\\").replace("'", "\\'")
            place, here = f"{place}['{escaped}']", here[key]
    steps = parse_place(place)
    assert steps is not None
    assert equals(look_up(content, steps), here)


@given(JSON, JSON)
def test_equality_is_that_of_the_printed_json(one: object, other: object) -> None:
    assert equals(one, other) is (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))
    assert equals(one, json.loads(json.dumps(one)))


@given(st.text(max_size=30), JSON)
def test_any_path_leads_somewhere_or_nowhere(place: str, content: object) -> None:
    steps = parse_place(place)
    found = NOWHERE if steps is None else look_up(content, steps)
    assert found is NOWHERE or found == content or json.dumps(found) in json.dumps(content)


def test_a_hostile_pair_of_path_and_file_costs_no_more_than_a_moment() -> None:
    def look_into(depth: int) -> None:
        content: object = 1
        for _ in range(depth):
            content = {"a": content, "a.a": content}
        assert look_up(content, ("a",) * (depth + 1) + ("b",)) is NOWHERE

    assert costs_at_most(
        12, lambda: look_into(200), than=lambda: look_into(100)
    )  # a path and a file, each twice as long
    assert grows_linearly(fold, "x\n" * 50_000, to="x\n" * 500_000)


def test_a_file_that_is_gone_broken_or_no_text() -> None:
    claims = [Claim("s", (ClaimedQuote("gone.md", "x"), ClaimedQuote("odd.bin", "x y"), Expected("odd.bin", "a", 1)))]
    findings = check(claims, {"odd.bin": CitedFile(b"\xffx\n y\xfe")}).claims[0].findings
    assert [finding.verdict for finding in findings] == [Verdict.MISSING, Verdict.VERIFIED, Verdict.MISMATCH]


def test_the_report_tells_every_claim_with_hash_and_lines() -> None:
    claims = read_claims(
        {
            "claims": [
                {"statement": "S", "evidence": [{"path": "a.md", "lines": "5-5", "quote": "option B"}]},
                {"statement": "no proof"},
            ]
        }
    )
    report = check(claims, {"a.md": CitedFile(FILE.encode())})
    digest = hashlib.sha256(FILE.encode()).hexdigest()
    reason = "The quote is at other lines."
    assert report.as_json() == {
        "all_verified": False,
        "claim_results": [
            {
                "statement": "S",
                "verdict": "moved",
                "evidence": [{"path": "a.md", "verdict": "moved", "sha256": digest, "lines": [6, 6], "reason": reason}],
            },
            {"statement": "no proof", "verdict": "missing", "evidence": []},
        ],
    }
    assert [item.claim.statement for item in report.failed] == ["no proof"]
    assert paths_of(claims) == ["a.md"]


def test_a_text_without_claims_is_unverified_whatever_it_says() -> None:
    assert confidence_of(read_claims({"answer": "x"}), "high") == "unverified"
    assert confidence_of(read_claims({"claims": []}), "medium") == "unverified"
    assert check((), {}).all_verified is None
    claims = read_claims({"claims": [{"statement": "S"}]})
    assert (confidence_of(claims, "high"), confidence_of(claims, None)) == ("high", "medium")


@pytest.mark.parametrize(
    ("given_lines", "lines"),
    [
        (3, (3, 3)),
        ("3", (3, 3)),
        ("3-5", (3, 5)),
        ("L3-L5", (3, 5)),
        ([3], (3, 3)),
        ([3, 5], (3, 5)),
        (None, None),
        ([], None),
    ],
)
def test_lines_are_read_in_every_form(given_lines: object, lines: tuple[int, int] | None) -> None:
    claim = read_claims(
        {"claims": [{"statement": "S", "evidence": [{"path": "p", "quote": "q", "lines": given_lines}]}]}
    )[0]
    assert claim.evidence == (ClaimedQuote("p", "q", lines),)


GOOD = {"path": "p", "quote": "q"}


@pytest.mark.parametrize(
    ("claims", "place"),
    [
        ("x", "claims is not"),
        (["x"], r"claims\[0\] is not an object"),
        ([{}], r"claims\[0\] has no statement"),
        ([{"statement": 5}], r"claims\[0\] has no statement"),
        ([{"statement": "s", "evidence": ["x"]}], r"claims\[0\].evidence\[0\] is not an object"),
        ([{"statement": "s", "evidence": [GOOD, {"path": "p"}]}], r"evidence\[1\] has no quote"),
        ([{"statement": "s", "evidence": [{"quote": "p"}]}], r"evidence\[0\] has no file"),
        ([{"statement": "s", "evidence": [{"file": "p", "expected_value": 1}]}], r"evidence\[0\] has no path"),
        ([{"statement": "s", "evidence": [GOOD | {"path": "a\0b"}]}], "NUL"),
        ([{"statement": "s", "evidence": [GOOD | {"lines": "x"}]}], "lines"),
        ([{"statement": "s", "evidence": [GOOD | {"lines": [5, 3]}]}], "lines"),
        ([{"statement": "s", "evidence": [GOOD | {"lines": 0}]}], "lines"),
        ([{"statement": "s", "evidence": [GOOD | {"lines": True}]}], "lines"),
        ([{"statement": "s", "evidence": [GOOD | {"lines": {"a": 1}}]}], "lines"),
        ([{"statement": "s", "evidence": [GOOD] * 1001}], "1000"),
    ],
)
def test_a_malformed_claim_is_named_by_its_place(claims: object, place: str) -> None:
    with pytest.raises(UsageError, match=place):
        read_claims({"claims": claims})
