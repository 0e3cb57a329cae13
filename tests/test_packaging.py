"""What is shipped: the wheel and the source distribution hold the built page, and the wheel alone works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = next((ROOT / "sample_traces" / "gpu_training_synthetic").glob("worker0.*.json.gz"))
FASTEST_OF = 7
IMPORT_LIMIT_S = 0.15
#: Loaded on first use, or never by the library.
NOT_AT_IMPORT = {"tensorboard", "werkzeug", "matplotlib", "pandas", "numpy", "pyarrow", "kinetoscope_tb", "torch"}
BLOCKED = ("numpy", "pandas", "pyarrow", "msgspec", "isal", "typer", "rich", "fsspec", "kinetoscope")

TIME_IMPORT = "import time; t = time.perf_counter(); import kinetoscope; print(time.perf_counter() - t)"
LIST_MODULES = "import kinetoscope, sys; print(*{name.split('.')[0] for name in sys.modules})"
LOAD_PLUGIN = f"""
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
before = set(sys.modules)
from kinetoscope_tb.loader import KinetoscopeLoader
print(*sorted({{name.split('.')[0] for name in set(sys.modules) - before}}))
"""


def run(*words: str | Path, **variables: str) -> str:
    """Run a command outside the repository; return what it prints."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=ROOT.anchor, env={**environment, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def from_sources(code: str) -> str:
    """Run Python code against the working tree."""
    return run(sys.executable, "-c", code, PYTHONPATH=f"{ROOT / 'analysis'}{os.pathsep}{ROOT / 'plugin'}")


def test_import_is_quick_and_brings_no_heavy_package() -> None:
    assert NOT_AT_IMPORT.isdisjoint(from_sources(LIST_MODULES).split())
    assert min(float(from_sources(TIME_IMPORT)) for _ in range(FASTEST_OF)) < IMPORT_LIMIT_S


def test_plugin_entry_point_needs_the_standard_library_and_tensorboard_only() -> None:
    loaded = set(from_sources(LOAD_PLUGIN).split())
    assert loaded - set(sys.stdlib_module_names) <= {"kinetoscope_tb", "tensorboard"}


def test_library_never_imports_the_plugin_or_tensorboard() -> None:
    offending = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "analysis").rglob("*.py")
        if "cli" not in path.parts  # its `view` command starts TensorBoard
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import ", "from "))
        and {"kinetoscope_tb", "tensorboard", "werkzeug"} & set(line.replace(".", " ").split())
    ]
    assert offending == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution, and the wheel from it, where npm can reach nothing: the page comes along built."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, ROOT / "tools" / "frontend.py", "build")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, npm_config_registry="http://127.0.0.1:9/")
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own; return the folder of its commands."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=True)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = built.glob("*.whl")
    run(commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return commands


@pytest.mark.slow
def test_wheel_holds_the_page_and_no_sources_of_it(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "kinetoscope_tb/static/index.js" in names
    assert "kinetoscope/py.typed" in names
    assert "kinetoscope_tb/py.typed" in names
    assert any(name.startswith("kinetoscope/data/") for name in names)
    assert [name for name in names if name.endswith((".ts", ".tsx", ".map")) or "node_modules" in name] == []
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kinetoscope", "kinetoscope_tb"}


@pytest.mark.slow
def test_source_distribution_holds_the_page_and_its_sources(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    assert "plugin/kinetoscope_tb/static/index.js" in names
    assert "frontend/package-lock.json" in names
    assert "tools/frontend.py" in names
    assert [name for name in names if "node_modules" in name or "__pycache__" in name] == []


@pytest.mark.slow
def test_installed_wheel_works_alone(installed: Path) -> None:
    version = (ROOT / "analysis/kinetoscope/_version.py").read_text().split('"')[-2]
    assert version in run(installed / "kinetoscope", "--version")
    shown = json.loads(
        run(installed / "kinetoscope", "show", "kernels", SAMPLE, "--format", "json", KINETOSCOPE_CACHE="off")
    )
    assert shown["view"] == "kernels"
    assert any("sgemm" in row["name"] for row in shown["rows"])
    assert min(float(run(installed / "python", "-c", TIME_IMPORT)) for _ in range(FASTEST_OF)) < IMPORT_LIMIT_S


@pytest.mark.slow
def test_installed_wheel_gives_tensorboard_the_plugin(installed: Path) -> None:
    code = (
        "from importlib.metadata import entry_points; "
        "print(*(e.load().__name__ for e in entry_points(group='tensorboard_plugins') if e.name == 'kinetoscope'))"
    )
    assert run(installed / "python", "-c", code).split() == ["KinetoscopeLoader"]
