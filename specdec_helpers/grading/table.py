"""What a batch says: a progress bar or plain lines while it runs, a table or JSON when it is done."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any, TextIO


@dataclass
class Summary:
    """How a run went. Lists hold students; `look` and `ours` say why."""

    lesson: str
    points: float = 0.0
    graded: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    look: dict[str, list[str]] = field(default_factory=dict)
    ours: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)  # remarks that need no look
    differences: dict[str, dict[str, tuple[float | None, float]]] = field(default_factory=dict)
    not_sandboxed: int = 0
    totals: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def status(self) -> int:
        """The exit status: 0 all graded, 1 some need a look, 2 ours."""
        return 2 if self.ours else 1 if self.look else 0

    def json(self) -> str:
        """The summary for machines."""
        data = asdict(self) | {"status": self.status}
        return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)

    def text(self) -> str:
        """The summary for people."""
        rate = (
            f", {len(self.graded) / self.seconds:.1f} a second" if self.graded and self.seconds > 0.5 else ""
        )
        count = len(self.graded) + len(self.unchanged) + len(self.ours)
        lines = [
            f"{self.lesson}: {count} submissions in {self.seconds:.1f} s{rate}",
            f"  graded       {len(self.graded):>6}",
            f"  unchanged    {len(self.unchanged):>6}",
            f"  need a look  {len(self.look):>6}",
            f"  ours         {len(self.ours):>6}",
        ]
        if self.differences:
            lines.append("scores that changed:")
            lines += [
                f"  {student}: {_difference(self.differences[student])}"
                for student in sorted(self.differences)
            ]
        if self.look:
            lines.append("need a look:")
            lines += [f"  {student}: {'; '.join(self.look[student])}" for student in sorted(self.look)]
        if self.ours:
            lines.append("not graded, and not the student's fault (run the same command again):")
            lines += [f"  {student}: {self.ours[student]}" for student in sorted(self.ours)]
        if self.not_sandboxed:
            lines.append(
                f"NOT SANDBOXED: {self.not_sandboxed} submissions ran without a sandbox; see `specdec doctor`"
            )
        return "\n".join(lines)


def _difference(changes: dict[str, tuple[float | None, float]]) -> str:
    parts = [
        f"{name} {'-' if old is None else f'{old:g}'} → {new:g}"
        for name, (old, new) in sorted(changes.items())
    ]
    return ", ".join(parts)


class Progress:
    """Counts what is done: a tqdm bar on a terminal, a plain line now and then elsewhere."""

    def __init__(self, total: int, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.total, self.done, self.look, self.quiet = total, 0, 0, quiet
        self.began = self._last = time.monotonic()
        self._bar: Any = None
        if not quiet and self.stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, unit="", file=self.stream, dynamic_ncols=True, postfix={"need a look": 0}
            )

    def step(self, look: bool) -> None:
        """One more is done."""
        self.done += 1
        self.look += look
        if self._bar is not None:
            self._bar.set_postfix({"need a look": self.look}, refresh=False)
            self._bar.update()
        elif not self.quiet and (self.done == self.total or time.monotonic() - self._last > 10):
            self._last = time.monotonic()
            self._line()

    def _line(self) -> None:
        rate = self.done / max(time.monotonic() - self.began, 1e-9)
        left = (self.total - self.done) / rate
        print(
            f"{self.done} of {self.total} done, {rate:.1f} a second, {left:.0f} s left, {self.look} need a look",
            file=self.stream,
            flush=True,
        )

    def say(self, text: str) -> None:
        """Say something without breaking the bar."""
        if self._bar is not None:
            self._bar.write(text, file=self.stream)
        elif not self.quiet:
            print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
