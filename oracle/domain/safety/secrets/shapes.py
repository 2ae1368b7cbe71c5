"""Token shapes that vendors publish, each found by its literal. Domain room: pure."""

from __future__ import annotations

import re
from functools import cache, partial

from oracle.domain.safety.secrets.opaque import UUID, Secret, compiled, is_dense_token, is_token
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[str], bool]


@value
class _Rule:
    """One shape: `pattern` is tried where one of `literals` stands; its group `v` (or all of it) is the value."""

    kind: str
    literals: tuple[str, ...]
    pattern: str
    check: Check = is_token
    before: str = ""  # characters that belong to the value although they stand before the literal
    shape: str = ""  # what the value grown by `before` must match


_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_WORD = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"


def _prefixed(kind: str, prefixes: str, body: str, *, check: Check = is_token) -> _Rule:
    """Build the rule of tokens that start with one of the space-separated prefixes."""
    literals = tuple(prefixes.split())
    start = "|".join(map(re.escape, literals))
    return _Rule(kind, literals, f"{_EDGE}(?P<v>(?:{start}){body})", partial(_checked_body, literals, check))


def _checked_body(prefixes: tuple[str, ...], check: Check, value: str) -> bool:
    return check(value[max(len(p) for p in prefixes if value.startswith(p)) :])


_DIGITS = "0123456789"
_HEX_DIGITS = _DIGITS + "abcdef"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_URLSAFE = _LETTERS + "_-"

