"""The page's files come from a list, with types and life times of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kinetoscope_tb.routes import Routes
from kinetoscope_tb.static import StaticFiles
from wire.serving import BASE, Served

Serve = Callable[..., Served]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.js").write_text("export function render() {}")
    (folder / "assets" / "page-abc123.js").write_text("export {}")
    (folder / "assets" / "notes.py").write_text("secret")
    (folder / "secret.js").write_text("secret")
    return folder


@pytest.fixture
def served(serve: Serve, logdir: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setattr("kinetoscope_tb.plugin.StaticFiles", lambda: StaticFiles(built))
    return serve(logdir)


def test_the_entry_is_never_kept_and_the_rest_is(served: Served) -> None:
    entry, asset = served.get("index.js"), served.get("assets/page-abc123.js")
    for response in (entry, asset):
        assert response.status_code == 200
        assert response.content_type == "text/javascript; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert entry.headers["Cache-Control"] == "no-cache, must-revalidate"
    assert asset.headers["Cache-Control"] == f"private, max-age={30 * 86400}"


@pytest.mark.parametrize(
    "name",
    [
        "assets/none.js",
        "assets/notes.py",
        "assets/",
        "assets/../secret.js",
        "assets/..%2fsecret.js",
        "assets/%2e%2e/secret.js",
        "assets/..%5csecret.js",
        "assets//etc/passwd",
        "assets/%2fetc%2fpasswd",
        "assets/page-abc123.js/",
        "assets/page-abc123.js%00.png",
        "assets/assets/../../secret.js",
        "secret.js",
        "static/index.js",
    ],
)
def test_nothing_else_is_served(served: Served, name: str) -> None:
    response = served.client.get(BASE + name)
    if name == "assets/page-abc123.js/":  # TensorBoard itself takes the last slash away
        assert response.status_code in (200, 404)
    else:
        assert response.status_code == 404
    assert b"secret" not in response.data
    assert b"root:" not in response.data


def test_a_page_that_was_not_built_says_so(tmp_path: Path) -> None:
    files = StaticFiles(tmp_path)
    assert not files.built
    page = files.get("index.js")
    assert page is not None
    assert b"make frontend" in page.body
    assert b"export function render()" in page.body
    assert files.get("assets/page.js") is None


def test_a_file_that_vanished_is_not_found(built: Path) -> None:
    files = StaticFiles(built)
    (built / "index.js").unlink()
    assert files.get("index.js") is None


def test_routes_begin_with_a_slash_and_end_in_at_most_one_star() -> None:
    for path in Routes(None, None, None).apps():  # type: ignore[arg-type]
        assert path.startswith("/")
        assert "*" not in path[:-1]
