"""What a cell shows, kept as nbformat 4 outputs and cut to its limits with one clear line."""

from __future__ import annotations

import io
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher

_MIMES = (
    "text/plain",
    "text/html",
    "text/markdown",
    "text/latex",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
)

_PLAIN = (bool, int, float, str, list, tuple, dict)


class Outputs:
    """The outputs of the running cell. Over the limit, everything is dropped and one line says so."""

    def __init__(self, limits: dict[str, Any]) -> None:
        self.limits = limits
        self.total_left: int = limits["notebook_output_bytes"]
        self.muted = True
        self.start(0)

    def start(self, index: int) -> None:
        """Begin cell number `index`."""
        self.index = index
        self.items: list[dict[str, Any]] = []
        self.left = min(self.limits["cell_output_bytes"], self.total_left)
        self.room: int = self.limits["cell_outputs"]
        self.cut = False
        self.clear_next = False

    def take(self) -> list[dict[str, Any]]:
        """The finished outputs, streams joined."""
        items, self.items = self.items, []
        for item in items:
            if item["output_type"] == "stream":
                item["text"] = "".join(item.pop("parts"))
            item.pop("id", None)
        return items

    def stream(self, name: str, text: str) -> None:
        """Text on stdout or stderr; joined with the stream output before it."""
        if self.muted or not text or self.cut:
            return
        if self.clear_next:
            self.clear()
        last = self.items[-1] if self.items else None
        if last is None or last["output_type"] != "stream" or last["name"] != name:
            if not self._room():
                return
            last = {"output_type": "stream", "name": name, "parts": []}
            self.items.append(last)
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > self.left:
            last["parts"].append(text.encode("utf-8", "replace")[: self.left].decode("utf-8", "ignore"))
            self._over("bytes")
            return
        self._spend(size)
        last["parts"].append(text)

    def display(self, kind: str, data: dict[str, Any], metadata: dict[str, Any], **more: Any) -> None:
        """A display_data or execute_result output; only the MIME types that a notebook page can show."""
        if self.muted or self.cut:
            return
        if self.clear_next:
            self.clear()
        shown = {mime: str(data[mime]) for mime in _MIMES if isinstance(data.get(mime), str | bytes)}
        size = sum(len(text.encode("utf-8", "replace")) for text in shown.values())
        if not self._room():
            return
        if size > self.left:
            self._over("bytes")
            return
        self._spend(size)
        sizes = {mime: metadata[mime] for mime in shown if isinstance(metadata.get(mime), dict)}
        self.items.append({"output_type": kind, "data": shown, "metadata": sizes, **more})

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """The exception that ended the cell; it is shown even when the rest was cut, within 20,000 characters."""
        if self.muted:
            return
        lines, room = [], 20_000
        for line in traceback:
            lines.append(line[:room])
            room -= len(lines[-1])
            if room <= 0:
                lines.append("[traceback cut here]")
                break
        self.items.append(
            {"output_type": "error", "ename": name[:200], "evalue": value[:2000], "traceback": lines}
        )

    def clear(self) -> None:
        """Forget what was shown so far (the budget stays spent)."""
        self.clear_next = False
        if not self.cut:
            self.items = []

    def update(self, identity: str, data: dict[str, Any]) -> None:
        """Replace the display with this id."""
        shown = {mime: str(data[mime]) for mime in _MIMES if isinstance(data.get(mime), str)}
        size = sum(len(text.encode("utf-8", "replace")) for text in shown.values())
        for item in self.items:
            if item.get("id") == identity and size <= self.left:
                self._spend(size)
                item["data"] = shown

    def _spend(self, size: int) -> None:
        self.left -= size
        self.total_left -= size

    def _room(self) -> bool:
        if self.room <= 0:
            self._over("outputs")
            return False
        self.room -= 1
        return True

    def _over(self, what: str) -> None:
        self.cut = True
        self.total_left = max(0, self.total_left - self.left)
        if what == "outputs":
            reason = f"a cell may show {self.limits['cell_outputs']} outputs"
        elif self.limits["cell_output_bytes"] > self.total_left:
            reason = f"a notebook may show {self.limits['notebook_output_bytes']:,} bytes"
        else:
            reason = f"a cell may show {self.limits['cell_output_bytes']:,} bytes"
        self.note(f"output cut here: {reason}")

    def note(self, text: str) -> None:
        """One line of ours on stderr."""
        self.items.append({"output_type": "stream", "name": "stderr", "parts": [f"\n[{text}]\n"]})


class Stream(io.TextIOBase):
    """What sys.stdout and sys.stderr are in a student's process."""

    def __init__(self, outputs: Outputs, name: str) -> None:
        super().__init__()
        self._outputs, self._name = outputs, name

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Always UTF-8, whatever LANG says."""
        return "utf-8"

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Keep the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self._name, text)
        return len(text)


class Publisher(DisplayPublisher):
    """Takes what `display()` shows."""

    outputs: Outputs

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **more: Any) -> None:
        """Keep one display, or replace an earlier one of the same id."""
        transient = more.get("transient") or {}
        identity = transient.get("display_id")
        if more.get("update"):
            if identity:
                self.outputs.update(str(identity), data)
            return
        extra = {"id": str(identity)} if identity else {}
        self.outputs.display("display_data", data, metadata or {}, **extra)

    def clear_output(self, wait: bool = False) -> None:
        """Forget what was shown, now or when the next output comes."""
        if wait:
            self.outputs.clear_next = True
        else:
            self.outputs.clear()


class ResultHook(DisplayHook):
    """Takes the value of a cell's last expression."""

    outputs: Outputs

    def compute_format_data(self, result: Any) -> tuple[Any, Any]:
        """What to show of a result; a plain value has a text only, so the other formatters are not asked."""
        shell: Any = self.shell
        if type(result) in _PLAIN:
            return {"text/plain": shell.display_formatter.formatters["text/plain"](result)}, {}
        data, metadata = super().compute_format_data(result)
        return data, metadata

    def write_output_prompt(self) -> None:
        """Print no prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Keep the result."""
        self.outputs.display("execute_result", format_dict, md_dict or {}, execution_count=self.outputs.index)

    def finish_displayhook(self) -> None:
        """Print no newline."""
