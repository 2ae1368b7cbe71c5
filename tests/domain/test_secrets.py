"""Secrets: every vendor shape, place and assignment is found, and what only looks like one is left alone."""

from __future__ import annotations

import base64
import random
import string
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.domain.safety.secrets import find_secrets, names_secret, redact
from tests.growth import costs_at_most, grows_linearly

if TYPE_CHECKING:
    from collections.abc import Callable

# No literal below has the shape of a token: all are put together when the tests run.
R = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4"
HEX = "9f86d081e84c7d659a2feaa0c55ad0153f4b" + "1b2c0b82cd15d6c15b0f"
UUID = "3f2b8c1e-9d47-4a06-b5e8-71c09da2f364"
B64 = "q8Zk1vXw+/Rt5YbN3mLp7JhGd2sFa9KcUe4oVi6TyQxBz0WnHjMrEl"
PW = "s3cr3t" + "Pass9"
JWT = ".".join(("ey" + "JhbGciOiJIUzI1NiJ9", "ey" + "JzdWIiOiJhcHAtNDIifQ", R[:43]))
BASIC = "Ym90OkE" + "xYjJDM2Q0RTU="

VENDORS = {
    **{p: p + R[:36] for p in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")},
    "github_pat": "github_pat_" + R[:22] + "_" + R + R[:11],
    **{p: p + R[:20] for p in ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "gloas-")},
    "glpat-routable": "glpat-" + R[:27] + ".01.0z1abcdef",
    **{p: p + "1234567890-" + R[:12] for p in ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-")},
    "xapp": "xapp-1-A0" + R[:9].upper() + "-1234567890123-" + HEX,
    "AKIA": "AKIA" + "Q3EGRN5TJD2KXW7B",
    "ASIA": "ASIA" + "Q3EGRN5TJD2KXW7B",
    "AIza": "AIza" + R[:35],
    "ya29": "ya29." + R,
    "GOCSPX": "GOCSPX-" + R[:28],
    "sk": "sk-" + R,
    "sk-hex": "sk-" + HEX[:32],
    "sk-proj": "sk-proj-" + R + "_" + R,
    "sk-ant": "sk-ant-" + "api03-" + R + R,
    "sk_live": "sk_live_" + R[:24],
    "rk_live": "rk_live_" + R[:24],
    "whsec": "whsec_" + R[:32],
    "npm": "npm_" + R[:36],
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + R + R,
    "hf": "hf_" + R[:34],
    "hf-letters": "hf_" + "kQzWnXbTvRgLpMdHsJcFyKxBwZqNtVrGmP",
    "telegram": "1234567890" + ":AA" + R[:33],
    "discord": "MTA" + R[:21] + "." + R[:6] + "." + R[:38],
    "sendgrid": "SG." + R[:22] + "." + R[:43],
    "twilio": "SK" + HEX[:32],
    "mailgun": "key-" + HEX[:32],
    "digitalocean": "dop_v1_" + HEX + HEX[:8],
    "linear": "lin_api_" + R[:40],
    "notion-old": "secret_" + R[:43],
    "notion": "ntn_" + R[:46],
    "jwt": JWT,
    "vault": "hvs." + R[:28],
    "groq": "gsk_" + R,
    "databricks": "dapi" + HEX[:32],
    "shopify": "shpat_" + HEX[:32],
    "age": "AGE-SECRET-KEY-1" + (R + R).upper()[:58],
    "alibaba": "LTAI" + R[:20],
    "alibaba-sts": "STS." + R[:24],
    "baidu": "bce-v3/" + "ALTAK-" + R[:21] + "/" + HEX[:40],
    "volcengine": "AKLT" + R[:44],
    "jdcloud": "JDC_" + R[:28].upper(),
    "dingtalk": "SEC" + HEX + HEX[:8],
    "serverchan": "SCT" + "123456T" + R[:24],
    "openai-session": "sess-" + R[:40],
    "openai-none": "sk-None-" + R[:20] + "T3BlbkFJ" + R[20:40],
    "together": "tgp_v1_" + R[:43],
    "fireworks": "fw_" + R[:24],
    "cerebras": "csk-" + R.lower()[:48],
    "nvidia": "nvapi-" + R + R[:16],
    "elevenlabs": "sk_" + HEX[:48],
    "jina": "jina_" + HEX[:32] + R[:28],
    "firecrawl": "fc-" + HEX[:32],
    "pinecone": "pcsk_" + R[:5] + "_" + R + R[:15],
    "wandb": "wandb_v1_" + R,
    "e2b": "e2b_" + HEX[:40],
    "google-new": "AQ.Ab8" + R,
    "fcm": "AAAA" + R[:7] + ":APA91b" + R * 3,
    "aws-session": "IQoJb3JpZ2lu" + R * 3,
    "aws-bedrock": "bedrock-api-key-" + R * 3,
    "azure-common": R + R[:4] + "JQQJ99" + R[:26],
    "azure-devops": R + R[:28] + "AZDO" + R[:4],
    "cloudflare-origin": "v1.0-" + HEX[:24] + "-" + HEX + HEX,
    "mailchimp": HEX[:32] + "-us14",
    "newrelic-license": HEX[:36] + "NRAL",
    "resend": "re_" + R[:8] + "_" + R[8:32],
    "cargo": "cio" + R[:32],
    "nuget": "oy2" + R.lower()[:43],
    "databricks-oauth": "dose" + HEX[:32],
    "spaces": "DO00" + R[:16].upper(),
    "vercel": "vcp_" + R,
    "render": "rnd_" + R[:28],
    "neon": "napi_" + (R + R).lower()[:64],
    "honeycomb": "hcaik_01" + (R + R).lower()[:56],
    "onepassword-secret-key": "A3-" + "K7Q2MX-R4T9WZ-H3V8N-P6C2D-Y5B7J-G9F4S",
    "clickup": "pk_" + "12345678_" + R[:32].upper(),
    "typeform": "tfp_" + R,
    "paypal": "access_token$" + "production$" + R.lower()[:16] + "$" + HEX[:32],
    "facebook": "EAA" + "C" + R + R,
    "mapbox": "sk.eyJ" + R[:40] + "." + R[:22],
    "dropbox": "sl.u.A" + R * 3,
    "tailscale": "tskey-" + "auth-" + R[:12] + "CNTRL-" + R[:32],
    "buildkite": "bkua_" + HEX[:40],
    "circleci": "CCIPAT_" + R[:22] + "_" + HEX[:40],
    "sonar": "squ_" + HEX[:40],
    "jfrog": "AKCp" + R + R[:21],
    "infracost": "ico-" + R[:32],
    "launchdarkly": "sdk-" + UUID,
    "posthog": "phx_" + R[:47],
    "plaid": "access-" + "production-" + UUID,
    "stripe-organisation": "sk_org_" + "live_" + R,
    "kubeconfig": "LS0tLS1CRUdJTiBQUklWQVRFIEtF" + "WS0t" + R * 4,
    "service-account": "eyJ0eXBlIjoic2VydmljZV9h" + "Y2NvdW50" + R * 4,
    "bare-private-key": "MII" + "EvQIBADANBgkqhkiG9w0BAQEFAASC" + R * 30,
    "hubspot": "pat-na1-" + UUID,
    "coze": "pat_" + (R * 3)[:64],
    "modelscope": "ms-" + UUID,
    "cursor": "key_" + HEX + HEX[:8],
    "llamacloud": "llx-" + (R * 2)[:48],
    "voyage": "pa-" + (R * 2)[:43],
    "asana": "1/1201234567890123:" + HEX[:32],
    "clojars": "CLOJARS_" + (R * 2)[:60].lower(),
    "dbt": "dbtc_" + (R * 2)[:40],
    "duffel": "duffel_live_" + (R * 2)[:43],
    "dynatrace": "dt0c01." + R[:24].upper() + "." + (R * 3)[:64].upper(),
    "easypost": "EZAK" + (R * 2)[:54],
    "elastic": "essu_" + (R * 2)[:60],
    "flutterwave": "FLWSECK-" + HEX[:32] + "-X",
    "octopus": "API-" + R[:26].upper(),
    "openshift": "sha256~" + (R * 2)[:43],
    "prefect": "pnu_" + R[:36],
    "shippo": "shippo_live_" + HEX[:40],
    "sourcegraph": "sgp_" + HEX[:40],
    "twitter": "A" * 21 + (R * 3)[:80],
    "vercel-blob": "vercel_blob_rw_" + R[:16] + "_" + R[:30],
    "yandex": "AQVN" + R[:36],
    "trello": "ATTA" + HEX + R[:8],
    "paypal-access": "A21AA" + (R * 3)[:92],
    "square-access": "EAAA" + (R * 2)[:60],
}

FOUND = {
    "slack-webhook": ("https://hooks.slack.com/services/{}", "T0A1B2C3D/B0E4F5G6H/" + R[:24]),
    "discord-webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", R + R[:20]),
    "feishu-webhook": ("https://open.feishu.cn/open-apis/bot/v2/hook/{}", UUID),
    "lark-webhook": ("https://open.larksuite.com/open-apis/bot/v2/hook/{}", UUID),
    "feishu-secret": ('"app_secret": "{}"', R[:32]),
    "feishu-secret-camel": ('appSecret: "{}",', R[:32]),
    "aws-secret": ("aws_secret_access_key = {}", B64[:40]),
    "azure-storage": ("Protocol=https;AccountName=a;AccountKey={};EndpointSuffix=x", B64 + R[:32] + "=="),
    "azure-bus": ("Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey={}", B64[:43] + "="),
    "sql-oracle": ("ALTER USER ada IDENTIFIED BY {};", PW),
    "sql-for": ("SET PASSWORD FOR 'ada'@'%' = '{}';", PW),
    "sql-with": ("CREATE USER ada WITH PASSWORD '{}';", HEX[:32]),
    "blank-hex": ("log in with password {} today", HEX[:32]),
    "blank-lower": ("here is the token {}", R[:20].lower()),
    "emphasis": ("*Password*: {}", PW),
    "underscores": ("_password_: {}", PW),
    "possessive": ("my password's {}", PW),
    "possessive-curly": ("the root password’s {}", PW),
    "ternary": ('password = a.b != "" ? a.b : "{}"', PW),
    "key-here": ("here is the key: {}", R[:24]),
    "key-here-short": ("Here's the key: {}", "W*rOIokB!h2qr*Vv9z#Q"),
    "key-mine": ("My key: {}", HEX[:32]),
    "key-is": ("the key is {}", R[:24]),
    "key-zh": ("这是 key：{}", R[:24]),
    "key-zh-is": ("key 是 {}", R[:24]),
    "login-colon": ("login: ada:{}", R[:24]),
    "admin-colon": ("admin:{}", HEX[:32]),
    "redis": ("127.0.0.1:6379> AUTH {}", R[:24]),
    "redis-user": ("AUTH default {}", PW),
    "redis-lower": ("redis> auth {}", PW),
    "redis-replica": ("masterauth {}", PW),
    "pop": ("USER ada\nPASS {}", R[:24]),
    "imap": ('a1 LOGIN "ada" "{}"', PW),
    "irc": ("/msg NickServ IDENTIFY {}", PW),
    "sasl": ("AUTH PLAIN {}", base64.b64encode(f"\0ada\0{PW}".encode()).decode()),
    "smtp": ("334 UGFzc3dvcmQ6\nC: {}", base64.b64encode(PW.encode()).decode()),
    "kubernetes": ("apiVersion: v1\ndata:\n  tls.key: {}\nkind: Secret\n", R[:32]),
    "kubernetes-plain": ("kind: Secret\nstringData:\n  conf: {}\n", R[:32]),
    "wpa": ("wpa_passphrase net {}", PW),
    "rar": ("unrar x -p{} a.rar", PW),
    "net-user": ("net user ada {} /add", PW),
    "useradd": ("useradd -p {} ada", PW),
    "expect": ('expect "assword:"\nsend "{}\\r"', PW),
    "answer": ("What's the password?\n{}", R[:24]),
    "answer-quoted": ("password?\n> {}", HEX[:32]),
    "answer-zh": ("密码多少\n{}", R[:24]),
    "answer-same-line": ("the password? {}", R[:24]),
    "answer-same-line-zh": ("密码是多少？{}", R[:24]),
    "sql-national": ("ALTER LOGIN sa WITH PASSWORD = N'{}';", PW),
    "arrow-back": ('password <- "{}"', PW),
    "podman": ("podman login -u ada -p {} reg.io", PW),
    "key-behind": ("{} is the private key", "0x" + HEX + HEX[:8]),
    "pepper": ("pepper: {}", PW),
    "bearer": ("curl -H 'Authorization: Bearer {}' https://x", R),
    "bearer-alone": ("sent Bearer {} and got 401", R[:32]),
    "basic": ("Authorization: Basic {}", BASIC),
    "authorization-token": ("Authorization: token {}", HEX[:40]),
    "mysql": ("mysql+pymysql://root:{}@10.0.0.1:3306/x", PW),
    "redis-no-user": ("redis://:{}@cache:6379/0", PW),
    "https": ("git clone https://bot:{}@git.corp/x.git", PW),
    "amqp-at": ("amqp://u:{}@mq.local", "p@" + PW),
    "mongodb-letters": ("mongodb+srv://app:{}@c0.mongodb.net", "korrektpferd"),
    "export": ("export NAME_TOKEN='{}'", R[:24]),
    "env-password": ("DB_PASSWORD={}", PW),
    "env-generic-key": ("MINIMAX_KEY={}", R[:32]),
    "json": ('{{"client_secret": "{}"}}', R[:24]),
    "json-escaped": (r'"{{\"password\": \"{}\"}}"', PW),
    "yaml": ("  password: {}\n  user: x", PW),
    "python": ('API_KEY: str = "{}"', R[:24]),
    "go": ('apiKey := "{}"', R[:24]),
    "hash-rocket": (':secret_key => "{}"', R[:24]),
    "index": ('os.environ["API_KEY"] = "{}"', R[:24]),
    "default": ('os.getenv("API_KEY", "{}")', R[:24]),
    "flag": ("tool --password {} --verbose", PW),
    "flag-equals": ("tool --api-key={}", R[:24]),
    "query": ("GET /v1?access_token={}&page=2", R[:24]),
    "prose": ('the password is "{}"', PW),
    "prose-for": ("the token for staging is {}.", R[:24]),
    "header": ("X-API-Key: {}", HEX[:32]),
    "bold": ("**Password:** {}", PW),
    "table": ("| password | {} |", PW),
    "xml": ("<password>{}</password>", PW),
    "k8s": ("- name: DB_PASSWORD\n  value: {}", PW),
    "netrc": ("machine x login bot password {}", PW),
    "symbols": ("Password: {} (changed)", "Xk9#mQ2!z"),
    "npmrc": ("//registry.npmjs.org/:_authToken={}", HEX[:36]),
    "uuid-key": ("HEROKU_API_KEY={}", UUID),
    "uuid-token": ("SNYK_TOKEN={}", UUID),
    "uuid-npmrc": ("//registry.npmjs.org/:_authToken={}", UUID),
    "pat": ("AZURE_DEVOPS_EXT_PAT={}", R.lower()[:48]),
    "ak": ("HUAWEICLOUD_SDK_AK={}", R[:20].upper()),
    "sk": ("volc_sk: {}", R[:40]),
    "long-key": ("alipay.private_key={}", R * 30),
    "jwk": ('{{"kty":"EC","crv":"P-256","d":"{}"}}', R[:43]),
    "signed-s3": ("https://b.s3.amazonaws.com/k?X-Amz-Signature={}", HEX + HEX[:8]),
    "azure-function": ("https://f.azurewebsites.net/api/x?a=b&code={}", R + "=="),
    "docker-config": ('{{"auths":{{"reg.io":{{"auth":"{}"}}}}}}', BASIC),
    "ngrok": ("ngrok config add-authtoken {}", R[:27] + "_" + R[:21]),
    "user-slash": ("用户名/密码：admin / {}", PW),
    "lenses": ("【密码】{}", PW),
    "zh-became": ("密码改成了 {}", PW),
    "ja-object": ("パスワードを {} に変更", PW),
    "pw": ("user me, pw: {}", PW),
    "now": ("The admin password is now {}.", PW),
    "for-whom": ("password for root: {}", PW),
    "set": ("npm config set token {}", R[:32]),
    "triple-quotes": ('token = """{}"""', R[:32]),
    "indexed": ("api_key[prod]={}", R[:32]),
    "in-url": ("api_key%3D{}", R[:32]),
    "query-key": ("https://h/x?key={}", R[:32]),
    "subscription": ("Ocp-Apim-Subscription-Key: {}", HEX[:32]),
    "merchant": ("mch_key: {}", R[:32]),
    "api-v3": ("apiV3Key: {}", R[:32]),
    "redis-cli": ("redis-cli -h c -a {} ping", PW),
    "mongosh": ("mongosh -u admin -p '{}' db", PW),
    "ldapsearch": ("ldapsearch -x -D cn=admin -w {}", PW),
    "seed": ("mnemonic: {}", "ripple lunar canyon motor velvet orbit sudden tiger walnut pencil gospel harbor"),
    "seed-zh": ("助记词：`{}`", "ripple lunar canyon motor velvet orbit sudden tiger walnut pencil gospel harbor"),
    "ja-colon": ("パスワード：{}", PW),
    "ja-is": ("パスワードは {} です", PW),
    "ko": ("비밀번호: {}", PW),
    "ko-is": ("비밀번호는 {}", PW),
    "ru": ("Пароль: {}", PW),
    "fr": ("mot de passe : {}", PW),
    "es": ("contraseña: {}", PW),
    "pt": ("senha: {}", PW),
    "curl-user": ("curl -u admin:{} https://x", PW),
    "name-blank": ("OPENAI_API_KEY {}", R[:40]),
    "cookie": ("Cookie: theme=dark; session={}", R[:32]),
    "set-cookie": ("Set-Cookie: sid={}; Path=/; HttpOnly", HEX[:32]),
    "docker-login": ("docker login -u bot -p {} reg.io", PW),
    "mysql-p": ("mysql -uroot -p{} shop", PW),
    "entity": ("token&#61;{}", R[:24]),
    "entity-hex": ("token&#x3D;{}", R[:24]),
    "entity-quotes": ("&quot;token&quot;:&quot;{}&quot;", R[:24]),
    "letters": ("API_KEY={}", "kxwqzmvb" + "trplnghs"),
    "wide-name": ("ＡＰＩ＿ＫＥＹ＝{}", R[:24]),
    "soft-hyphen-in-name": ("pass\u00adword: {}", PW),
    "zh-bare": ("root密码 {}", PW),
    "zh-colon": ("密码：{}", PW),
    "zh-is": ("口令是 {}，请勿外传", PW),
    "zh-key": ("密钥: {}", R[:32]),
    "zh-equals": ("令牌={}", R[:24]),
    "zh-changed": ("数据库密码已经改为：{}。", PW),
    "zh-next-to-it": ("账号 ada，密码{}，请勿外传", PW),
    "listed": ('"credentials": ["ada", "{}"]', PW),
    "listed-bare": ("tokens: [{}]", R[:24]),
    "comma": ("The root password, {}, is in the vault.", PW),
    "changed-from": ("changed the password from {} to a longer one", PW),
    "changed-to": ("changed the password from `x` to {} today", PW),
    "user-info": ("http_proxy=ada:{}@proxy.corp:3128", PW),
    "zh-backtick": ("访问令牌为 `{}`", R[:24]),
}

