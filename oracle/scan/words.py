"""What file names and dependencies tell: languages, package managers, frameworks and tools. Data only."""

from __future__ import annotations

LANGUAGES = {
    "C": "c",
    "C#": "cs",
    "C++": "cc cpp cxx hh hpp hxx ipp",
    "CSS": "css less sass scss",
    "Dart": "dart",
    "Elixir": "ex exs",
    "F#": "fs fsx",
    "Go": "go",
    "HTML": "html htm",
    "Java": "java",
    "JavaScript": "cjs js jsx mjs",
    "Kotlin": "kt kts",
    "Lua": "lua",
    "Objective-C": "m mm",
    "PHP": "php",
    "Perl": "pl pm",
    "Python": "py pyi",
    "R": "r",
    "Ruby": "rb rake",
    "Rust": "rs",
    "SQL": "sql",
    "Scala": "scala",
    "Shell": "bash sh zsh",
    "Swift": "swift",
    "TypeScript": "cts mts ts tsx",
    "Vue": "vue",
    "Zig": "zig",
}
OF_SUFFIX = {suffix: language for language, suffixes in LANGUAGES.items() for suffix in suffixes.split()}
"""The language that a file's suffix names."""

BESIDE = frozenset(("CSS", "HTML", "SQL", "Shell"))
"""Languages that a project is not named after while it has another."""

LOCKS = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "requirements.txt": "pip",
    "conda-lock.yml": "conda",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "yarn.lock": "yarn",
    "pnpm-lock.yaml": "pnpm",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "deno.lock": "deno",
    "go.sum": "go",
    "Cargo.lock": "cargo",
    "Gemfile.lock": "bundler",
    "composer.lock": "composer",
    "Package.resolved": "swiftpm",
    "Podfile.lock": "cocoapods",
    "packages.lock.json": "nuget",
    "gradlew": "gradle",
    "mvnw": "maven",
    "vcpkg.json": "vcpkg",
    "conanfile.txt": "conan",
    "conanfile.py": "conan",
}
"""The package manager that a file is of."""

MANAGER_OF = {
    "python": "pip",
    "node": "npm",
    "go": "go",
    "rust": "cargo",
    "ruby": "bundler",
    "php": "composer",
    "swift": "swiftpm",
    "dotnet": "nuget",
    "cocoapods": "cocoapods",
}
"""The package manager of an ecosystem when no file names one."""

FRAMEWORKS = """actix-web angular @angular/core aspnetcore astro axum bevy celery click django @nestjs/core electron express
    fastapi fastify flask gin-gonic/gin github.com/gin-gonic/gin github.com/labstack/echo/v4 github.com/spf13/cobra hono
    laravel/framework lit next numpy nuxt pandas preact pydantic qt5 qt6 rails react react-native remix rocket scikit-learn
    sinatra solid-js sqlalchemy starlette svelte symfony/framework-bundle @sveltejs/kit tauri tensorflow tokio torch typer
    vue vapor org.springframework.boot:spring-boot-starter-web org.springframework.boot:spring-boot-starter""".split()
"""Dependencies after which people call a project."""

TEST_TOOLS = {
    "pytest": "pytest",
    "pytest-asyncio": "pytest",
    "nose2": "nose2",
    "tox": "tox",
    "nox": "nox",
    "hypothesis": "hypothesis",
    "behave": "behave",
    "jest": "jest",
    "ts-jest": "jest",
    "vitest": "vitest",
    "mocha": "mocha",
    "ava": "ava",
    "tap": "tap",
    "jasmine": "jasmine",
    "karma": "karma",
    "cypress": "cypress",
    "@playwright/test": "playwright",
    "playwright": "playwright",
    "rspec": "rspec",
    "minitest": "minitest",
    "cucumber": "cucumber",
    "phpunit/phpunit": "phpunit",
    "symfony/phpunit-bridge": "phpunit",
    "pestphp/pest": "pest",
    "github.com/stretchr/testify": "testify",
    "github.com/onsi/ginkgo/v2": "ginkgo",
    "proptest": "proptest",
    "criterion": "criterion",
    "junit:junit": "junit",
    "org.junit.jupiter:junit-jupiter": "junit",
    "org.junit.jupiter:junit-jupiter-api": "junit",
    "org.testng:testng": "testng",
    "io.kotest:kotest-runner-junit5": "kotest",
    "org.mockito:mockito-core": "mockito",
    "xunit": "xunit",
    "nunit.framework": "nunit",
    "org.assertj:assertj-core": "assertj",
    "org.spockframework:spock-core": "spock",
    "org.jetbrains.kotlin:kotlin-test": "kotlin.test",
    "org.jetbrains.kotlin:kotlin-test-junit": "kotlin.test",
    "io.mockk:mockk": "mockk",
    "org.robolectric:robolectric": "robolectric",
    "Microsoft.NET.Test.Sdk": "dotnet test",
    "NUnit": "nunit",
    "MSTest.TestFramework": "mstest",
    "gtest": "googletest",
    "GTest": "googletest",
    "Catch2": "catch2",
    "doctest": "doctest",
}
"""The tool for tests that a dependency is of."""

