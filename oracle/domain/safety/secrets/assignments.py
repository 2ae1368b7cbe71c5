"""Random-looking values assigned to a name such as `API_KEY` or `密码`. Domain room: pure."""

from __future__ import annotations

import re
from functools import cache

from oracle.domain.safety.secrets.opaque import (
    MASK,
    UUID,
    Secret,
    compiled,
    is_random,
    is_scattered,
    is_worded,
)
from oracle.domain.safety.secrets.shapes import starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    Span = tuple[int, int]
    Check = Callable[[str], bool]


_NAMES = (
    "pass",
    "pwd",
    "token",
    "secret",
    "key",
    "credential",
    "creds",
    "_auth",
    "pat",
    "ak",
    "sk",
    "senha",
    "contraseña",
    "kennwort",
    "wachtwoord",
    "parola",
    "recovery code",
    "backup code",
    "hasło",
    "mật khẩu",
    "lösenord",
    "jelszó",
    "apiキー",
    "clave",
    "psk",
    "pw",
)
_SHORT_NAMES = ("pat", "ak", "sk")  # parts of many words, and of something else too: a pattern, a surrogate key
_OTHER_NAMES = (  # in other scripts; each begins with a letter, not with a class: that is what makes the search fast
    "密码|密碼|密[ \u3000]{1,4}码|账密|口令|密钥|秘钥|金鑰|私钥|令牌|权杖|凭证|凭据|授权码"
    "|パスワード|暗証番号|アクセスキー|秘密鍵|トークン|비밀번호|암호|토큰|Парол[ьяюе]|парол[ьяюе]|كلمة المرور"
    "|Şifre|şifre|恢复码|备用码"
)
_OTHER_ABOUT = (
    "(?:的)?(?:路径|文件|地址|名称|策略|规则|长度|有效期|过期|类型|数量|版本|说明|哈希|摘要|指纹|校验|编号|标识|轮换"
    "|算法|加密|交换|派生|签名|解析|验证|强度|管理|存储|服务|模式|流程|桶|库|学|卡|组件|输入框)"
)
_CJK = r"(?![密口秘令])[\u4e00-\u9fff]"  # a name that follows is looked at by itself
_SUFFIX = r"(?P<suffix>(?>s?(?:[_.\-][A-Za-z0-9_.\-]{1,24}|[A-Z0-9][A-Za-z0-9_]{0,24})?))"
_CLOSE = r"(?:\\?[\"'`]|\*\*|[\])]|&quot;|&#3[49];|%22){0,3}+"
_NOTE = r"(?:[ \t]?(?:\([^()\n\0]{1,24}\)|（[^（）\n\0]{1,24}）|\[[\w-]{1,24}\]|#?\d{1,2}(?=[ \t]?[:：=])))?"
_BRACKET = r"[(（【](?=[!-'*-~]{4,200}[)）】])"
_ITEM = r"(?:(?:[-*+>]|\d{1,2}[.)])[ \t]{1,4})?"  # a value that is an item or a quotation
_SEPARATOR = (
    r"(?:(?:(?:[ \t]*:|[ \t]+As)[ \t]*&?(?:str|[Ss]tring|bytes|SecretStr|text)(?:[ \t]*\|[ \t]*\w{1,9})?)?"  # a type
    r"[ \t]*(?:=>|:=|={1,3}|＝)[ \t]*"
    r"|[ \t]*&(?:#61|#x3[dD]|equals|#58|#x3[aA]|colon);[ \t]*"  # entities of = and :
    r"|%3[aAdD](?:%2[02])*+"  # in a URL
    r"|[ \t]*(?::{1,2}|：)(?:\*\*)?(?:[ \t]*[|>][+-]?(?=[ \t]*\n))?\s{0,12}+"  # also a block of YAML
    rf"(?:`{{3}}[a-z]{{0,10}}\n|[\w.@-]{{1,30}}+[ \t]{{1,3}}/[ \t]{{1,3}}|{_ITEM})"  # also behind a user's name
    r"|[】」』][ \t]*[:：]?[ \t]*|[ \t]+<(?=[!-;=?-~]{8,200}>)|[ \t]*(?=[«“「『])"
    r"|[ \t]*(?:→|⇒|➜|—{1,2}|–|--?>)[ \t]*|[ \t]+--?[ \t]+"  # an arrow, a dash
    rf"|[ \t]*{_BRACKET}"
    r"|[ \t]*[:：]?[ \t]*\|[ \t]*|>(?!@)"  # a table's cell, an element
    r"|[:：]</\w{1,6}>[ \t]+|[:：]?</\w{1,6}>(?:[ \t]*[:：=][ \t]*"  # behind an element
    r"|\s{0,12}+<\w{1,6}(?:[ \t][^<>\n\0]{0,60})?>)"  # in the next one
    r"|(?<=[\"'])[ \t]*,[ \t]*(?=[\"'])|\([ \t]*(?=[\"'])"  # a default, an argument
    r"|(?:,\s{0,20}+[\"'](?!value)\w{1,20}[\"'][ \t]*:[ \t]*(?:[\"'][^\"'\n\0]{0,60}[\"']|\w{1,8})){0,3}"
    r"(?:,\s{0,20}|\s{1,20})[\"']?value[\"']?[ \t]*[:=][ \t]*"  # `name: …` over `value: …`
    r"|[ \t]*\{[ \t]*get;[^{}\n\0]{0,40}\}[ \t]*=[ \t]*"  # a property of C#
    r"|\?[ \t]*(?:\r?\n){1,2}(?:[\w .-]{1,30}:[ \t]*)?(?:[Ii]t(?:['’]s| is)|[Tt]hat(?:['’]s| is))[ \t]+"  # asked and answered
    r"|(?:[ \t]+(?P<noun>[A-Za-z]{1,15})(?:[ \t]+[A-Za-z]{1,15}){0,4}?)??[ \t]+(?:is|was|to|be|es|ist|lautet|est|é|è)"
    r"(?:[ \t]+(?:now|below|as follows))?(?:[ \t]*:\s{1,12}+|[ \t]+)"
    r"|[ \t]+(?:for|of|für|pour|para|per|del?|du|di)(?:[ \t]+[\w.-]{1,20}){1,3}?"
    rf"(?:[ \t]*(?:[:=][ \t]*|(?:→|⇒|->|=>)[ \t]*|{_BRACKET})|[ \t]+(?:is|es|est|è|é)[ \t]+)"
    r"|(?P<said>(?:[ \t]+[A-Za-z'.-]{1,15}){1,6}?)[ \t]*:\s{1,12}+"  # `token used in the test: …`
    r"|(?:[ \t]+[а-яё]{1,12}){1,3}[ \t]*[:=—–-][ \t]*"
    rf"|[ \t]?(?:{_CJK}|，){{0,8}}?[ \t]*(?:(?:是|为|為|成了?|は|を|는|은)[ \t]*[:：]?|[:：＝=])\s{{0,12}}+{_ITEM}"
    rf"|(?P<asked>[^\n\0?？]{{0,24}}?(?:[?？]|发我|给我|发一下|多少|什么|吗)[ \t。]*(?:\r?\n){{1,2}}"  # and told by another
    rf"[\w\u4e00-\u9fff][\w\u4e00-\u9fff .-]{{0,20}}[:：][ \t]*)"
    rf"|(?P<below>[ \t#]*\r?\n(?:[=-]{{3,40}}+\n)?\s{{0,12}}+(?:`{{3}}[a-z]{{0,10}}\n|{_ITEM}))"  # a heading
    r"|[ \t]*(?:\r?\n){1,2}[ \t]*[:=][ \t]+"  # a list of terms and what they are
    r"|(?P<bare>[ \t]+))"
)
_SIGN = r"(?:[:&,;=]|%3[AaDd]|%26)"  # what a value may go on behind, also as in a URL
_UNITS = r"(?:[!#$*+\-./0-9?@A-Z^_a-z~]|%(?!3[AaDd]|26)){1,4096}+"
_VALUE = (
    r"(?:\*\*)?(?:&quot;|&#3[49];)?(?:[rbuf]{1,2}(?=[\"']))?(?:\"\"(?=\")|''(?='))?"
    r"(?:\[\[(?=[!-~])|\{(?=[!-z~]{4,200}\};)|<(?:!\[CDATA\[|\w{1,6}>)|\(\s{0,20}+(?=[\"']))?"
    r"(?=\\?(?:[\"'`“‘「『]|«[\x20\u00a0]?)?(?:"  # a digit or a mark, letters that fill a line, very many letters, or humps
    r"(?:[^\s=\"'`\\\0]|\\{1,3}[\"']|''|\"\"|'(?:\\'|\"'\")'){0,48}?[0-9!#$%^*+?@~]"
    r"|[A-Za-z]{8,15}(?:[\"'`]|[ \t]*(?:[\r\n]|\Z))"
    r"|[A-Za-z_+/.&-]{16}|[a-z]{0,16}[A-Z]{1,16}[a-z]{1,16}[A-Z]))"
    r"(?:\\(?P<inner>[\"'`])(?P<escaped>(?:\\\\\\(?P=inner)|(?!\\?(?P=inner))[!-~]){4,4096}+)\\(?P=inner)"
    r"|(?P<quote>[\"'`])(?P<quoted>(?:\\[\"'`\\]|'(?:\\'|\"'\")'(?=[!-~])|(?P=quote){2}(?!(?P=quote))(?=[!-~])|(?!\\?(?P=quote))[!-~]){4,4096}+)(?P=quote)"
    r"|[“‘「『«][\x20\u00a0]?(?P<curly>[!-~]{4,4096}+)[\x20\u00a0]?[”’」』»]"
    rf"|[\"'`]?(?P<plain>(?:&(?=[\w&.-]*[0-9!#$%^*+?@~]))?{_UNITS}"
    rf"(?:{_SIGN}{{1,2}}(?![\w.-]{{1,40}}(?:[=:]|%3[AaDd])|quot;|#3[49];){_UNITS}){{0,4}}+(?:=|%3[Dd]){{0,2}})"
    r"(?P<call>[(\[])?)"
)
_FIRST_NAME = (  # the short name is also one of several turns, and how a test ended
    r"(?i:pass(?:word|wd|phrase|code|wort|e)"
    r"|(?<!--- )(?<!(?:first|third|final)[ _-])(?<!second[ _-])(?<!(?:next|last)[ _-])(?<!(?:two|one|dry)[ _-])pass)"
)
_ASSIGNED = rf"(?:{_FIRST_NAME}|(?i:{'|'.join(_NAMES[1:])})|(?:{_OTHER_NAMES})(?!{_OTHER_ABOUT}))"
_ASSIGNMENT = _ASSIGNED + _SUFFIX + _CLOSE + _NOTE + _SEPARATOR + _VALUE