CLEAN = [
    "the password policy changed; the token is refreshed each hour",
    "see https://user@host/x and postgres://user:${PASSWORD}@host/db",
    "postgres://user:password@localhost/db and mysql://u:<password>@h and redis://u:***@h",
    "http://localhost:8080/a@b and http://127.0.0.1:3000, mail x@y.org",
    "docker://image:v1.2@sha256:" + HEX,
    "API_KEY=your-api-key-here-123 TOKEN=xxxxxxxxxxxxxxxx SECRET=changeme123",
    "API_KEY=${API_KEY_2} TOKEN=$(get_token 12) password: {{ vault_pw1 }} SECRET_KEY=<secret-key-1>",
    'token = os.environ["GITHUB_TOKEN_2"]; secret: process.env.SECRET_V2; apiKey = import.meta.env.VITE_KEY1',
    "password = None; token: null; secret: true",
    "private_key: /etc/ssl/private/server1.key and secret: ./secrets/db1.txt",
    "password = get_password(user1) ; token = self.tokens[idx1]",
    "commit " + HEX[:40] + " and integrity sha256:" + HEX,
    "the key fix is in commit " + HEX[:40],
    "token_hash: " + HEX[:40] + "\nkey_id = " + R[:20],
    "request id " + UUID + ", session token: " + UUID,
    "![x](data:image/png;base64," + B64 * 20 + ")",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "sk-learn-pipeline-for-classification-2024 task-sk-runner",
    "ghp_" + "x" * 36,
    "a header reads -----BEGIN RSA PRIVATE " + "KEY----- and then the Base64 follows in lines",
    "-----BEGIN PUBLIC KEY-----\n" + B64 + "\n-----END PUBLIC KEY-----",
    "max_tokens: 128000, tokenizer: Qwen2.5-7B-Instruct, tokens=4096",
    "cache_key: user42profile7v3 and primary key: id1a2b3c4",
    "Basic authentication and Bearer authentication are supported",
    "密码：请联系管理员；令牌的有效期是 30 天；密钥：见 docs/keys-2024.md",
    "password: string; secret: z.string().min(8)",
    "sortKey: createdAtTimestamp, key: projects-arena-decision, token: refresh-token-rotation-v2",
    "secretKey: databaseCredentialsProvider\ntoken: authentication_middleware_v2\ntoken: ERC20TokenContract",
    "client_secret: vault-managed-since-2024-06\nsecret: feat/add-oauth2-login\nsecretName: k8s-tls-wildcard-2024",
    "password: correct-horse-battery-staple and API_KEY: zhangsan-lisi-wangwu",
    "TOKEN=$(gh auth token) SECRET=$GITHUB_SECRET_V2_X PASSWORD=%DB_PASSWORD_2% token: {access_token_2}",
    "secret: config.secrets.database.password, apiKey: this.config.apiSecretValue, TOKEN: github.event.head.sha",
    "token = self._load_token_2(); tokens: list[TokenInformation2]; secret: &db-pass-anchor1",
    "API_KEY=https://example.org/keys/12345678 TOKEN_ENDPOINT=/oauth2/v1/token TOKEN=/run/secrets/api-token-1",
    "private_key: ed25519.Ed25519PrivateKey, KEY_USAGE = _lib.X509_V_ERR_KEYUSAGE_NO_SIGN, Token.Error: 'bg:#550000'",
    "secret: V1SecretProjection; tokens: enable_k8s_tokens_via_dns; secret: `projects/*/secrets/*/versions/*`",
    "primary key: " + UUID + "; the secret is in commit " + HEX[:40],
    "API_KEY OPENAI_API_KEY_2024_PRODUCTION and MAX_TOKEN 20480000000000000000000",
    "glpat-your-personal-access-token sk-ant-name-of-the-key-goes-here xapp-feature-rollout-plan-2024",
    "glpat-" + "x" * 20 + " AKIA" + "0" * 16 + " ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "mysql -h db -p --port=3306; mysql -p$MYSQL_ROOT_PASSWORD; docker login -p $PASSWORD; docker login -p ${CI_TOKEN_2}",
    "redis://:<password>@host:6379 and PATTERN=a1b2c3d4e5f6g7h8 FILE_PATH=Ab1Cd2Ef3Gh4Ij5K",
    "SESSION_TOKEN=" + UUID + " REQUEST_TOKEN: " + UUID + " refresh token = " + UUID,
    "npm run build-us12 fc-match fw_printenv_and_more re_compile_everything pk_orders_customers napi_create_string_utf8",
    "v1.0-beta.2 tskey-auth sess-manager-configuration-with-a-long-name-that-ends EAAAAAAAAAAAAAAAAA SEC123",
    "a mnemonic: please excuse my dear aunt sally; the phrase: every good boy does fine and every cow eats grass all day",
    "mnemonic: " + "abandon " * 11 + "about",
    "密钥指纹：" + HEX[:32] + "，令牌的哈希：" + HEX + "，密码摘要=" + HEX[:40] + "，密钥编号：" + R[:20],
    "The password storage is Argon2id, the token service is now Auth0M2M, the API key rotation is ARENA-228b.",
    "--- PASS: TestOAuth2Flow (0.01s)\n    --- PASS: TestLoginV2/Sub1 (0.00s)\nfirst pass: Qwen2.5-72B",
    "check_first_pass(recurse_into_functions=False), password (Argon2id), admin / ReadOnlyV2, token -> Python3.11",
    "## Token\nOAuth2PKCE\n\n## Secrets\n- K8sServiceAccountV2\n\n## Passwords\nPBKDF2WithHmacSHA256\n",
    "令牌桶:100req/s,burst200 密钥交换:X25519Kyber768 授权码模式:OAuth2PKCE 密码输入框:AntD5Input2 凭证:K8sServiceAccountV2",
    "| Secret | Owner |\n|---|---|\n| payments/stripe-2024Q3 | ada |\n| db-main-eu1-rw | bob |\n| deploy-eu1-v2 | cy |\n",
    "パスワードは十二文字以上です。비밀번호는 12자 이상. Пароль: не менее 12 символов.",
    '{"kty":"RSA","e":"AQAB","n":"' + R * 4 + '"} and the public MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A' + R * 5,
    "Cookie: the session cookie is sent\nSet-Cookie: lang=en-and-a-long-description; Path=/; _ga=GA1.2."
    + "1234567890.1700000000",
]