TEST_FILES = {
    "pytest.ini": "pytest",
    "conftest.py": "pytest",
    "tox.ini": "tox",
    "noxfile.py": "nox",
    "jest.config.*": "jest",
    "vitest.config.*": "vitest",
    "vitest.workspace.*": "vitest",
    ".mocharc*": "mocha",
    "ava.config.*": "ava",
    "karma.conf.*": "karma",
    "cypress.config.*": "cypress",
    "playwright.config.*": "playwright",
    ".rspec": "rspec",
    "phpunit.xml*": "phpunit",
    ".coveragerc": "coverage",
    "codecov.yml": "codecov",
    ".codecov.yml": "codecov",
    ".nycrc*": "nyc",
}
"""The tool for tests that a file configures."""

TEST_PATTERNS = tuple(
    """test_*.py *_test.py *_test.go *.test.js *.test.ts *.test.jsx *.test.tsx *.test.mjs *.test.cjs *.test.mts *.spec.js *.spec.ts
    *.spec.jsx *.spec.tsx *.spec.mjs *.spec.cjs *-test.js *_spec.rb *_test.rb test_*.rb *Test.java *Tests.java *IT.java *Test.kt
    *Tests.kt *Spec.kt *Test.php *Spec.php *.phpt *Tests.swift *Tests.cs *Test.cs *_test.cc *-test.cc *_unittest.cc *_test.cpp
    *-test.cpp test_*.cpp *Test.cpp *_test.c test_*.c test-*.c *_test.exs""".split()
)
"""Names of files that hold tests."""