_RULES: tuple[_Rule, ...] = (
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}+"),
    _prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941",
        rf"{_WORD}{{16,}}+(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
    ),
    _prefixed(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9.%/+-]{10,}+",
    ),
    _Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/_-]{20,}+)",
    ),
    _prefixed("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _prefixed("aws-bedrock-key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{100,}+={0,2}"),
    _prefixed("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/]{100,}+={0,2}"),
    _Rule("signed-url", ("-Signature=",), rf"(?<=X-Amz|-Goog)-Signature=(?P<v>{_HEX}{{64,}}+)"),
    _prefixed("google-api-key", "AIza AQ.Ab", rf"{_WORD}{{30,}}+"),
    _Rule("google-fcm-key", (":APA91b",), rf":APA91b{_WORD}{{100,}}+", before=_URLSAFE, shape=r"AAAA.{7}:.+"),
    _prefixed("google-oauth", "ya29.", r"[A-Za-z0-9_.-]{20,}+"),
    _prefixed("google-oauth", "GOCSPX-", rf"{_WORD}{{20,}}+"),
    _prefixed("google-oauth", "1//0", rf"{_WORD}{{30,}}+"),
    _prefixed("anthropic-key", "sk-ant-", rf"{_WORD}{{20,}}+"),
    _prefixed("sk-api-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf-", rf"{_WORD}{{32,}}+"),
    _prefixed("sk-api-key", "sk-", rf"{_WORD}{{20,}}+", check=is_dense_token),
    _prefixed("sk-api-key", "sess-", rf"{_ALNUM}{{40}}(?![A-Za-z0-9_-])"),
    _prefixed("elevenlabs-key", "sk_", rf"{_HEX}{{48}}(?![A-Za-z0-9])"),
    _prefixed(
        "stripe-key",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_org_test_",
        rf"{_ALNUM}{{10,}}+",
    ),
    _prefixed("stripe-key", "whsec_", r"[A-Za-z0-9+/]{20,}+={0,2}"),
    _prefixed("npm-token", "npm_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("pypi-token", "pypi-AgE", rf"{_WORD}{{30,}}+"),
    _prefixed("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{30,}}+"),
    _Rule(
        "telegram-token",
        (":A",),
        rf"(?<=[0-9]{{8}}):A{_WORD}{{30,40}}+",
        before=_DIGITS,
        shape=r"[0-9]{8,11}:.+",
    ),
    _Rule(
        "discord-token",
        (".",),
        rf"(?<=[A-Za-z0-9_-]{{23}})\.{_WORD}{{6}}\.{_WORD}{{27,45}}+",
        before=_URLSAFE,
        shape=r"[MNO][^.]{22,28}\..+",
    ),
    _Rule("discord-webhook", ("/api/webhooks/",), rf"/api/webhooks/\d{{10,25}}/(?P<v>{_WORD}{{30,}}+)"),
    _prefixed("discord-token", "mfa.", rf"{_WORD}{{60,}}+"),
    _prefixed("sendgrid-key", "SG.", rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+"),
    _prefixed("twilio-key", "SK", rf"{_HEX}{{32}}(?![A-Za-z0-9])"),
    _Rule("mailchimp-key", ("-us",), r"-us[0-9]{1,2}(?![A-Za-z0-9])", before=_HEX_DIGITS, shape=rf"{_HEX}{{32}}-us.+"),
    _Rule("mailgun-key", ("key-",), r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))key-[0-9a-z]{32}(?![A-Za-z0-9_-])"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{32,}}+"),
    _prefixed("digitalocean-token", "DO00", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _prefixed("linear-key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("notion-token", "ntn_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("notion-token", "secret_", rf"{_ALNUM}{{32,}}+"),
    _Rule("feishu-webhook", ("/open-apis/bot/",), rf"/open-apis/bot/(?:v2/)?hook/(?P<v>{_WORD}{{16,}}+)"),
    _Rule("wecom-webhook", ("/cgi-bin/webhook/",), rf"/cgi-bin/webhook/\w+\?key=(?P<v>{UUID})"),
    _Rule("teams-webhook", (".webhook.office.com/",), r"\.webhook\.office\.com/(?P<v>webhookb2/[\w@/-]{40,}+)"),
    _Rule(
        "azure-key",
        ("AccountKey", "SharedAccessKey", "SharedSecret"),
        r"(?:AccountKey|SharedAccessKey|SharedSecret)=(?P<v>[A-Za-z0-9+/]{20,}+={0,2})",
    ),
    _Rule("azure-key", ("Q~",), r"Q~[A-Za-z0-9_.~-]{28,40}+", before=_URLSAFE + ".~", shape=r".{3}\dQ~.+"),
    _Rule("azure-key", ("JQQJ9",), r"JQQJ9[A-Za-z0-9]{27,30}+(?:==)?", before=_LETTERS, shape=r".{52}JQQJ.+"),
    _Rule("azure-key", ("AZDO", "ACOG"), r"A(?:ZDO|COG)[A-Za-z0-9]{4}(?!\w)", before=_LETTERS, shape=r".{84}"),
    _Rule(
        "azure-key",
        (".azurewebsites.net/",),
        r"\.azurewebsites\.net/[^\s?\0]{1,200}\?(?:[^\s\0]{1,200}&)??code=(?P<v>[A-Za-z0-9%+/_-]{40,}+={0,2})",
    ),
    _Rule("azure-sas", ("sig=",), r"(?<=[?&;])sig=(?P<v>[A-Za-z0-9%+/_-]{30,}+={0,2})"),
    _Rule(
        "jwt",
        ("eyJ",),
        rf"{_EDGE}(?P<v>eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?:\.{_WORD}{{8,}}+){{0,2}})",
    ),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}+"),
    _prefixed("databricks-token", "dapi dose", rf"{_HEX}{{32}}(?:-\d)?(?![A-Za-z0-9])"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32,}+"),
    _prefixed("atlassian-token", "ATATT3 ATCTT3 ATBB ATTA", r"[A-Za-z0-9_=-]{24,}+"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,}}+"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("fly-token", "fm2_ fm1r_ fm1a_ fo1_", r"[A-Za-z0-9+/_-]{30,}+={0,2}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", rf"{_WORD}{{20,}}+"),
    _Rule("terraform-token", (".atlasv1.",), rf"\.atlasv1\.{_WORD}{{30,}}+", before=_URLSAFE, shape=r".{10,20}\.atl.+"),
    _prefixed("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_]{30,}+={0,2}"),
    _Rule("newrelic-key", ("NRAL",), r"NRAL(?!\w)", before=_HEX_DIGITS, shape=rf"{_HEX}{{36}}NRAL"),
    _prefixed("newrelic-key", "NRAK- NRII- NRIQ- NRRA- NRJS-", r"[A-Za-z0-9-]{16,}+"),
    _prefixed("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/_=-]{40,}+"),
    _prefixed("postman-key", "PMAK-", rf"{_HEX}{{20,}}+-{_HEX}{{20,}}+"),
    _prefixed("pulumi-token", "pul-", rf"{_HEX}{{40}}(?![A-Za-z0-9])"),
    _prefixed("supabase-key", "sbp_ sb_secret_", rf"{_WORD}{{20,}}+"),
    _prefixed("square-token", "sq0atp- sq0csp-", rf"{_WORD}{{20,}}+"),
    _prefixed("square-token", "EAAA", rf"{_WORD}{{60}}(?![A-Za-z0-9_-])", check=is_dense_token),
    _prefixed("groq-key", "gsk_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("xai-key", "xai-", rf"{_ALNUM}{{40,}}+"),
    _prefixed("replicate-token", "r8_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("perplexity-key", "pplx-", rf"{_ALNUM}{{30,}}+"),
    _prefixed("tavily-key", "tvly-", rf"{_WORD}{{20,}}+", check=is_dense_token),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f_]{30,}+"),
    _prefixed("figma-token", "figd_", rf"{_WORD}{{30,}}+"),
    _Rule("airtable-token", ("pat",), rf"{_EDGE}(?P<v>pat{_ALNUM}{{14}}\.{_HEX}{{64}})"),
    _prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("rubygems-key", "rubygems_", rf"{_HEX}{{40,}}+"),
    _prefixed("contentful-token", "CFPAT-", rf"{_WORD}{{30,}}+"),
    _prefixed("heroku-key", "HRKU-", rf"{_WORD}{{30,}}+"),
    _prefixed("netlify-token", "nfp_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-fA-F]{40,}+(?:-[A-Za-z0-9]{10,20})?"),
    _prefixed("alibaba-key", "LTAI STS.", rf"{_ALNUM}{{12,40}}(?![A-Za-z0-9])"),
    _prefixed("baidu-key", "bce-v3/ALTAK-", rf"{_ALNUM}{{16,}}+/{_HEX}{{40}}"),
    _prefixed("volcengine-key", "AKLT", rf"{_WORD}{{40,}}+={{0,2}}"),
    _prefixed("jdcloud-key", "JDC_", r"[A-Z0-9]{28}(?![A-Za-z0-9])"),
    _prefixed("dingtalk-key", "SEC", rf"{_HEX}{{64}}(?![A-Za-z0-9])"),
    _prefixed("serverchan-key", "SCT", rf"[0-9]{{3,9}}T{_ALNUM}{{20,}}+"),
    _prefixed("tencent-key", "AKID", rf"{_ALNUM}{{32,36}}(?![A-Za-z0-9])"),
    _prefixed("onepassword-token", "ops_eyJ", rf"{_WORD}{{60,}}+"),
    _prefixed("onepassword-token", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}(?![\w-])"),
    _prefixed("together-key", "tgp_v1_", rf"{_WORD}{{40,}}+"),
    _prefixed("fireworks-key", "fw_", rf"{_ALNUM}{{22,24}}(?!\w)", check=is_dense_token),
    _prefixed("cerebras-key", "csk-", r"[0-9a-z]{48}(?![A-Za-z0-9_-])"),
    _prefixed("nvidia-key", "nvapi-", rf"{_WORD}{{60,}}+"),
    _prefixed("jina-key", "jina_", rf"{_ALNUM}{{40,}}+"),
    _prefixed("firecrawl-key", "fc-", rf"{_HEX}{{32}}(?![A-Za-z0-9_-])"),
    _prefixed("pinecone-key", "pcsk_", rf"{_ALNUM}{{4,8}}_{_ALNUM}{{40,}}+"),
    _prefixed("wandb-key", "wandb_v1_", r"[A-Za-z0-9_]{40,}+"),
    _prefixed("e2b-key", "e2b_", rf"{_HEX}{{40}}(?![A-Za-z0-9])"),
    _prefixed("resend-key", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,28}}(?!\w)", check=is_dense_token),
    _prefixed("cargo-token", "cio", rf"{_ALNUM}{{32}}(?!\w)", check=is_dense_token),
    _prefixed("nuget-key", "oy2", r"[0-9a-z]{43}(?!\w)"),
    _prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"{_ALNUM}{{24,}}+"),
    _prefixed("render-key", "rnd_", rf"{_ALNUM}{{28,}}+", check=is_dense_token),
    _prefixed("neon-key", "napi_", r"[0-9a-z]{60,}+"),
    _Rule("cloudflare-key", ("v1.0-",), rf"{_EDGE}v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}+"),
    _prefixed("honeycomb-key", "hcaik_ hcamk_ hcxik_", r"[0-9a-z]{50,}+"),
    _prefixed("clickup-token", "pk_", r"[0-9]{6,10}_[A-Z0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("typeform-token", "tfp_", rf"{_WORD}{{40,}}+"),
    _prefixed("paypal-token", "A21AA", rf"{_WORD}{{80,}}+"),
    _prefixed("paypal-token", "access_token$production$ access_token$sandbox$", rf"[0-9a-z]{{16}}\${_HEX}{{32}}"),
    _prefixed("facebook-token", "EAA", rf"[A-Z]{_ALNUM}{{90,}}+", check=is_dense_token),
    _prefixed("mapbox-token", "sk.eyJ tk.eyJ", rf"{_WORD}{{20,}}+\.{_WORD}{{20,}}+"),
    _prefixed("dropbox-token", "sl.", rf"(?:u\.)?{_WORD}{{100,}}+"),
    _prefixed("tailscale-key", "tskey-", r"(?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{20,}+"),
    _prefixed("buildkite-token", "bkua_", rf"{_HEX}{{40}}(?![A-Za-z0-9])"),
    _prefixed("circleci-token", "CCIPAT_ CCIPRJ_", rf"{_ALNUM}{{20,}}+_{_HEX}{{40}}"),
    _prefixed("sonar-token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}(?![A-Za-z0-9])"),
    _prefixed("jfrog-token", "AKCp cmVmdGtu", rf"{_ALNUM}{{50,}}+"),
    _prefixed("infracost-key", "ico-", rf"{_ALNUM}{{32}}(?![A-Za-z0-9_-])"),
    _prefixed("launchdarkly-key", "sdk-", rf"{UUID}(?![A-Za-z0-9_-])"),
    _prefixed("posthog-key", "phx_", rf"{_ALNUM}{{40,}}+"),
    _prefixed("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", UUID),
    _prefixed("coze-token", "pat_", rf"{_ALNUM}{{60,}}+"),
    _prefixed("modelscope-token", "ms-", rf"{UUID}(?![A-Za-z0-9_-])"),
    _prefixed("cursor-key", "key_ crsr_", rf"{_HEX}{{64}}(?![A-Za-z0-9])"),
    _prefixed("llamacloud-key", "llx-", rf"{_ALNUM}{{40,}}+"),
    _prefixed("voyage-key", "pa-", rf"{_WORD}{{40,48}}(?![A-Za-z0-9_-])", check=is_dense_token),
    _prefixed("asana-token", "1/1", rf"[0-9]{{12,16}}:{_HEX}{{32}}"),
    _prefixed("clojars-token", "CLOJARS_", r"[0-9a-z]{60}"),
    _prefixed("dbt-token", "dbtc_ dbtu_", rf"{_WORD}{{36,}}+"),
    _prefixed("duffel-token", "duffel_live_ duffel_test_", rf"{_WORD}{{40,}}+"),
    _prefixed("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _prefixed("easypost-key", "EZAK EZTK", rf"{_ALNUM}{{54}}(?![A-Za-z0-9])"),
    _prefixed("elastic-key", "essu_", rf"{_WORD}{{40,}}+={{0,2}}"),
    _prefixed("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"[0-9A-Za-z-]{12,}+"),
    _prefixed("octopus-key", "API-", r"[A-Z0-9]{26,32}(?![A-Za-z0-9_-])", check=is_dense_token),
    _prefixed("openshift-token", "sha256~", rf"{_WORD}{{43}}(?![A-Za-z0-9_-])"),
    _prefixed("prefect-key", "pnu_ pnb_", rf"{_ALNUM}{{36}}(?!\w)"),
    _prefixed("shippo-token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    _prefixed("sourcegraph-token", "sgp_", rf"(?:local_|{_HEX}{{16}}_)?{_HEX}{{40}}"),
    _prefixed("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}+"),
    _prefixed("vercel-token", "vercel_blob_rw_", rf"{_ALNUM}{{12,20}}_{_ALNUM}{{24,}}+"),
    _prefixed("yandex-token", "AQVN y0_", rf"{_WORD}{{35,}}+"),
    _prefixed("plaid-token", "access-production- access-sandbox- access-development-", UUID),
    _prefixed(  # marker lines of RSA, EC, PKCS #8 and OpenSSH keys, and service accounts, as Base64: in a kubeconfig, in CI
        "private-key",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtF LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t"
        " LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZB ewogICJ0eXBlIjogInNlcnZpY2VfYWNj eyJ0eXBlIjoic2VydmljZV9hY2NvdW50",
        r"[A-Za-z0-9+/]{60,}+={0,2}",
    ),
    _Rule(
        "private-key",  # Base64 of PKCS #1 or #8 on one line without its marker lines, as payment providers hand it out
        ("MII",),
        rf"{_EDGE}MII[A-Za-z0-9+/]{{1,4}}IB(?:ADANBgkqhkiG9w0BAQEFAASC|AAK[BC])[A-Za-z0-9+/]{{200,4000}}+={{0,2}}",
    ),
)
_LITERALS = tuple((literal, at) for at, rule in enumerate(_RULES) for literal in rule.literals)
_HEAD = r"[A-Za-z0-9]+[^A-Za-z0-9]?"  # where a word or a part of one begins, and what its first three characters may be


@cache
def _by_head() -> dict[str, list[tuple[str, int]]]:
    """Return the literals and their rules by the first three characters; "" has those that may stand anywhere."""
    heads: dict[str, list[tuple[str, int]]] = {}
    for literal, at in _LITERALS:
        is_a_head = _RULES[at].pattern.startswith(_EDGE) and compiled(_HEAD).fullmatch(literal[:3])
        heads.setdefault(literal[:3] if is_a_head and len(literal) > 2 else "", []).append((literal, at))
    return heads


def each(text: str, literals: tuple[str, ...], pattern: str) -> Iterator[re.Match[str]]:
    """Yield the matches that start at one of the literals, left to right for each literal, none within another."""
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            found = compiled(pattern).match(text, at)
            if found:
                yield found
            at = text.find(literal, max(found.end() if found else 0, at + 1))


def starts(text: str, literal: str) -> Iterator[int]:
    """Yield where a literal stands, left to right."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def values_at(kind: str, text: str, places: Iterator[int], pattern: str, check: Check) -> Iterator[Secret]:
    """Yield the values `v` of a pattern that starts at one of these places and that `check` accepts, none within another."""
    done = 0
    for at in places:
        found = compiled(pattern).match(text, at) if at >= done else None
        if found and check(found["v"]):
            yield Secret(kind, *found.span("v"))
        if found:
            done = found.end()


_OPAQUE_PART = r"(?:^|[/.])(?=[^/.]{15})(?:[^/.]{30}|[^/.]*[0-9A-Z])"


def _long_words(text: str) -> str:
    """Keep the words of which a part could be a token (15 characters and a digit or capital, or 30): prose has few."""
    ascii_only = text if text.isascii() else text.encode("ascii", "replace").decode().replace("?", " ")
    search = compiled(_OPAQUE_PART).search
    return " ".join([word for word in {word for word in ascii_only.split() if len(word) >= 15} if search(word)])


def _rules_for(words: str) -> list[_Rule]:
    """Return the rules of which a literal stands in these words, in order: few heads of words are those of literals."""
    heads = {head[:3] for head in compiled(_HEAD).findall(words)}
    if "\\" in words or "%" in words:  # line ends as they are escaped, characters of a URL
        heads.update(compiled(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})(?=([A-Za-z0-9].{2}))").findall(words))
    by_head = _by_head()
    near = [*by_head[""], *(pair for head in heads & by_head.keys() for pair in by_head[head])]
    return [_RULES[at] for at in sorted({at for literal, at in near if literal in words})]


def find_shapes(text: str) -> Iterator[Secret]:
    """Find tokens of published shapes."""
    words = _long_words(text)
    for rule in _rules_for(words) if words else ():
        for found in each(text, rule.literals, rule.pattern):
            start, end = found.span("v") if "v" in found.re.groupindex else found.span()
            if rule.before:
                start = _grow_left(text, start, rule.before)
                if not compiled(rule.shape).fullmatch(text, start, end):
                    continue
            if rule.check(text[start:end]):
                yield Secret(rule.kind, start, end)


def _grow_left(text: str, start: int, characters: str) -> int:
    limit = max(0, start - 80)
    while start > limit and text[start - 1] in characters:
        start -= 1
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1  # the letter belongs to an escaped line end
    return start


_KINDS = tuple(
    dict.fromkeys(
        (*(rule.kind for rule in _RULES), "private-key", "url-password", "authorization", "seed-phrase", "assignment")
    )
)
MARKERS = tuple(f"[REDACTED:{kind}]" for kind in _KINDS)
