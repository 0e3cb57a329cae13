"""Package the library and the plugin, with the built page inside.

The settings of the tools are in ``pyproject.toml``; how the page is built, in ``tools/frontend.py``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))  # an isolated build does not put the project's folder on the path

import frontend  # noqa: E402


def requirements(name: str) -> list[str]:
    """Read a list of requirements: a line each, comments and empty lines left out."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    return [line for line in lines if line]


def version() -> str:
    """Read the version as text: importing the package here would need its dependencies."""
    text = (ROOT / "analysis/kinetoscope/_version.py").read_text()
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit('error: analysis/kinetoscope/_version.py has no line __version__ = "..."')
    return found[1]


def build_frontend() -> None:
    """Build the page, or stop: a package without it would show an empty tab."""
    try:
        frontend.build()
    except frontend.BuildError as error:
        raise SystemExit(f"error: {error}") from error
    if not (frontend.STATIC / frontend.ENTRY).is_file():
        raise SystemExit(f"error: {frontend.STATIC / frontend.ENTRY} is missing, and a plugin without it shows nothing")


class BuildWithFrontend(build_py):
    """Put the page in place before the files to ship are looked up."""

    def run(self) -> None:
        """Build the page, then what setuptools builds."""
        build_frontend()
        self.__dict__.pop("data_files", None)  # may have been listed before the page was there
        super().run()


class SourceWithFrontend(sdist):
    """Put the built page into the source distribution, so that installing from it needs neither Node nor npm."""

    def run(self) -> None:
        """Build the page, then pack."""
        build_frontend()
        super().run()


setup(
    name="kinetoscope",
    version=version(),
    description="See where the time of a PyTorch program goes: torch.profiler traces in Python, on the command line and in TensorBoard",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The Kinetoscope authors",
    license="BSD-3-Clause",
    license_files=["LICENSE"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Framework :: IPython",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Software Development :: Debuggers",
        "Typing :: Typed",
    ],
    keywords=["pytorch", "profiler", "tensorboard", "trace", "gpu"],
    python_requires=">=3.10",
    package_dir={"kinetoscope": "analysis/kinetoscope", "kinetoscope_tb": "plugin/kinetoscope_tb"},
    packages=find_packages("analysis") + find_packages("plugin"),
    package_data={
        "kinetoscope": ["py.typed", "data/*.json"],
        "kinetoscope_tb": ["py.typed", "static/*", "static/**/*"],
    },
    install_requires=requirements("requirements.txt"),
    extras_require={
        "test": requirements("requirements-test.txt"),
        "torch": requirements("requirements-torch.txt"),
        # drivers of fsspec for traces that lie elsewhere
        "s3": ["s3fs"],
        "gs": ["gcsfs"],
        "az": ["adlfs"],
    },
    entry_points={
        "console_scripts": ["kinetoscope = kinetoscope.cli:main"],
        "tensorboard_plugins": ["kinetoscope = kinetoscope_tb.loader:KinetoscopeLoader"],
    },
    cmdclass={"build_py": BuildWithFrontend, "sdist": SourceWithFrontend},
    zip_safe=False,
)