_ABOUT = (  # what follows or precedes in names that hold no secret themselves
    r"(?i)(?:hash|sha\d*|digest|fingerprint|checksum|thumbprint|ids?|counts?|name|len|length|size|types?|path|file|dir|url|uri|"
    r"endpoint|expir\w*|ttl|limits?|policy|version|fields?|headers?|ref|arn|provider|scopes?|format|prefix|suffix|min|max|"
    r"budget|usage|alg(?:o|orithm)?s?|cipher|encod\w*|validity|units?|verifier|cert(?:ificate)?(?:[_.-]?(?:chain|pem))?|"
    r"issuer|audience|label|alias|store|manager|mode|rotation|regex|pattern|column|table)\d*$"
)
_ELSE = (  # whose values look random and open nothing
    r"(?i:commits?|builds?|requests?|tickets?|issues?|runs?|jobs?|events?|traces?|images?|branch|tags?|prs?|release|revision"
    r"|session|bucket|container|pods?|node|host|server|service|index|value|from|see|santa)"
)
_KEY_OF = (
    r"(?i)(?:api(?:v[0-9])?|access|private|priv|secret|encrypt(?:ion)?|sign(?:ing)?|signature|master|auth|account|app|service|client|"
    r"deploy|licen[cs]e|unseal|recovery|root|"
    r"admin|hmac|aes|jwt|session|cookie|webhook|shared|ssh|storage|subscription|mch|merchant)[_\-. ]?$|[?&]$"
)
_OPEN_KEY = (
    r"(?:PUBLIC|PUB|PRIMARY|FOREIGN|CACHE|PARTITION|SORT|IDEMPOTENCY|OBJECT|ROW|GROUP|"
    r"UNIQUE|INDEX|HASH|ROUTING|PUBLISHABLE)_$"
)
_PUBLIC = (  # what pages and forms are told by, and the part of a resource's name in a cloud (an ARN) that says its sort
    r"(?i)(?:publi[cs]h?(?:able)?(?:[_-]?key)?|pub|cache|page|next|start(?:ing)?|forward|backward|continuation|sync|cursor|csrf|xsrf"
    r"|idempotency|design|cancel(?:l?ation)?|(?<![A-Za-z])(?:max|num|by))[_\-. ]?$|:\d{12}:$"
)


def find_assignments(text: str, lower: str) -> Iterator[Secret]:
    """Find random-looking values given to names of secrets: in code, settings and prose, and in columns of tables."""
    is_random_here = cache(is_random)  # for this text only: no value outlives the call
    for name in (*_NAMES, _OTHER_NAMES):
        done = 0
        heads = []
        for at in _name_starts(lower, name):
            heads.append(at)
            found = compiled(_ASSIGNMENT).match(text, at) if at >= done else None
            span = _assigned_span(found, name, is_random=is_random_here) if found else None
            if span:
                done = span[1]
                yield Secret("assignment", *span)
        if heads:
            yield from _find_columns(text, heads, check=_is_long_random if name in _SHORT_NAMES else is_random_here)


_HEAD = r"[^\s,;|]{2,40}+[ *_`\"':]{0,9}+(?:[|,;\t\r]|\Z)"  # a name that fills the rest of its cell
_FIELD = r"[ \t]{0,3}[\"']?\w[\w .-]{0,40}[\"']?\s{0,3}"  # a head of CSV: no line of code, nothing left open
_AROUND = " \t\r*_`\"'"  # what may stand around what a cell says
_LINE = 400  # characters of a table's head that are looked at, before a name and behind it


def _find_columns(text: str, names: list[int], *, check: Check) -> Iterator[Secret]:
    """Find random-looking cells below a head that names a secret, in tables of Markdown, CSV and TSV."""
    done = 0
    for at in names:
        end = text.find("\n", at, at + _LINE) if at >= done else -1
        if end >= 0 and compiled(_HEAD).match(text, at, end):
            start = text.rfind("\n", max(0, at - _LINE), at) + 1
            if start or at <= _LINE:
                done = yield from _find_cells(text, start, end, check=check)