# Sentences and settings about something else. A value that nothing tells from a word stays too.
CLEAN += [
    "the password is swordfish, the password is wrong, use password authentication2 and the token rotation",
    "here is the sort key: createdAtTimestamp and the cache key is " + HEX[:40] + "; key: " + R[:24],
    "login: ada:1000 user: root:docker admin: admin:admin, chown root:www-data; LOGIN page2 settings",
    "<h3>Auth related configuration</h3>\nAUTH is required\nPASS tests2\nauth service2\nidentify user2\n",
    "kind: ConfigMap\ndata:\n  seed: "
    + R[:32]
    + "\n---\nkind: Secret\ndata:\n  tls.crt: "
    + B64
    + "\n---\ndata:\n  x: "
    + R,
    "Which token? GPT4TurboPreview or OAuth2PKCE; 密码规则？见 docs/keys-2024.md，令牌类型？K8sServiceAccountV2",
    "each row is identified by " + HEX[:32] + "; a token sha256withrsaencryption, the secret utf8mb4unicodeci",
    "get_api_returns_unauthorized_for_401_response test_token_RefreshesOnUnauthorized401 my_secret_santa_2024_party_list",
    "apt\tnano\t7.2-1\napt\tpasswd\t1:4.13\napt\tlib32gcc-s1\t12.2.0-14+deb12u1\n",
    "the key, ARENA-228b, fits; 密码PBKDF2WithHmacSHA256，令牌OAuth2PKCE；tokens: [ERC20Token, V1Secret], user:1000@db.local",
    "acme_create_session_from_browser_2024 file_0123456789abcdef0123456789abcdef img_AbstractWidgetFactoryProviderImpl2",
    "the end is _phg, which is ghp_ backwards, and tap_buhtig-with-a-long-name-that-ends_tap_buhtig",
]


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


