"""A real JupyterLab and a real Chromium for the browser tests: one of each for a whole module."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as NotYet

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


class Lab:
    """A running server: its folder, and the address of a notebook in it."""

    def __init__(self, root: Path, port: int, token: str) -> None:
        self.root, self.port, self.token = root, port, token

    def url(self, notebook: str, workspace: str) -> str:
        """Return the address that opens one notebook in a workspace of its own, other panels closed."""
        return (
            f"http://127.0.0.1:{self.port}/lab/workspaces/{workspace}/tree/{notebook}"
            f"?token={self.token}&reset"
        )

    def set(self, plugin: str, settings: dict[str, str]) -> None:
        """Change a plugin's settings for pages opened from now on."""
        data = json.dumps({"raw": json.dumps(settings)}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/lab/api/settings/@jupyterlab/{plugin}",
            data=data,
            method="PUT",
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=20).close()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def lab(root: Path) -> Iterator[Lab]:
    """Run JupyterLab in a folder until the block ends."""
    port, token = _free_port(), secrets.token_hex(16)
    home = root / ".home"
    home.mkdir(exist_ok=True)
    paths = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    environment = (
        os.environ | {name: str(path) for name, path in paths.items()} | {"OPENBLAS_NUM_THREADS": "1"}
    )
    environment.pop("SPECDEC_GRADING", None)
    quiet = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    log = (home / "lab.log").open("wb")
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            f"--IdentityProvider.token={token}",
            f"--ServerApp.root_dir={root}",
            "--ServerApp.allow_root=True",
            "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ],
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        _wait_for(server, port, token, home / "lab.log")
        yield Lab(root, port, token)
    finally:
        server.send_signal(signal.SIGTERM)  # the server stops its kernels on the way out
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        log.close()


def _wait_for(server: subprocess.Popen[bytes], port: int, token: str, log: Path) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={token}", timeout=5).close()
            return
        except OSError:
            time.sleep(0.25)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text(errors="replace")[-2000:])


@contextmanager
def browser() -> Iterator[Browser]:
    """Run headless Chromium until the block ends."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield chromium
        finally:
            chromium.close()


class Notebook:
    """One notebook open in one page, with all the errors that its console showed.

    All cells stay in the page, so that one look at it sees the whole lesson; by default JupyterLab hides those out of
    sight.
    """

    def __init__(
        self,
        chromium: Browser,
        server: Lab,
        path: str,
        theme: str = "light",
        width: int = 1100,
        height: int = 900,
    ) -> None:
        server.set("apputils-extension:themes", {"theme": THEMES[theme]})
        server.set("notebook-extension:tracker", {"windowingMode": "none"})
        self.errors: list[str] = []
        self.context = chromium.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(server.url(path, f"w{secrets.token_hex(4)}"))
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=90_000)
        self.page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', state="attached")
        self.page.wait_for_selector('.jp-KernelName:has-text("Python 3")', state="attached")
        if self.page.locator(".jp-SideBar.jp-mod-left .lm-mod-current").count():
            self.page.keyboard.press("Control+b")  # the file browser takes the room of a narrow page

    def run_all(self, seconds: int = 60) -> None:
        """Run every cell through the menu, and wait for the last one's execution number."""
        page = self.page
        # A page that is still being laid out may miss the menu, and a session that has just started may ask which
        # kernel (its answer is the preselected one): choose again until the first cell has started.
        started = page.locator(".jp-CodeCell .jp-InputPrompt", has_text=re.compile(r"\[(\*|\d+)\]"))
        dialog = page.locator(".jp-Dialog button.jp-mod-accept")
        for attempt in range(5):
            self.choose_run_all()
            try:
                started.or_(dialog).first.wait_for(
                    state="attached", timeout=60_000 if attempt == 4 else 8_000
                )
            except NotYet:
                continue
            if not dialog.count():
                break
            dialog.first.click()
        wrong = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
        try:
            page.wait_for_function(
                "() => { const s = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
                ".map(e => e.textContent).filter(t => t); return s.length && s.every(t => /\\d/.test(t)); }",
                timeout=seconds * 1000,
            )
        except NotYet:
            told = "\n".join(wrong.all_inner_texts()) or "and shows no error"
            raise AssertionError(f"Run All did not reach the end in {seconds} s: {told}") from None
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', state="attached")

    def choose_run_all(self) -> None:
        """Run every cell through the menu."""
        self.page.get_by_role("menuitem", name="Run", exact=True).first.click()
        self.page.get_by_role("menuitem", name=re.compile("^Run All Cells")).click()

    def explorer(self, lesson: str) -> Locator:
        """Return a lesson's explorer in the page, first scrolled into sight."""
        found = self.page.locator(f".specdec-{lesson}").first
        found.wait_for(state="attached")
        found.scroll_into_view_if_needed()
        return found

    def close(self) -> None:
        """Close the page."""
        self.context.close()
