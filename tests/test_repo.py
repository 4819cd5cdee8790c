"""The repository as a whole: what it promises in its files, and the arrows between its parts."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from specdec_helpers.authoring.build import build
from specdec_helpers.authoring.lint import lint

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "specdec_helpers"
# Who may import whom; the notebooks and the command line stand above all of it.
MAY_IMPORT = {
    "lm": set(),
    "reference": set(),
    "explorers": {"lm", "measuring"},
    "checks": {"lm"},
    "measuring": {"lm"},
    "trials": {"lm", "checks", "reference"},
    "grading": {"lm", "checks", "reference", "trials", "explorers"},
    "authoring": set(),
}


def tracked(*patterns: str) -> list[Path]:
    """The files that git knows, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[Path]:
    return [path for path in tracked("specdec_helpers") if path.suffix == ".py"]


def imported(path: Path) -> set[str]:
    """The parts of the house that a module names in an import statement."""
    parts = set()
    package = ("specdec_helpers", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            stem = ".".join(filter(None, (base, node.module or "")))
            names = [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "specdec_helpers" and len(pieces) > 1 and pieces[1] in MAY_IMPORT:
                parts.add(pieces[1])
    return parts


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_arrows_point_down(part: str) -> None:
    for path in modules():
        inside = path.relative_to(PACKAGE).parts
        if inside[0] == part:
            wrong = imported(path) - MAY_IMPORT[part] - {part}
            assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


def test_the_reference_needs_numpy_alone() -> None:
    allowed = {
        "numpy",
        "__future__",
        "collections",
        "math",
        "typing",
        "dataclasses",
        "itertools",
        "specdec_helpers",
    }
    for path in (PACKAGE / "reference").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert {name.split(".")[0] for name in names} <= allowed, path.name


def test_modules_stay_short() -> None:
    long = {
        str(p.relative_to(ROOT)): n for p in modules() if (n := len(p.read_text("utf-8").splitlines())) > 300
    }
    assert long == {}


def test_committed_notebooks_equal_a_fresh_build() -> None:
    built = build(ROOT)
    assert built.drift(ROOT) == [], "run `make build` and commit the result"


def test_the_lessons_keep_the_style() -> None:
    assert lint(build(ROOT)) == []


def test_six_lessons_with_the_names_of_the_course() -> None:
    names = [
        "draft_and_verify",
        "accept_or_reject",
        "recover_the_difference",
        "expected_progress",
        "when_it_pays",
        "measure_it",
    ]
    expected = {f"lesson{n}/{name}.ipynb" for n, name in enumerate(names, start=1)}
    for folder in ("source", "release"):
        assert {
            p.relative_to(ROOT / folder).as_posix() for p in (ROOT / folder).glob("*/*.ipynb")
        } == expected


def test_make_has_every_target_that_the_texts_name() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {
        "lab",
        "test",
        "build",
        "release",
        "demo",
        "mutants",
        "attacks",
        "bench",
        "bench-grading",
        "help",
    } <= targets
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"`make ([a-z][a-z-]*)", path.read_text(encoding="utf-8")):
            assert target in targets, f"{path.name} names `make {target}`"


def test_every_path_in_the_readme_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "CONTRIBUTING.md").read_text(
        encoding="utf-8"
    )
    paths = re.findall(r"`((?:specdec_helpers|course|docs|tools|tests)/[\w./-]+\.\w+)`", text)
    paths += re.findall(r"\]\(([\w./-]+)\)", text)
    assert len(paths) >= 12
    for path in paths:
        assert (ROOT / path).exists(), path


def test_the_locks_hold_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = {
        "requirements-student.txt": project["dependencies"],
        "requirements.txt": [*project["dependencies"], *extras["grading"]],
        "requirements-dev.txt": [*project["dependencies"], *(r for extra in extras.values() for r in extra)],
    }
    pins: dict[str, set[str]] = {}
    for name, requirements in wanted.items():
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert "--" not in text
        lines = [line for line in text.splitlines() if line and not line.startswith(("#", " "))]
        assert all("==" in line for line in lines)
        pins[name] = {line.partition(" ;")[0] for line in lines}
        locked = {re.split(r"[=\[]", line)[0] for line in lines}
        for requirement in requirements:
            package = re.match(r"[\w.-]+", requirement)
            assert package is not None
            assert package[0].lower() in locked | {"specdec-helpers"}, (name, requirement)
    assert pins["requirements-student.txt"] <= pins["requirements.txt"] <= pins["requirements-dev.txt"]


def test_licences_are_whole_and_named() -> None:
    assert "BSD 3-Clause License" in (ROOT / "LICENSE").read_text()
    text = (ROOT / "LICENSE-text").read_text()
    assert "Creative Commons Attribution 4.0 International Public License" in text
    assert all(f"Section {n} --" in text for n in range(1, 9))


def test_no_words_of_one_machine_are_committed() -> None:
    # Spelled in pieces, so that this file does not find itself.
    words = re.compile(
        "|".join(
            [
                r"(?<![\w*\]])/" + "root/",
                "/" + "opt/venv",
                r"files\." + "pythonhosted",
                "pypi" + r"\.org/simple",
            ]
        )
    )
    for path in tracked():
        if (
            path.suffix in {".py", ".md", ".txt", ".toml", ".ipynb", ".json", ".sh", ""}
            and path.name != "LICENSE-text"
        ):
            match = words.search(path.read_text(encoding="utf-8", errors="replace"))
            assert match is None, f"{path.relative_to(ROOT)}: {match[0] if match else ''}"


def test_no_notebook_is_tracked_but_the_built_ones() -> None:
    stray = [
        p for p in tracked("*.ipynb") if p.relative_to(ROOT).parts[0] not in {"source", "release", "tests"}
    ]
    assert stray == []


def test_test_files_have_names_of_their_own() -> None:
    # pytest imports them by their bare names.
    names = [path.name for path in tracked("tests") if path.name.startswith("test_") and path.suffix == ".py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []
