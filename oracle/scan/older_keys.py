"""The keys by which older tools read the facts of a project: yes or no for each tool, told by files and dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from oracle.scan import versions
from oracle.scan.manifests import Manifest
from oracle.scan.walk import SourceTree

Content = dict[str, Any]

_LANGUAGES = {
    "python": "pyproject.toml setup.py setup.cfg requirements.txt Pipfile poetry.lock uv.lock",
    "node": "package.json",
    "go": "go.mod",
    "rust": "Cargo.toml",
    "ruby": "Gemfile",
    "java": "pom.xml build.gradle",
}
_FILES = {
    "runtime": {
        **_LANGUAGES,
        **{"pnpm": "pnpm-lock.yaml", "yarn": "yarn.lock", "npm": "package-lock.json", "uv": "uv.lock"},
        "poetry": "poetry.lock",
    },
    "tests": {
        **{"pytest": "pytest.ini .pytest.ini conftest.py", "jest": "jest.config.*", "vitest": "vitest.config.*"},
        **{
            "playwright": "playwright.config.*",
            "rspec": ".rspec",
            "mocha": ".mocharc*",
            "cypress": "cypress.config.* cypress.json",
        },
        **{"go_test": "go.mod", "cargo_test": "Cargo.toml"},
    },
    "deploy": {
        "has_dockerfile": "Dockerfile Dockerfile.*",
        "has_compose": "docker-compose.y*ml compose.y*ml",
        **{
            "has_netlify": "netlify.toml",
            "has_vercel": "vercel.json",
            "has_heroku": "Procfile",
            "has_render": "render.yaml",
        },
    },
    "ci": {
        **{"github_actions": ".github/workflows/*.y*ml", "circleci": ".circleci/config.yml", "jenkins": "Jenkinsfile"},
        **{"gitlab": ".gitlab-ci.yml", "travis": ".travis.yml", "bitbucket": "bitbucket-pipelines.yml"},
    },
    "lint": {
        **{"eslint": ".eslintrc* eslint.config.*", "prettier": ".prettierrc* prettier.config.*"},
        **{"ruff": ".ruff.toml ruff.toml", "black": "", "mypy": "mypy.ini .mypy.ini", "flake8": ".flake8"},
        **{"pylint": ".pylintrc", "isort": ".isort.cfg"},
    },
}
"""Files from the top of a repository, by key."""

_FOLDERS = {
    "has_src": ("src", "lib"),
    "has_docs": ("docs", "doc", "documentation"),
    "has_tests_dir": ("tests", "test", "spec", "__tests__"),
    "has_scripts": ("scripts", "bin", "tools"),
}
_SUMMARY = """python python_version node pnpm yarn npm go rust ruby uv poetry pytest jest vitest playwright has_dockerfile
    has_compose has_ci github_actions ruff black mypy eslint prettier has_src has_docs has_tests_dir has_env_template""".split()
_VERSION = re.compile(r"\d+\.\d+")
_MOST_NAMES, _MOST_KEYS = 200, 50


def add(kind: str, content: Content, tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return the facts of a kind with the older keys behind them. A key that means something else here keeps its value."""
    if kind == "dev_env":
        from oracle.scan.deployment import detect_env_templates

        templates = _templates(detect_env_templates(tree, manifests))
        whole = {**_structure(tree), **templates}
        for one in _FILES:
            whole |= _flags(one, tree, manifests)
        older = {key: whole[key] for key in _SUMMARY}
        older["repo_root"] = tree.path
    elif kind == "structure":
        older = _structure(tree)
    elif kind == "env_templates":
        older = _templates(content)
    else:
        older = _flags(kind, tree, manifests)
    if kind == "tests":
        older["test_command"] = next(iter(content["commands"].values()), None)
    return {**content, **{key: item for key, item in older.items() if key not in content}}


def _flags(kind: str, tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    named = {name for one in manifests for name in (*one.tools, *one.needs)}
    found: Content = {
        key: any(fnmatchcase(path, pattern) for pattern in patterns.split() for path in _near(tree)) or key in named
        for key, patterns in _FILES[kind].items()
    }
    if kind == "ci":
        found["has_ci"] = any(found.values())
    if kind == "runtime":
        stated = versions.runtimes(tree, manifests)
        first = {name: _VERSION.search(stated.get(name, "")) for name in ("python", "go")}
        found |= {f"{name}_version": version[0] if version else None for name, version in first.items()}
        found["node_version"] = stated.get("node")
        found["primary_language"] = next((name for name in _LANGUAGES if found[name]), None)
    return found


def _near(tree: SourceTree) -> list[str]:
    """Return the files at the top, and those of the folders of services for continuous integration."""
    return [path for path in tree.files if "/" not in path] + tree.below(".github/workflows", ".circleci")


def _structure(tree: SourceTree) -> Content:
    top = sorted({path.partition("/")[0] for path in tree.files})
    found: Content = {key: not set(names).isdisjoint(top) for key, names in _FOLDERS.items()}
    return {**found, "top_level": top[:_MOST_NAMES], "file_count": sum("/" not in path for path in tree.files)}


def _templates(content: Mapping[str, Any]) -> Content:
    first = next(iter(content["files"]), None)
    names = [one["name"] for one in first["variables"]] if first else []
    return {
        "has_env_template": first is not None,
        "template_path": first["path"] if first else None,
        "key_count": len(names),
        "keys": names[:_MOST_KEYS],
    }