def test_cases(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    seen = {case["id"]: (case, *redact(case["text"])) for case in [*cases("redaction"), *cases("more_redaction")]}
    plain = {name: one for name, one in seen.items() if one[0]["secret"] is None}
    assert [name for name, (case, clean, found) in plain.items() if (clean, found) != (case["text"], ())] == []
    told = {name: one for name, one in seen.items() if name not in plain}
    assert [name for name, (case, clean, found) in told.items() if case["secret"] in clean or not found] == []


FRAMES = ("{}", "用了{}，然后", "see `{}`.", 'x("{}")', r"\n{}\n", "https://h/?q={}&b=1")


@pytest.mark.parametrize("name", VENDORS)
def test_vendor_shapes_wherever_they_stand(name: str) -> None:
    cleaned = {frame: redact(frame.replace("{}", VENDORS[name])) for frame in FRAMES}
    wanted = {
        frame: [frame.replace("{}", f"[REDACTED:{one.kind}]") for one in found] for frame, (_, found) in cleaned.items()
    }
    assert {frame: [clean] for frame, (clean, _) in cleaned.items()} == wanted


@pytest.mark.parametrize("name", FOUND)
def test_places_and_assignments(name: str) -> None:
    frame, value = FOUND[name]
    text = frame.format(value)
    clean, found = redact(text)
    assert [text[secret.start : secret.end] for secret in found] == [value]
    assert value not in clean


@pytest.mark.parametrize("text", CLEAN)
def test_what_is_no_secret(text: str) -> None:
    assert [text[secret.start : secret.end] for secret in find_secrets(text)] == []


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
def test_private_keys(label: str) -> None:
    begin, end = (f"-----{word} {label}PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    body = "\n".join([B64, R, B64[::-1], "Qz12=="])
    for text in (
        f"{begin}\n{body}\n{end}",
        f"{begin}\n{body}",
        f'"{begin}\n{body}\n{end}\n"'.replace("\n", "\\n"),
        f"> {begin}\n> {body}\n> {end}".replace("\n", "\n> "),
        f"{begin} {body} {end}".replace("\n", " "),
        f"{begin}\n{body[:60]}\n...\n{R}\n{end}",
    ):
        clean, found = redact(f"before\n{text}\nafter it came prose")
        assert [secret.kind for secret in found] == ["private-key"]
        assert clean.startswith("before\n")
        assert clean.endswith("\nafter it came prose")
        assert not any(line in clean for line in body.split("\n")[:3])


def test_pgp_and_putty_blocks() -> None:
    begin, end = (f"-----{word} PGP PRIVATE " + "KEY BLOCK-----" for word in ("BEGIN", "END"))
    pgp = f"{begin}\nVersion: GnuPG v2\n\n{B64}\n=aB3d\n{end}"
    assert redact(pgp)[0] == "[REDACTED:private-key]"
    assert kinds("Private-Lines: 2\n" + B64 + "\n" + R) == ["private-key"]


def test_a_value_is_redacted_wherever_it_stands() -> None:
    clean, found = redact(f"postgres://app:{PW}@db\n\nThen I typed {PW} again, and {PW}.")
    assert PW not in clean
    assert len(found) == 3


def test_redacted_text_is_left_alone() -> None:
    text = "password: [REDACTED:assignment] and [REDACTED:github-token]"
    assert redact(text) == (text, ())
    hidden = "[REDACTED:" + "ghp_" + R[:36] + "]"
    assert "ghp_" + R[:36] not in redact(hidden)[0]


def test_offsets_survive_letters_that_grow_when_lowered() -> None:
    text = "İİİ password: " + PW
    assert [text[s.start : s.end] for s in find_secrets(text)] == [PW]


LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
BASE62 = LOWER + UPPER + DIGITS
URLSAFE = BASE62 + "-_"
HEXADECIMAL = DIGITS + "abcdef"
SYMBOLS = "!#$%^&*+?@~-_."
DRAWS = [  # frame, alphabet, length, the share that may be missed
    *(("API_KEY={}", LOWER + DIGITS, n, 0.01) for n in (16, 32, 40)),
    *(("API_KEY={}", UPPER + DIGITS, n, 0.01) for n in (16, 20, 32)),
    *(("API_KEY={}", BASE62, n, 0.01) for n in (16, 20, 24, 32, 40)),
    *(("API_KEY={}", HEXADECIMAL, n, 0.01) for n in (16, 32, 40, 64)),
    *(("API_KEY={}", LOWER, n, 0.01) for n in (16, 20, 40)),
    *(("API_KEY={}", LOWER + UPPER, n, 0.01) for n in (16, 20, 40)),
    *(('"client_secret": "{}"', URLSAFE, n, 0.01) for n in (16, 24, 43)),
    *(("SECRET_KEY: {}", BASE62 + "+/", n, 0.01) for n in (24, 40)),
    *(('password = "{}"', BASE62 + SYMBOLS, n, limit) for n, limit in ((8, 0.08), (12, 0.025), (16, 0.01))),
    *(("PASSWORD={}", BASE62 + SYMBOLS, n, limit) for n, limit in ((8, 0.16), (12, 0.04), (16, 0.015))),
    *(("API_KEY={}", BASE62, n, limit) for n, limit in ((8, 0.11), (12, 0.02))),
    *(("DB_PASSWORD={}", LOWER + DIGITS, n, limit) for n, limit in ((8, 0.26), (10, 0.23), (12, 0.13), (15, 0.07))),
    *(("DB_PASSWORD={}", LOWER, n, limit) for n, limit in ((8, 0.32), (12, 0.25), (15, 0.3))),
    ("AKIA{}", UPPER + "234567", 16, 0),
    *(("glpat-{}", URLSAFE, n, 0) for n in (20, 27)),
    ("sk-{}", BASE62, 48, 0),
    ("sk-proj-{}", URLSAFE, 48, 0),
    ("sk-ant-{}", URLSAFE, 95, 0),
    ("hvs.{}", URLSAFE, 24, 0),
    ("GOCSPX-{}", URLSAFE, 28, 0),
    ("dckr_pat_{}", URLSAFE, 27, 0),
    ("LTAI{}", BASE62, 20, 0),
    ("ghp_{}", BASE62, 36, 0),
    *(("acme_{}", BASE62, n, 0.02) for n in (32, 40, 64)),
    ("xoxb-1234567890-{}", BASE62, 24, 0),
    ("AIza{}", URLSAFE, 35, 0),
    ("SK{}", HEXADECIMAL, 32, 0),
]


@pytest.mark.parametrize(("frame", "alphabet", "size", "limit"), DRAWS)
def test_random_values_are_found(frame: str, alphabet: str, size: int, limit: float) -> None:
    draw = random.Random(f"{frame} {alphabet} {size}")
    values = ["".join(draw.choices(alphabet, k=size)) for _ in range(1000)]
    lines = [frame.format(value) + "\n\n" for value in values]
    ends = list(accumulate(map(len, lines)))
    found = {bisect(ends, secret.start) for secret in find_secrets("".join(lines))}
    missed = [value for at, value in enumerate(values) if at not in found]
    assert len(missed) <= limit * len(values), missed[:5]


@pytest.mark.parametrize("name", VENDORS)
def test_tokens_in_quoted_printable(name: str) -> None:
    written = "".join(f"={ord(character):02X}" for character in VENDORS[name])
    assert redact(f"see {written} there")[0] == f"see [REDACTED:{kinds(VENDORS[name])[0]}] there"


@pytest.mark.parametrize("name", VENDORS)
def test_tokens_in_other_letters(name: str) -> None:
    token = VENDORS[name]
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() or c in "-_" else c for c in token)
    assert redact(f"用了 {wide} 然后")[0] == f"用了 [REDACTED:{kinds(token)[0]}] 然后"
    for mark in "\u200b\u200c\u00ad":
        at = len(token) // 2
        for hidden in (f"{token[:at]}{mark}{token[at:]}", f"{token[:2]}{mark}{token[2:]}"):
            assert redact(f"see {hidden} there")[0] == f"see [REDACTED:{kinds(token)[0]}] there"
        assert redact(f"x{mark}{token}")[0] == f"x{mark}[REDACTED:{kinds(token)[0]}]"


ENVIRONMENT = f"DEBUG=true\nHOST=db.internal\nAPI_KEY={R[:24]}\n{'LANG=C' * 20}\n".encode()
WRITTEN = [  # another writing of a credential, and what is left when it is replaced
    (f"ghp%5F{R[:36]}", ""),
    (f"\\u0067hp_{R[:36]}", ""),
    (f"\\x67hp\\x5f{R[:36]}", ""),
    (f"1234567890%3AAA{R[:33]}", ""),
    (base64.b32encode(f"ghp_{R[:36]}".encode()).decode(), ""),
    (base64.b32encode(f"sk-ant-api03-{R}".encode()).decode().rstrip("=").lower(), ""),
    (base64.b32encode(ENVIRONMENT).decode(), ""),
    ("".join(f"={byte:02X}" for byte in f"glpat-{R[:20]}".encode()), ""),
    (f"ghp_{R[:16]}=\n{R[16:36]}", ""),
    (f"xoxb-1234567890-{R[:9]}=\r\n{R[9:24]}", ""),
    (f"ghp_{R[:36]}"[::-1], ""),
    (f"tskey-auth-{R[:12]}CNTRL-{R[:32]}"[::-1], ""),
    (f"fooAKIA{'Q3EGRN5TJD2KXW7B'}", "foo"),
    (f"keyAIza{R[:35]}", "key"),
    (base64.b64encode(ENVIRONMENT).decode(), ""),
    (f"ENV_B64={base64.urlsafe_b64encode(ENVIRONMENT).decode()}", "ENV_B64="),
    (base64.encodebytes(ENVIRONMENT).decode().rstrip(), ""),
    (base64.encodebytes(ENVIRONMENT[:57]).decode().rstrip() + "\nThe rest", "\nThe rest"),
]


@pytest.mark.parametrize(("text", "left"), WRITTEN)
def test_a_credential_in_another_writing(text: str, left: str) -> None:
    clean, found = redact(f"see {text} there")
    assert len(found) == 1
    assert clean.replace(f"[REDACTED:{found[0].kind}]", "") == f"see {left} there"


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b"DEBUG=true\nHOST=db.internal\nLANG=C\n" * 4).decode(),
        "internationalizationAndLocalizationOfAllTheThings " * 4,
        base64.b32encode(b"DEBUG=true\nHOST=db.internal\nLANG=C\n" * 4).decode(),
        "MAX_TOKENS_PER_REQUEST=\nMAX_TOKENS_PER_SESSION=4096abcd\nX=41=42=43=44",
        "Content-Type: text/plain=3B charset=3Dutf-8=0A",
        "https://h/?q=100%25%20of%20ghp%5Fusers",
    ],
)
def test_another_writing_of_what_is_no_credential(text: str) -> None:
    assert kinds(text) == []


