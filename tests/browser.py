"""Chromium for tests: the only place that starts it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Give a running Chromium. Without it the test is skipped, and where the environment is a build (`CI`), it fails."""
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail("chromium is missing: tools/system-packages.sh installs it")
        pytest.skip("needs /usr/bin/chromium (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()
