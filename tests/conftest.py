"""What every test may use: a cache of its own, the corpus, a builder of small traces, and the browser."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

import find_chromium
from build import TraceBuilder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A machine of unknown speed must not fail a property by being slow; where CI is set, the same examples come every time.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a browser where there is none; where CI is set, fail it."""
    if item.get_closest_marker("browser") and find_chromium.find() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(find_chromium.ADVICE)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Start the installed browser: Playwright's own is never downloaded."""
    args = [
        "--disable-dev-shm-usage",
        "--font-render-hinting=none",
        "--disable-background-networking",
        "--disable-sync",
    ]
    args += ["--disable-component-update", "--disable-quic", "--no-first-run", "--disable-gpu"]
    if sys.platform == "linux" and os.geteuid() == 0:
        args.append("--no-sandbox")
    return {"executable_path": find_chromium.find(), "args": args}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """Show every page alike, whatever machine this is."""
    return {
        "viewport": {"width": 1400, "height": 900},
        "device_scale_factor": 1,
        "locale": "en-US",
        "timezone_id": "UTC",
        "reduced_motion": "reduce",
    }


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep each test's cache apart from the user's and from other tests'."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("KINETOSCOPE_CACHE", str(folder))
    return folder


@pytest.fixture
def build() -> Callable[..., TraceBuilder]:
    """Return the class that builds small traces."""
    return TraceBuilder