TESTS_BY_FOLDER = (".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".rs")
"""Suffixes of languages whose tests need no name of their own when they lie in a folder of tests."""

TEST_IMPORTS = (
    ((".py",), "import unittest", "unittest"),
    ((".js", ".mjs", ".cjs", ".ts"), "node:test", "node:test"),
    ((".cc", ".cpp", ".cxx"), "gtest/gtest.h", "googletest"),
    ((".cc", ".cpp", ".cxx"), "gmock/gmock.h", "googletest"),
    ((".cc", ".cpp", ".cxx"), "catch2/", "catch2"),
    ((".cc", ".cpp", ".cxx"), "doctest.h", "doctest"),
    ((".swift",), "import XCTest", "xctest"),
    ((".swift",), "import Testing", "swift testing"),
    ((".cs",), "using NUnit.Framework", "nunit"),
    ((".cs",), "using Xunit", "xunit"),
    ((".cs",), "using Microsoft.VisualStudio.TestTools.UnitTesting", "mstest"),
    ((".java",), "import org.junit", "junit"),
    ((".java",), "import org.testng", "testng"),
    ((".kt",), "kotlin.test", "kotlin.test"),
    ((".rb",), "minitest", "minitest"),
    ((".rb",), "test/unit", "test-unit"),
    ((".php",), "PHPUnit", "phpunit"),
)
"""What a test file imports: the suffixes it is looked for in, the words, the framework."""

TEST_FOLDERS = frozenset("test tests spec __tests__ e2e Tests testdata integration_tests".split())

LINT_FILES = {
    "ruff.toml": "ruff",
    ".ruff.toml": "ruff",
    ".flake8": "flake8",
    ".pylintrc": "pylint",
    "pylintrc": "pylint",
    "mypy.ini": "mypy",
    ".mypy.ini": "mypy",
    "pyrightconfig.json": "pyright",
    ".isort.cfg": "isort",
    ".bandit": "bandit",
    ".eslintrc*": "eslint",
    "eslint.config.*": "eslint",
    ".prettierrc*": "prettier",
    "prettier.config.*": "prettier",
    "biome.json*": "biome",
    ".oxlintrc.json": "oxlint",
    ".xo-config*": "xo",
    "tslint.json": "tslint",
    ".stylelintrc*": "stylelint",
    "tsconfig.json": "typescript",
    ".golangci.*": "golangci-lint",
    "rustfmt.toml": "rustfmt",
    ".rustfmt.toml": "rustfmt",
    "clippy.toml": "clippy",
    "deny.toml": "cargo-deny",
    ".rubocop.yml": "rubocop",
    ".standard.yml": "standard",
    "phpcs.xml*": "phpcs",
    "phpstan*.neon*": "phpstan",
    "psalm.xml*": "psalm",
    ".php-cs-fixer*": "php-cs-fixer",
    "checkstyle.xml": "checkstyle",
    "detekt.yml": "detekt",
    ".clang-format": "clang-format",
    ".clang-tidy": "clang-tidy",
    ".swiftlint.yml": "swiftlint",
    ".swift-format": "swift-format",
    ".jshintrc": "jshint",
    ".cmake-format*": "cmake-format",
    ".clippy.toml": "clippy",
    ".scalafmt.conf": "scalafmt",
    "rector.php": "rector",
    "ecs.php": "ecs",
    "cspell.json": "cspell",
    ".codespellrc": "codespell",
    "buf.yaml": "buf",
    "Steepfile": "steep",
    ".swiftformat": "swiftformat",
    "stylecop.json": "stylecop",
    ".editorconfig": "editorconfig",
    ".pre-commit-config.yaml": "pre-commit",
    "lefthook.yml": "lefthook",
    ".markdownlint*": "markdownlint",
    ".yamllint*": "yamllint",
    ".hadolint.yaml": "hadolint",
    ".shellcheckrc": "shellcheck",
    "commitlint.config.*": "commitlint",
    ".importlinter": "import-linter",
    "typos.toml": "typos",
    "_typos.toml": "typos",
}
"""The tool for style, types or commits that a file configures."""

_OWN_NAMES = """bandit black codespell flake8 isort mypy pylint pyright pyupgrade ruff ty import-linter eslint prettier oxlint xo
    standard tslint stylelint typescript rubocop standardrb checkstyle spotless clippy swiftlint ktlint detekt pmd spotbugs
    jshint lefthook husky lint-staged""".split()
LINT_TOOLS = {name: name for name in _OWN_NAMES} | {
    "importlinter": "import-linter",
    "@biomejs/biome": "biome",
    "squizlabs/php_codesniffer": "phpcs",
    "phpstan/phpstan": "phpstan",
    "friendsofphp/php-cs-fixer": "php-cs-fixer",
    "vimeo/psalm": "psalm",
    "com.diffplug.spotless": "spotless",
    "io.gitlab.arturbosch.detekt": "detekt",
    "org.jlleitschuh.gradle.ktlint": "ktlint",
    "maven-checkstyle-plugin": "checkstyle",
    "maven-pmd-plugin": "pmd",
    "spotbugs-maven-plugin": "spotbugs",
    "spotless-maven-plugin": "spotless",
    "com.github.spotbugs": "spotbugs",
    "com.google.errorprone:error_prone_core": "error-prone",
    "net.ltgt.errorprone": "error-prone",
    "StyleCop.Analyzers": "stylecop",
}
"""The tool for style or types that a dependency, or a section of a manifest, is of."""

PLATFORMS = {
    "vercel.json": "vercel",
    "netlify.toml": "netlify",
    "fly.toml": "fly.io",
    "render.yaml": "render",
    "railway.json": "railway",
    "railway.toml": "railway",
    "Procfile": "heroku",
    "app.json": "heroku",
    "app.yaml": "app engine",
    "cloudbuild.yaml": "cloud build",
    "wrangler.toml": "cloudflare",
    "wrangler.json*": "cloudflare",
    "firebase.json": "firebase",
    "serverless.yml": "serverless",
    "serverless.yaml": "serverless",
    "template.yaml": "aws sam",
    "cdk.json": "aws cdk",
    "Pulumi.yaml": "pulumi",
    "skaffold.yaml": "skaffold",
    "helmfile.yaml": "helmfile",
    "ansible.cfg": "ansible",
    "Vagrantfile": "vagrant",
    ".goreleaser.*": "goreleaser",
    "snapcraft.yaml": "snap",
    "amplify.yml": "amplify",
    "nixpacks.toml": "nixpacks",
    "Tiltfile": "tilt",
}
"""The platform that a file deploys to, or the tool that deploys."""

CI_FILES = {
    ".gitlab-ci.yml": "gitlab",
    ".travis.yml": "travis",
    "azure-pipelines.yml": "azure pipelines",
    "bitbucket-pipelines.yml": "bitbucket",
    "Jenkinsfile": "jenkins",
    "appveyor.yml": "appveyor",
    ".appveyor.yml": "appveyor",
    ".cirrus.yml": "cirrus",
    ".drone.yml": "drone",
    ".woodpecker.yml": "woodpecker",
    "buildkite.yml": "buildkite",
    "codemagic.yaml": "codemagic",
    "wercker.yml": "wercker",
    "renovate.json": "renovate",
    ".renovaterc*": "renovate",
}
"""The service for continuous integration that a file is read by."""

ENV_TEMPLATES = tuple(
    """.env.example .env.*.example .env.sample .env.template .env.dist .env-example .env-sample .env.defaults env.example env.sample
    example.env sample.env template.env *.env.example *.env.sample *.env.template""".split()
)
"""Names of files that say which variables are wanted."""