FRAGMENTS = st.sampled_from(
    [
        *VENDORS.values(),
        *(frame.format(value) for frame, value in FOUND.values()),
        *CLEAN,
        "password=",
        "token: ",
        "://a:",
        "@",
        "sk-",
        "eyJ",
        "[REDACTED:assignment]",
        "[REDACTED:",
        "]",
        "\0",
        "密码：",
        "\u200b",
        "\u00ad",
        "ｔｏｋｅｎ＝",
        "Cookie: a=",
        "mysql -p",
        "&#61;",
        "&#95;",
        "\\_",
        '\\"',
        "%5F",
        "\\u005f",
        base64.b64encode(ENVIRONMENT).decode(),
        "root / ",
        "WIFI:T:WPA;P:",
        "otpauth://totp/a?secret=",
        'document.cookie="sid=',
        PW,
        "\n",
        "-----BEGIN RSA PRIVATE " + "KEY-----\n",
        "-----END RSA PRIVATE " + "KEY-----",
        B64,
        " ",
        '"',
        "'",
        "=",
        ":",
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=12), max_size=8).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_redaction_holds_for_any_text(text: str) -> None:
    found = find_secrets(text)
    end = 0
    kept = []
    for secret in found:
        assert end <= secret.start < secret.end <= len(text)
        kept.append(text[end : secret.start])
        end = secret.end
    kept.append(text[end:])
    clean, same = redact(text)
    assert same == found
    marks = [f"[REDACTED:{secret.kind}]" for secret in found]
    assert clean == "".join(part for pair in zip(kept, [*marks, ""], strict=True) for part in pair)
    assert redact(clean) == (clean, ())
    assert not any(text[secret.start : secret.end] in clean for secret in found)


@pytest.mark.parametrize(
    "fragment",
    [
        "A",
        "eyJ",
        "sk-",
        "-----BEGIN",
        "://a:",
        "password=",
        "token:",
        "key-",
        'password="',
        "a.",
        "密码：",
        "secret_",
        "\n",
        "0",
        "-----BEGIN PRIVATE " + "KEY-----\n",
        "password is ",
        "1//0",
        "eyJ.",
        "password=" + PW + " ",
        "cookie: a=",
        "Cookie: a=" + R[:24] + "; ",
        "mysql ",
        "docker login ",
        "token&#61;",
        "token &",
        "ｔ\u200b",
        "API_KEY ",
        "aB",
        "-us1",
        "JQQJ9",
        "MIIEIBAAKC",
        '"kty" "d":"',
        "key=\"key='key=`",
        "a.azurewebsites.net/?&code=",
        "パスワードは",
        "password for a b ",
        "password: a / ",
        "token%3D",
        "【密码】",
        "mongo -p",
        "*:5432:a:b:",
        ":11",
        "password\n",
        "password,\n",
        "password,a\nb,c\n",
        "|password|\n|a1|\n",
        "token%3Dx%21",
        "token(\n'",
        "'a'\n",
        "a\\\n",
        "password 1 ",
        "password <b>",
        "password:</b> ",
        "password a be ",
        "a1B2c3D4e5 is the password ",
        "password a:\n",
        "密码，换成",
        "pat\n|sk|\n",
        "API key " + HEX[:32] + " ",
        "getconnection(a, 'b', ",
        "Qwen2.5-",
        "echo aaaaaa ",
        "auth=('a','",
        "password (",
        "password - ",
        "7z -",
        "set token ",
        "://a:b/",
        "postgres://a:b#c",
        "curl -b 'a=b; ",
        "://abcdefghijklmnop1",
        'password="\\"',
        "password='a''",
        "password\n: ",
        "password aB1",
        "pass\\_",
        "&#95;",
        "root / ",
        "login: a / b1",
        "WIFI:S:a;",
        "WIFI:P:a\\",
        "otpauth://a?",
        "otpauth://a?b&secret=",
        'cookie: a="b',
        "cookies['a'] = '",
        'default: "Kv9mR2tQ7xLw3"',
        "a_token:\n  value: Kv9mR2tQ7xLw3\n",
        'token {value="Kv9mR2tQ7xLw3", ',
        '"token", "a": "b", ',
        "password?\nit's ",
        "token { get; ",
        "identified by 'a",
        "net use \\\\a ",
        "insert into a (token) values ('a'),",
        "insert into a (token, ",
        "('a'), ",
        "password 发我 ",
        "root/",
        "admin/Kv9mR2tQ7xLw3 ",
        "psk del a b ",
        "password?\na",
        "gh secret set -b ",
        "echo a:bcdefgh | ",
        "%5F",
        "\\x67",
        "aA",
        "SG.",
        "A" * 70 + "\n",
        "QVBJX0tFWT1x",
        "!a ",
        "token(a=",
        "**",
        "414b",
        "41 4b ",
        "0x41, ",
        "'a' 'b",
        "a**b",
        '\\\\\\"a',
        "\\u{41}",
        "\\101",
        "\u200e\u2066",
        "token = a or ",
        "token = a ? b || ",
        "token: a<b[",
        "hash of the token ",
        "sha(token",
        "xghp_a",
        "mint token ",
        "AUTH a1B2c3D4\n",
        "redis> auth a\n",
        "PASS a1B2c3D4\n",
        "a LOGIN b c1D2\n",
        "nickserv identify a ",
        "auth plain AGFk ",
        "334 UGFzc3dvcmQ6\n",
        "create user a identified by a1B2c3D4",
        "kind: Secret\ndata:\n a: A1b2C3d4\n",
        "kind: Secret\n---\n",
        "A2B3" * 8,
        "a2" * 12 + " ",
        "=41",
        "a1B2c3D4e5=\n",
        "_live_a1",
        "a_api_" + R[:20] + "_",
        "phg " + R,
        "login: a:b1C2 ",
        "admin:a1B2c3D4e5",
        "here is the key: ",
        "the key is a1B2 ",
        "password's ",
        "password for 'a'@'b ",
        "9f86d081e84c7d659a2feaa0c55ad015.A",
    ],
)
def test_time_grows_with_the_text_and_no_faster(fragment: str) -> None:
    assert grows_linearly(find_secrets, fragment * (2_000 // len(fragment)), to=fragment * (16_000 // len(fragment)))


@pytest.mark.parametrize("fragment", ["token%3D", "token%3Dx%21", "password=", "token:", "key/", "%3D"])
def test_a_value_is_not_judged_again_from_each_name_within_it(fragment: str) -> None:
    """A value has at most 4,096 characters: beyond that any growth looks linear."""
    assert grows_linearly(find_secrets, fragment * (250 // len(fragment)), to=fragment * (4000 // len(fragment)))


def test_prose_costs_little() -> None:
    prose = (
        "We keep the index in one file because a rebuild is cheap; the file can be deleted at any time. Each seat "
        "reads `docs/design.md` and writes records of its own, the key of which is a path. Tests: 12 passed. "
    )
    prose = (prose * 6)[:1024]

    def repeat(work: Callable[[], object]) -> None:
        for _ in range(2000):
            work()

    assert costs_at_most(
        40, lambda: repeat(lambda: find_secrets(prose)), than=lambda: repeat(lambda: prose.lower().split())
    )


@pytest.mark.parametrize(
    "name",
    [
        *("password", "db_password", "dbPassword", "DB_PASS", "pass", "passwd", "passphrase", "password2", "db_pwd"),
        *("secret", "client-secret", "token", "tokens", "auth.token", "api_key", "apiKey", "APIKey", "private_key"),
        *(
            "credential",
            "credentials",
            "creds",
            "aws_sk",
            "AK",
            "GITHUB_PAT",
            "密 码",
            "MINIMAX_API_KEY",
            "ssh_key",
            "_auth",
            "密码",
            "数据库口令",
        ),
    ],
)
def test_a_name_that_is_that_of_a_credential(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("pass_rate", "passed", "bypass", "passport", "pwd", "OLDPWD", "max_tokens", "token_count", "tokenizer"),
        *("secretary", "key", "keys", "keyboard", "public_key", "sort_key", "private_key_path", "credential_file"),
        *(
            "task",
            "disk",
            "break",
            "path",
            "pattern",
            "TOKEN_ALGO",
            "secret_encoding",
            "publicKeyToken",
            "nextForwardToken",
        ),
        *("author", "token_type", "next_page_token", "password_policy", "", "key_figures"),
        *("密钥路径", "密码策略", "令牌有效期", "密钥的指纹"),
    ],
)
def test_a_name_that_only_sounds_like_one(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize("after", ["example", "A" * 50, "placeholder\n", "changeme and more"])
def test_what_stands_behind_a_key_without_an_end_makes_no_example_of_it(after: str) -> None:
    key = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"
    assert [found.kind for found in find_secrets(f"{key}\n{after}")] == ["private-key"]