def _find_cells(text: str, start: int, end: int, *, check: Check) -> Generator[Secret, None, int]:
    """Find what stands in the named columns of the table whose head is `text[start:end]`; return where the table ends."""
    head = text[start:end]
    mark = next((mark for mark in "|\t,;" if mark in head), "\n")
    cells = head.split(mark)
    if mark in ",;" and not all(map(compiled(_FIELD).fullmatch, cells)):
        return end
    columns = [at for at, cell in enumerate(cells) if len(cell) <= 40 and names_secret(cell.strip(_AROUND + ":"))]
    while columns and mark in text[end + 1 : (below := _line_end(text, end + 1))]:
        row = text[end + 1 : below].replace("\\|", MASK * 2).split(mark)
        for column in columns if len(row) == len(cells) else ():
            cell = row[column].strip(_AROUND)
            if cell.isascii() and not compiled(rf"[\s\0]|{UUID}$").search(cell) and check(cell):
                at = end + 1 + sum(len(before) + 1 for before in row[:column]) + row[column].index(cell)
                yield Secret("assignment", at, at + len(cell))
        end = below
    return end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _name_starts(lower: str, name: str) -> Iterator[int]:
    if name in _SHORT_NAMES:  # `path`, `task`: nothing may go on from one, nor stand before it
        return (at for at in starts(lower, name) if _is_word(lower, at, at + len(name)))
    if not name.isascii() and lower.isascii():
        return iter(())
    if name is not _OTHER_NAMES:
        return starts(lower, name)
    return (found.start() for found in compiled(name).finditer(lower))


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _assigned_span(found: re.Match[str], name: str, *, is_random: Check) -> Span | None:
    """Return the span of the value when both it and the name before it look like a secret's."""
    group = next(group for group in ("quoted", "escaped", "curly", "plain") if found[group])
    start, end = found.span(group)
    value = found[group]
    if group == "plain":
        value = value.rstrip(".,;:?*")
        end = start + len(value)
        if found["call"] and (len(value) < 24 or is_worded(value)):
            return None
    before = found.string[max(0, found.start() - 24) : found.start()]
    if not is_random(value) or not _names_secret(before, name, found["suffix"]) or _is_passed_on(before, found):
        return None
    if found["bare"] and name is not _OTHER_NAMES and not _may_follow_blank(before, found, value):
        return None
    if not _is_told(found, value, end=end):
        return None
    if name in _SHORT_NAMES and not _is_long_random(value):
        return None
    if compiled(UUID).fullmatch(value) and not _may_be_uuid(before, found[0], name=name):
        return None
    if name == "key" and not compiled(_KEY_OF).search(before) and len(value) < 20:
        return None
    return start, end


def _is_long_random(value: str) -> bool:
    """Say whether a value is random enough for a name that is a word of something else too."""
    return compiled(r"(?=\D*\d)[\w+/=-]{16,}").fullmatch(value) is not None and is_random(value)


def _is_passed_on(before: str, found: re.Match[str]) -> bool:
    """Say whether the name is the verb `pass` and what is passed, in one word: `PassRole`, `passThrough`."""
    is_verb = found.start("suffix") == found.start() + len("pass") and not before[-1:].isalnum()
    return is_verb and compiled(r"[A-Z][a-z]").match(found["suffix"]) is not None


