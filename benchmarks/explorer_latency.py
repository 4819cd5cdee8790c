"""How fast the explorers answer: milliseconds from a change to the new picture, on this machine.

Run as `python benchmarks/explorer_latency.py [--browser] [LESSON …]`. Without --browser it measures the kernel's
side: from the change of a slider's value to the new SVG in the widget. With --browser it also measures the whole
way in JupyterLab and Chromium: from the key press to the new picture in the page, kernel, messages and all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from specdec_helpers.explorers import build
from specdec_helpers.explorers.controls import Number

CHANGES = 60
GOAL = 50  # ms, for a key press to feel answered at once


def line(where: str, times: list[float]) -> str:
    """Return one row of the table."""
    median, late = np.median(times), np.percentile(times, 95)
    return f"{where:<32} {median:8.1f} {late:8.1f}   {'ok' if late <= GOAL else 'slow'}"


def kernel(lesson: str) -> dict[str, list[float]]:
    """Return ms from a slider's value to the new SVG, for a and for k.

    By the clock, and in processor time: what the clock would say on a machine that does nothing else.
    """
    explorer = build(lesson)
    panel = next(p for p in explorer.panels if any(c.name == "k" for c in p.controls))
    found: dict[str, list[float]] = {}
    for name, values in (("a", np.linspace(0, 1, CHANGES)), ("k", [n % 13 for n in range(CHANGES)])):
        control = next(c for c in panel.controls if c.name == name)
        assert isinstance(control, Number)
        assert control.slider is not None
        wall, cpu = found.setdefault(name, []), found.setdefault(f"{name} (processor)", [])
        for value in values:
            before, start, used = panel.draws, time.perf_counter(), time.process_time()
            control.slider.value = value
            if panel.draws > before:
                wall.append((time.perf_counter() - start) * 1000)
                cpu.append((time.process_time() - used) * 1000)
    return found


# Waits, in the page, for the next new picture after a key press, and gives the time between in ms.
PRESS = """([handle, picture, key]) => new Promise((done, fail) => {
    const limit = setTimeout(() => fail('no new picture'), 5000);
    let start = 0;
    const seen = new MutationObserver(() => {
        seen.disconnect(); clearTimeout(limit); done(performance.now() - start);
    });
    seen.observe(picture, {childList: true, subtree: true});
    handle.focus();
    start = performance.now();
    handle.dispatchEvent(new KeyboardEvent('keydown', {key: key, bubbles: true, cancelable: true}));
})"""


def browser(lessons: list[str]) -> dict[str, list[float]]:
    """Return ms from a key press on the slider of a to the new picture in the page, for each lesson."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))
    import nbformat
    from lab import Notebook, lab
    from lab import browser as chromium
    from screenshots import notebook

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for lesson in lessons:
            nbformat.write(notebook(lesson), Path(folder) / f"{lesson}.ipynb")
        with lab(Path(folder)) as server, chromium() as running:
            for lesson in lessons:
                shown = Notebook(running, server, f"{lesson}.ipynb")
                shown.run_all()
                explorer = shown.explorer(lesson)
                slider = explorer.locator(".widget-slider").filter(
                    has=shown.page.locator("label", has_text="acceptance rate a")
                )
                handle = slider.locator('[role="slider"]').element_handle()
                picture = explorer.locator(".widget-html:has(.specdec-picture svg)").last.element_handle()
                times = []
                for n in range(CHANGES // 2):
                    key = "ArrowLeft" if n < CHANGES // 4 else "ArrowRight"
                    times.append(shown.page.evaluate(PRESS, [handle, picture, key]))
                    shown.page.wait_for_timeout(60)
                found[lesson] = times[2:]  # the first ones warm the page
                shown.close()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", default=[f"lesson{n}" for n in range(1, 6)], metavar="LESSON")
    parser.add_argument("--browser", action="store_true", help="measure in JupyterLab and Chromium too")
    chosen = parser.parse_args()
    print(f"{'explorer':<32} {'median':>8} {'p95':>8}   goal: {GOAL} ms")
    for lesson in chosen.lessons:
        for name, times in kernel(lesson).items():
            print(line(f"{lesson} {name}, kernel", times))
    if chosen.browser:
        for lesson, times in browser(chosen.lessons).items():
            print(line(f"{lesson} a, key to picture", times))


if __name__ == "__main__":
    main()
