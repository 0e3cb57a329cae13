"""The size budget: modules of at most 400 lines, functions of at most 50; an exception gives its reason beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE_LINES = 400
FUNCTION_LINES = 50
PYTHON_FOLDERS = ("analysis", "plugin", "tools", "sample_traces", "benchmarks", "tests")
EXCUSE = "# budget: "


def python_files() -> list[Path]:
    """Return every Python file of the repository."""
    found = [path for folder in PYTHON_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted([*found, ROOT / "setup.py"])


def frontend_files() -> list[Path]:
    """Return the frontend's own sources."""
    sources = (ROOT / "frontend" / "src").rglob("*")
    return sorted(path for path in sources if path.suffix in {".ts", ".tsx"})


def too_long_functions(text: str) -> list[str]:
    """Name the functions of a module that are over the budget and give no reason on their first line."""
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.end_lineno is None:
            continue
        size = node.end_lineno - node.lineno + 1
        if size > FUNCTION_LINES and EXCUSE not in lines[node.lineno - 1]:
            found.append(f"{node.name} ({size} lines, line {node.lineno})")
    return found


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_module_keeps_the_budget(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= MODULE_LINES or any(EXCUSE in line for line in lines[:3]), f"{len(lines)} lines"
    assert too_long_functions(text) == []


def test_frontend_modules_keep_the_budget() -> None:
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in frontend_files()
    }
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == {}


def test_a_function_over_the_budget_is_found_and_a_reason_excuses_it() -> None:
    body = "\n".join("    x = 1" for _ in range(FUNCTION_LINES))
    assert too_long_functions(f"def f():\n{body}\n") == [f"f ({FUNCTION_LINES + 1} lines, line 1)"]
    assert too_long_functions(f"def f():  # budget: a table\n{body}\n") == []
