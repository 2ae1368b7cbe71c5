"""Word lists behind the patterns: extensions, well-known names with a dot in them, standards that look like task ids.

Domain room: constants and the questions asked of them.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXTENSIONS = _words(
    "tsx ts mts cts jsx js mjs cjs py pyi ipynb md mdx toml sh bash zsh fish ps1 bat json jsonl json5 yaml yml sql"
    " rs go java kt kts rb php c h cc cpp cxx hpp hh cs fs swift m mm vue svelte css scss sass less html htm xml"
    " lock ini cfg conf env txt csv tsv proto gradle scala ex exs erl lua pl r jl dart zig nix tf hcl graphql rst"
    " adoc patch diff log plist jsonc astro prisma tfvars bzl cmake groovy hs clj sol tex mk"
)
BARE_FILES = frozenset({"Dockerfile", "Makefile", "Jenkinsfile", "Justfile", "Rakefile", "Gemfile", "Procfile"})
PRODUCTS = _words(
    "node.js next.js vue.js react.js nuxt.js express.js three.js d3.js p5.js chart.js discord.js ember.js backbone.js"
    " angular.js nest.js alpine.js moment.js socket.js electron.js underscore.js"
)
LOCKS = _words(
    "Cargo.lock poetry.lock yarn.lock uv.lock pdm.lock Pipfile.lock Gemfile.lock composer.lock flake.lock mix.lock"
    " pubspec.lock Podfile.lock package-lock.lock bun.lock deno.lock"
)
STANDARDS = _words(
    # characters, hashes, ciphers, protocols
    "UTF UCS ASCII ISO IEC IEEE RFC ECMA ES PEP ANSI DIN EN BS JIS GB GBK KOI CP LATIN UNICODE WINDOWS"
    " SHA MD AES DES RSA ECC DSA HMAC CRC BLAKE BASE CHACHA POLY SALSA ED X PKCS FIPS NIST PBKDF ARGON FNV XXH"
    " HTTP HTTPS HTTP2 TLS SSL SSH TCP UDP IP IPV IPV4 IPV6 DNS OAUTH OIDC SAML SMTP IMAP POP QUIC MQTT AMQP"
    " USB PCIE WIFI WPA BLUETOOTH BT LTE HDMI DDR RS RJ"
    # bodies, laws, registers, grades of severity
    " CVE CWE CVSS GHSA OWASP WCAG ARIA SOC PCI HIPAA GDPR W3C BCP STD SPDX CC BSD GPL LGPL AGPL MPL APACHE"
    " ISBN ISSN DOI ARXIV EAN UPC EIP ERC BIP JEP KEP TOP"
    # times, places, diseases, films
    " UTC GMT CST PST EST CET BST JST MST Q1 Q2 Q3 Q4 H1 H2 FY CY"
    " JAN FEB MAR APR MAY JUN JUL AUG SEP SEPT OCT NOV DEC"
    " MON TUE WED THU FRI SAT SUN COVID SARS MERS"
    # models, processors, languages, formats
    " GPT CLAUDE LLAMA QWEN GLM GEMINI BERT T5 MISTRAL DEEPSEEK KIMI GROK YOLO RTX GTX ARM ARMV X86 AMD INTEL CUDA"
    " INT UINT FLOAT FP BF JDK JRE JAVA PHP PERL PYTHON RUBY NODE HTML CSS XML JSON YAML SQL SQL92 MP MPEG H JPEG PNG PDF"
    " UUID GUID ULID"
)
NOT_TASKS = frozenset({"P-192", "P-224", "P-256", "P-384", "P-521"})


def is_product(base: str) -> bool:
    """Tell whether a name without a folder is a library's, like `Node.js`, rather than a file's."""
    return base.endswith(".js") and (base.lower() in PRODUCTS or (base[0].isupper() and base[:-3].isalnum()))