def _is_told(found: re.Match[str], value: str, *, end: int) -> bool:
    """Say whether a value that does not stand right behind its name is meant by it, and not by what stands between."""
    is_last = compiled(r"[\"'`\]]{0,3}[ \t]*(?:\r?\n|\Z)").match(found.string, end)
    if found["below"]:
        return is_last is not None
    if found["asked"]:
        return is_last is not None and is_scattered(value)
    if found["said"] and not is_last and "\n" in found[0]:
        return False
    words = (found["said"] or found["noun"] or "").split()
    return not any(compiled(_ABOUT).match(word) or compiled(_ELSE).fullmatch(word) for word in words)


def _may_be_uuid(before: str, said: str, *, name: str) -> bool:
    """Say whether a UUID may be the secret of this name: most tokens of requests, sessions and pages open nothing.

    `VENDOR_TOKEN=…` in capitals does, as a setting of the environment.
    """
    if name != "token":
        return name in ("key", "secret", "pass", "_auth", "pat")
    setting = compiled(r"TOKEN[\"']?[ \t]*[=:]").match(said) and compiled(r"[A-Z0-9]_$").search(before)
    return bool(setting) and not compiled(r"(?:REQUEST|SESSION|CONTINUATION|TRACE|SYNC|CLIENT|DEVICE)_$").search(before)


def _may_follow_blank(before: str, found: re.Match[str], value: str) -> bool:
    """Say whether a name takes its value after a mere blank: an option, a line of .netrc, or `NAME_API_KEY`."""
    if compiled(r"(?i:private|priv|api)[ _-]$").search(before) and compiled(r"(?:0x)?(?:[0-9a-f]{32}){1,2}").fullmatch(
        value
    ):
        return True
    if compiled(
        r"(?:^|\s)-{1,2}[\w-]*$|(?:^|\s)require$|(?i:login|user)[ \t]+\S+\s+$|(?i:set|config)[ \t]+[\"']?[\w./:-]*$"
    ).search(before):
        return True
    if len(value) >= 24 and compiled(r"(?=\D*\d)(?=[^G-Zg-z]*[G-Zg-z])").match(value):  # a hash is none
        return True
    head = found[0].split(maxsplit=1)[0]
    if compiled(r"(?i:pass(?:word|wd|code|phrase)|pwd?|psk)").fullmatch(head) and is_scattered(value):
        return True
    named = compiled(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?").fullmatch(head)
    return bool(named and before[-1:] == "_" and len(value) >= 20 and any(map(str.isdigit, value)))


def _names_secret(before: str, name: str, suffix: str) -> bool:
    """Say whether the name around the word (24 characters before it, and what follows) is that of a secret."""
    if compiled(_ABOUT).search(suffix) or compiled(_PUBLIC).search(before):
        return False
    if name == "key":
        named = compiled(r"[A-Z0-9]_$").search(before) and not compiled(_OPEN_KEY).search(before)
        return bool(named or compiled(_KEY_OF).search(before))
    if name in (*_SHORT_NAMES, "pw", "psk", "clave"):
        return suffix == "" and not before[-1:].isalnum()
    if name == "pass":
        return not compiled(r"[a-z]$").search(before) or suffix == ""
    return True


def names_secret(name: str) -> bool:
    """Tell whether a field of this name holds a credential, however harmless its value looks: `db_password`, `apiKey`, 口令.

    Names of what is said about one are none: `token_count`, `password_policy`, `private_key_path`.
    """
    plain = compiled(r"(?<=[a-z0-9])(?=[A-Z])").sub("_", name)
    if not plain.isascii() and compiled(f"(?:{_OTHER_NAMES})(?!{_OTHER_ABOUT})").search(plain):
        return True
    lower = plain.lower()
    for word in _NAMES:
        for at in starts(lower, word):
            found = compiled(_ASSIGNED + _SUFFIX).fullmatch(plain, at)
            if found and _is_a_name(plain[:at], lower[at : found.start("suffix")], found["suffix"], word):
                return True
    return False


def _is_a_name(before: str, said: str, suffix: str, word: str) -> bool:
    """Tell whether the word and what stands around it name a secret: `pass_rate`, `bypass` and `pwd` (a folder) don't."""
    if said in ("pass", "pwd") and (suffix or before[-1:].isalnum()):
        return False
    if said == "pwd" and before.lower() in ("", "old_"):
        return False
    return _names_secret(before, word, suffix)
