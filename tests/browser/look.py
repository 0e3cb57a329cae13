"""Take pictures of every page for people to look at.

Usage: python tests/browser/look.py FOLDER LOGDIR [LOGDIR ...]

Writes ``FOLDER/<logdir>-<page>-<theme>-<width>.png`` for every page, light and dark, 1400 and 900 pixels wide, and
one more of each page with its first row or event selected. A log folder without traces gives one picture a theme.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "tools"), str(TESTS.parent / "analysis"), str(TESTS.parent / "plugin")]

from playwright.sync_api import Browser, sync_playwright  # noqa: E402

import find_chromium  # noqa: E402
from browser.profiler import FIND, NOUNS, PAGES, Profiler  # noqa: E402
from browser.tb import TensorBoard  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = ((1400, 900), (900, 900))
THEMES = ("light", "dark")
ENDED = "[data-testid=verdict], [data-testid=empty], [data-testid=problem]"


def shoot(browser: Browser, tensorboard: TensorBoard, folder: Path, name: str) -> Iterator[Path]:
    """Yield the pictures of one log folder as they are taken."""
    for theme in THEMES:
        for width, height in SIZES:
            context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
            context.add_init_script(
                f"localStorage.setItem('_tb_global_settings', JSON.stringify({{theme: '{theme}'}}))"
            )
            profiler = Profiler(context.new_page(), tensorboard).open()
            profiler.tab.locator(ENDED).first.wait_for(timeout=60_000)
            for page, path in pictures(profiler, folder, f"{name}-{{}}-{theme}-{width}.png"):
                profiler.page.screenshot(path=path)
                print(page, path)
                yield path
            context.close()


def pictures(profiler: Profiler, folder: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """Yield the pages one after the other, each as it is and with something selected."""
    if profiler.get("verdict").count() == 0:
        yield "state", folder / pattern.format("state")
        return
    for page in PAGES:
        if profiler.wait(f"rail-{page}").get_attribute("aria-disabled") == "true":
            continue
        profiler.show(page)
        yield page, folder / pattern.format(page)
        if select(profiler, page):
            yield page, folder / pattern.format(f"{page}-selected")
            profiler.press("Escape")


def select(profiler: Profiler, page: str) -> bool:
    """Select something on a page, where it has anything to select."""
    if page == "timeline":
        for kinds in (("kernel", "communication"), ("op",), ()):
            spot = profiler.frame.evaluate(FIND, [list(kinds), ""])
            if spot:
                profiler.click(spot)
                break
    elif page in ("kernels", "operators", "modules"):
        profiler.get(NOUNS[page]).first.click()
    else:
        return False
    profiler.wait("drawer").locator(".details-columns").first.wait_for()
    if page == "timeline":
        profiler.settled()
    return True


def main(words: list[str]) -> int:
    """Take the pictures of each log folder."""
    if len(words) < 2:
        print(__doc__)
        return 2
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as cache:
        browser = playwright.chromium.launch(
            executable_path=find_chromium.find(), args=["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]
        )
        for logdir in map(Path, words[1:]):
            tensorboard = TensorBoard(logdir, cache=Path(cache))
            try:
                count = sum(1 for _ in shoot(browser, tensorboard, folder, logdir.resolve().name))
            finally:
                tensorboard.stop()
            print(f"{logdir}: {count} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
