"""Fixtures of the browser tests: TensorBoards to look at, and pages that fail their test when anything goes wrong in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import corpus
from browser.profiler import Profiler
from browser.tb import TensorBoard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

#: A name that is not localhost and still leads here; no other name leads anywhere.
INSECURE = "tb.test"
RULES = f"--host-resolver-rules=MAP {INSECURE} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
OURS = (f"http://{INSECURE}:", "http://127.0.0.1:", "blob:", "data:")
REPORT = """addEventListener('securitypolicyviolation', (event) =>
  console.error(`securitypolicyviolation: ${event.violatedDirective} ${event.blockedURI}`))"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is tested here as in need of a browser."""
    here = str(__file__).rsplit("conftest", 1)[0]
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Keep the browser from reaching anything but this machine."""
    return {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], RULES]}


class Watch:
    """What went wrong in some pages.

    ``allowed`` holds texts: a complaint with one of them in it is what the test provoked.
    """

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.allowed: list[str] = []

    def follow(self, context: BrowserContext) -> None:
        """Listen to all pages of a browser profile."""
        context.add_init_script(REPORT)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"error in the page: {error.error}"))
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("page", lambda page: page.on("dialog", self._dialog))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text} {message.location}")

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(OURS):
            self.complaints.append(f"request to another host: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def left(self) -> list[str]:
        """Return the complaints that nobody allowed."""
        return [one for one in self.complaints if not any(text in one for text in self.allowed)]


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fail the test where its pages complained, left this machine, or were refused anything."""
    watching = Watch()
    yield watching
    assert watching.left() == []


@pytest.fixture
def visit(watch: Watch, browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Callable[..., Profiler]]:
    """Return a function that opens the tab of a TensorBoard in a fresh browser profile.

    Keys of the address by name; ``context`` holds more settings of the profile, ``host`` another name of this machine.
    """
    made: list[BrowserContext] = []

    def go(tensorboard: TensorBoard, *, context: dict[str, Any] | None = None, **keys: object) -> Profiler:
        made.append(browser.new_context(**{**browser_context_args, **(context or {})}))
        watch.follow(made[-1])
        return Profiler(made[-1].new_page(), tensorboard).open(**keys)

    yield go
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def _kept(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[tuple[Page, Watch]]:
    """Keep one page open for all tests that only read: TensorBoard's own start takes longer than most of them."""
    context = browser.new_context(**browser_context_args)
    watching = Watch()
    watching.follow(context)
    yield context.new_page(), watching
    context.close()


@pytest.fixture
def shown(_kept: tuple[Page, Watch], samples: TensorBoard) -> Iterator[Callable[..., Profiler]]:
    """Return a function that shows a state of the sample traces in a page that other tests have used before.

    For tests that leave nothing behind but what the address holds; the others take ``visit``.
    """
    page, watching = _kept
    watching.complaints.clear()
    profiler = Profiler(page, samples)

    def show(**keys: object) -> Profiler:
        if not page.url.startswith(samples.url):
            profiler.open(run=keys.get("run"), view="overview")
        # Past a page without state of its own, so that lists and sort orders begin anew.
        profiler.reset(run=keys.get("run"), view="overview").ready("overview")
        return profiler.reset(**keys)

    yield show
    assert watching.left() == []


@pytest.fixture(scope="session")
def session_boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., TensorBoard]]:
    """Return a function that starts a TensorBoard which lives until the last test."""
    cache = tmp_path_factory.mktemp("boards")
    started: list[TensorBoard] = []

    def start(logdir: Path, *options: str) -> TensorBoard:
        started.append(TensorBoard(logdir, *options, cache=cache))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def boards(tmp_path: Path) -> Iterator[Callable[..., TensorBoard]]:
    """Return a function that starts a TensorBoard which lives until the end of the test."""
    started: list[TensorBoard] = []

    def start(logdir: Path, *options: str) -> TensorBoard:
        started.append(TensorBoard(logdir, *options, cache=tmp_path / "cache"))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture(scope="session")
def samples(session_boards: Callable[..., TensorBoard]) -> TensorBoard:
    """Return a TensorBoard on the sample traces, with its own fast loader, as people start it."""
    return session_boards(corpus.SAMPLES)
