"""Passwords and tokens given to commands. Domain room: pure."""

from __future__ import annotations

from oracle.domain.safety.secrets.opaque import Secret, compiled, is_credential
from oracle.domain.safety.secrets.shapes import starts, values_at
from oracle.domain.safety.secrets.urls import is_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ARGUMENT = r"[\"']?(?P<v>[!#-&(-~]{6,200})"


def _given(command: str, option: str) -> str:
    """Build the pattern of a command, an option further on its line, and what that is given."""
    return rf"(?i:{command})(?=[ \t])[^\n|;\0]{{0,200}}?[ \t]{option}{_ARGUMENT}"


_COMMANDS = (  # the option in small letters, the command, and the pattern of both
    ("", "authtoken", r"(?i:authtoken)[ \t]+[\"']?(?P<v>[A-Za-z0-9]{20,40}_[A-Za-z0-9]{16,40})(?![A-Za-z0-9])"),
    (" -p", "sshpass", _given("sshpass", r"-p[ \t]*")),
    (" -p", "docker login", _given("docker login", r"-p(?:[ \t]+|=)?")),
    (" -p", "mysql", _given("mysql(?:dump|admin|import|sh)?", "-p")),
    (" -p", "mariadb", _given("mariadb(?:-dump|-admin)?", "-p")),
    (" -p", "mongo", _given("mongo(?:sh|dump|restore)?", r"-p[ \t]*")),
    (" -p", "az login", _given("az login", r"-p[ \t]+")),
    (" -p", "sqlcmd", _given("sqlcmd", r"-P[ \t]*")),
    (" -p", "zip", _given("zip", r"-P[ \t]*")),
    (" -p", "7z", _given("7za?", "-p")),
    (" -p", "mosquitto_", _given("mosquitto_[a-z]{2,4}", r"-P[ \t]+")),
    (" -p", "cqlsh", _given("cqlsh", r"-p[ \t]+")),
    ("", "cargo login", r"(?i:cargo login)[ \t]+(?!-)" + _ARGUMENT),
    ("", "http-basic", r"(?i:http-basic)\.[\w.-]{1,60}[ \t]+\S{1,60}[ \t]+" + _ARGUMENT),
    ("", "add-mask", r"(?i:add-mask)::" + _ARGUMENT),
    (" -a", "redis-cli", _given("redis-cli", r"-a[ \t]+")),
    (" -w", "ldap", _given("ldap[a-z]{3,9}", r"-w[ \t]*")),
    (" -k", "openssl", _given("openssl", r"-k[ \t]+")),
    (" -p", "openssl", _given("openssl", "pass:")),
    (" -u", "lftp", r"(?i:lftp)[ \t][^\n|;\0]{0,60}?-u[ \t]+[\"']?[^\s,\"']{1,60},(?P<v>[!#-&(-~]{6,200})"),
    (" -b", "gh secret set", _given("gh secret set", r"-b[ \t]+")),
    (" --", "gh secret set", _given("gh secret set", r"--body(?:[ \t]+|=)")),
    (" -n", "ssh-keygen", _given("ssh-keygen", r"-N[ \t]+")),
    (" --", "put-parameter", _given(r"put-parameter(?=[^\n\0]{0,400}SecureString)", r"--value(?:[ \t]+|=)")),
    (" --", "keyvault secret set", _given("keyvault secret set", r"--value(?:[ \t]+|=)")),
    (" --", "encrypt_string", r"(?i:encrypt_string)[ \t]+" + _ARGUMENT),
    ("", "rabbitmqctl", r"(?i:rabbitmqctl)[ \t]+(?:add_user|change_password)[ \t]+[\w.@-]{1,60}[ \t]+" + _ARGUMENT),
    ("", "net use", r"(?i:net use)[ \t]+[^\n\0]{0,200}?\\\\[^\s\0]{1,200}[ \t]+(?!/|\*)" + _ARGUMENT),
    (
        "",
        "sqlplus",
        r"(?i:sqlplus)[ \t]+(?:-\w+[ \t]+){0,3}[\"']?[\w.]{1,60}/(?P<v>[!#-&(-?A-~]{6,200})(?=@|[\s\"']|\Z)",
    ),
    ("", "alias set", r"(?i:alias set)[ \t]+\S{1,60}[ \t]+https?://\S{1,200}[ \t]+\S{1,128}[ \t]+" + _ARGUMENT),
    (" -u", "smbclient", _given("smbclient", r"-U[ \t]*[\"']?[\w\\.@-]{1,60}%")),
    (
        " -",
        "htpasswd",
        r"(?i:htpasswd)[ \t]+-[A-Za-z]{0,5}b[A-Za-z]{0,5}[ \t]+\S{1,200}[ \t]+\S{1,60}[ \t]+" + _ARGUMENT,
    ),
    (
        "",
        "echo",
        r"(?i:echo)[ \t]+(?:-\w{1,3}[ \t]+)?[\"']?(?P<v>[!#-&(-{}~]{6,200}+)[\"']?[ \t]*\|[ \t]*"
        r"(?:sudo[ \t]+(?:-\w+[ \t]+){0,3}?-\w{0,3}S\b|[^\n|\0]{1,100}?"
        r"(?:--password-stdin|\benv add|\bsecrets? (?:set|put|create|add)))",
    ),
)
_CHPASSWD_HERE = r"(?i:chpasswd)[ \t]{0,3}<<<[ \t]{0,3}[\"']?[\w.-]{1,60}:(?P<v>[!#-&(-~]{6,200})"
_CHPASSWD = (
    r"(?i:echo)[ \t]+(?:-\w{1,3}[ \t]+)?[\"']?[\w.-]{1,60}:(?P<v>[!#-&(-{}~]{6,200}+)[\"']?[ \t]*"
    r"\|[ \t]*(?:sudo[ \t]+)?chpasswd"
)
_CURL_USER = r"(?<![\w-])(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,60}:(?P<v>[!#-&(-;=?-_a-~]{4,200})"

_CURL_COOKIE = (
    r" -b[ \t]?[\"'](?:[\w.-]{1,64}=[^;\"'\n\0]{0,200};[ ]?){0,8}?[\w.-]{1,64}+=(?P<v>[\w.~+/%:|!-]{20,2000}+={0,2})"
)


def find_arguments(text: str, lower: str) -> Iterator[Secret]:
    """Find what commands are given as a token or, by an option, as a password."""
    spaced = lower.replace("\t", " ") if "\t" in lower else lower
    options = set(compiled(" -[a-z-]").findall(spaced))
    given = {"", " -", *options} if options else {""}
    for option, command, pattern in _COMMANDS:
        if option in given and command in lower:
            yield from values_at("assignment", text, starts(lower, command), pattern, is_password)
    if "chpasswd" in lower:
        yield from values_at("assignment", text, starts(lower, "echo"), _CHPASSWD, is_password)
        yield from values_at("assignment", text, starts(lower, "chpasswd"), _CHPASSWD_HERE, is_password)
    if "curl" in lower:
        for option in ("-u", "--user"):
            yield from values_at("authorization", text, starts(text, option), _CURL_USER, is_password)
        yield from values_at("authorization", text, starts(text, " -b"), _CURL_COOKIE, is_credential)
