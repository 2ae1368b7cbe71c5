"""The workflows in .github are well-formed, pin what they use, and run targets and Pythons that the project has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.y*ml"))
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))

TEXT = {"type": "string", "minLength": 1}
STEP = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": TEXT,
        "if": TEXT,
        "run": TEXT,
        "uses": {"type": "string", "pattern": r"^[\w-]+/[\w-]+@v[1-9]\d*$"},
        "with": {"type": "object"},
        "env": {"type": "object"},
    },
    "oneOf": [{"required": ["uses"]}, {"required": ["run", "name"]}],
}
JOB = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "runs-on", "timeout-minutes", "steps"],
    "properties": {
        "name": TEXT,
        "runs-on": TEXT,
        "needs": {"type": ["string", "array"]},
        "timeout-minutes": {"type": "integer", "minimum": 1, "maximum": 120},
        "strategy": {
            "type": "object",
            "additionalProperties": False,
            "required": ["matrix"],
            "properties": {
                "fail-fast": {"type": "boolean"},
                "matrix": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "minItems": 1, "uniqueItems": True, "items": TEXT},
                },
            },
        },
        "steps": {"type": "array", "minItems": 1, "items": STEP},
    },
}
WORKFLOW = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "on", "permissions", "jobs"],
    "properties": {
        "name": TEXT,
        "on": {"type": "object", "minProperties": 1},
        "permissions": {"const": {"contents": "read"}},
        "concurrency": {"type": "object", "required": ["group"]},
        "jobs": {"type": "object", "minProperties": 1, "additionalProperties": JOB},
    },
}
"""What a workflow of ours may hold: a subset of the format, so that a misspelt key is found before it is pushed."""


class Loader(yaml.SafeLoader):
    """Read `on` as a word, as the service does, and refuse a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"line {node.start_mark.line + 1}: a key stands twice in {keys}"
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if not (tag.endswith(":bool") and first in "oOyYnN")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(path: Path) -> dict:
    return yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506 - a SafeLoader


def steps(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_well_formed(path: Path):
    assert not [*jsonschema.Draft202012Validator(WORKFLOW).iter_errors(load(path))]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_expression_names_something(path: Path):
    for job in load(path)["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        used = set(re.findall(r"\$\{\{ *matrix\.(\w+) *\}\}", str(job)))
        assert used == set(matrix)
    known = r"matrix\.\w+|github\.ref|runner\.os"
    inside = re.findall(r"\$\{\{(.*?)\}\}", path.read_text(encoding="utf-8"))
    assert [words for words in inside if not re.fullmatch(rf" ({known}) ", words)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_target_of_make_exists(path: Path):
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"\bmake ([a-z-]+)", "\n".join(step.get("run", "") for step in steps(load(path))))
    assert [target for target in named if f"\n{target}:" not in makefile] == []


def test_all_supported_pythons_run_all_tests_and_checks_on_both_systems():
    job = load(CHECKOUT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]
    classifiers = re.findall(r"Python :: (3\.\d+)'", str(PYPROJECT["project"]["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == classifiers
    assert f">={classifiers[0]}" == PYPROJECT["project"]["requires-python"]
    assert {system.split("-")[0] for system in job["strategy"]["matrix"]["system"]} == {"ubuntu", "macos"}
    assert {"make check", "make test"} <= {step.get("run") for step in job["steps"]}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("checkout@v6", "checkout"),
        ("contents: read", "contents: write"),
        ("runs-on", "run-on"),
        ("run:", "uses: a/b@v1\n        run:"),
    ],
    ids=["action without a version", "may write", "misspelt key", "two things in one step"],
)
def test_schema_refuses_mistakes(tmp_path: Path, right: str, wrong: str):
    path = tmp_path / "ci.yml"
    path.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(load(path), WORKFLOW)
