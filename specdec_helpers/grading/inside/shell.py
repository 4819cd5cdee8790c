"""The IPython that plays the cells: no terminal, no kernel, no history file, figures shown inline."""

from __future__ import annotations

import os
import re
import sys
import types
import warnings
from typing import Any

import ipywidgets
import matplotlib
import matplotlib.figure
import matplotlib.pyplot as plt
import matplotlib_inline.backend_inline as inline
from IPython.core.interactiveshell import InteractiveShell
from matplotlib._pylab_helpers import Gcf
from traitlets import Type
from traitlets.config import Config

from .outputs import Outputs, Publisher, ResultHook, Stream

DPI = 72
# What IPython may rewrite: magics, shell and help lines, prompts, quoting by a first character, a first line set in;
# and what it takes for the end of a line, where `^` sees none.
_REWRITTEN = re.compile(
    r"\A\s|^\s*(?:[%!,;/>]|In \[|\.{3})|=\s*[%!](?!=)|\?|[\r\v\f\x1c-\x1e\x85\u2028\u2029]", re.MULTILINE
)


def rewritten(cell: str) -> bool:
    """Whether IPython may rewrite a cell: every one of a single line (a magic without its %), and suspects."""
    return len(cell.splitlines()) <= 1 or bool(_REWRITTEN.search(cell))


class Shell(InteractiveShell):
    """An InteractiveShell whose outputs are collected."""

    outputs: Outputs
    _usual_transforms: list[int]
    _usual_hooks: list[int]
    display_pub_class = Type(Publisher)
    displayhook_class = Type(ResultHook)

    def transform_cell(self, raw_cell: str) -> str:
        """IPython's rewriting, which reads a cell token by token; plain Python of several lines is spared it."""
        if rewritten(raw_cell) or self._transforms() != self._usual_transforms:
            return str(super().transform_cell(raw_cell))
        return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"

    def _transforms(self) -> list[int]:
        manager = self.input_transformer_manager
        parts = (manager.cleanup_transforms, manager.line_transforms, manager.token_transformers)
        return [*map(len, parts), len(self.input_transformers_post)]

    def _hooks(self) -> list[int]:
        return [*self._transforms(), len(self.ast_transformers), *map(len, self.events.callbacks.values())]

    def hooked(self) -> bool:
        """Whether a notebook has added something that takes part in the running of every cell."""
        return self._hooks() != self._usual_hooks

    def note_transforms(self) -> None:
        """Remember which rewriting and hooks are IPython's own and ours; a notebook may add some."""
        self._usual_transforms, self._usual_hooks = self._transforms(), self._hooks()

    def enable_gui(self, gui: Any = None) -> None:
        """There is no event loop to hook into."""

    def enable_matplotlib(self, gui: Any = None) -> tuple[Any, Any]:
        """Whatever is asked for (notebook, widget, qt …), figures are shown inline."""
        plt.switch_backend("module://matplotlib_inline.backend_inline")
        return "inline", matplotlib.get_backend()

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        lines = [line for part in stb for line in str(part).split("\n")]
        try:
            value = str(evalue)
        except Exception:
            value = ""
        self.outputs.error(str(getattr(etype, "__name__", etype)), value, lines)

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        kind, value, tb = super()._get_exc_info(exc_tuple)
        return kind, value, shortened(tb)

    def _format_exception_for_storage(
        self, exception: BaseException, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """IPython 9 draws every traceback a second time for its history; nobody reads it here."""
        return {"ename": type(exception).__name__, "evalue": "", "traceback": []}

    def ask_exit(self) -> None:
        """`exit` and `quit` end nothing here."""

    def init_virtualenv(self) -> None:
        """The paths are set already."""


def shortened(tb: types.TracebackType | None, most: int = 40) -> types.TracebackType | None:
    """The first and last frames of an endless recursion; IPython would take seconds to draw them all."""
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    if len(frames) > most:
        frames = frames[: most // 4] + frames[-most // 4 :]
    for frame in reversed(frames):
        tb = types.TracebackType(tb, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return tb


def make() -> Shell:
    """Make the shell (once, before the fork), with everything slow done: imports, fonts, formatters."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.autocall = 0
    config.InteractiveShell.cache_size = 1000
    config.InlineBackend.figure_formats = {"png"}
    config.InlineBackend.rc = {"figure.dpi": DPI}
    shell: Shell = Shell.instance(config=config)
    matplotlib.rcParams["figure.dpi"] = DPI
    matplotlib.rcParams["figure.max_open_warning"] = 0
    plt.switch_backend("module://matplotlib_inline.backend_inline")
    inline.configure_inline_support(shell, "inline")
    shell.events.unregister("post_execute", inline.flush_figures)
    shell.events.register("post_execute", _flush(shell))
    shell.note_transforms()
    return shell


def _flush(shell: Shell) -> Any:
    def flush_figures() -> None:
        """Show the figures that are open, the first ones only if there are too many, and close them."""
        if not Gcf.figs:
            return
        most, numbers = shell.outputs.limits["cell_figures"], list(Gcf.figs)
        for number in numbers[most:]:
            Gcf.figs.pop(number)
        try:
            inline.show(True)
        finally:
            plt.close("all")
        if len(numbers) > most:
            shell.outputs.note(f"{len(numbers) - most} more figures not shown: a cell may show {most}")

    return flush_figures


def warm_up(shell: Shell) -> None:
    """Run what the first student would otherwise pay for: a figure, an error, a widget, the tokenizer."""
    outputs = Outputs({"cell_output_bytes": 1 << 24, "notebook_output_bytes": 1 << 24, "cell_outputs": 99,
                       "cell_figures": 9})  # fmt: skip
    attach(shell, outputs)
    outputs.muted = False
    cells = (
        "import numpy as np\ndef f(x):\n    return 1 / x\nnp.zeros(3)",
        "f(0)",
        # A word is enough: it brings the font and all of the way to a picture; more only took time here.
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.figure(figsize=(1, 1)).text(0, 0, 'a')",
        "import ipywidgets\ndisplay(ipywidgets.IntSlider())\nipywidgets.interact(lambda a: a, a=(0, 1, .1));",
        "print(input())",
    )
    with warnings.catch_warnings():
        for cell in cells:
            shell.run_cell(cell, store_history=True)
    ipywidgets.Widget.close_all()
    shell.reset(new_session=True)
    shell.execution_count = 1
    shell.note_transforms()
    if shell.history_manager is not None:
        shell.history_manager.reset()
    detach()


def attach(shell: Shell, outputs: Outputs) -> None:
    """From here on what is printed and displayed goes to `outputs`."""
    shell.outputs = outputs
    for part in (shell.display_pub, shell.displayhook):
        if isinstance(part, Publisher | ResultHook):
            part.outputs = outputs
    sys.stdout, sys.stderr = Stream(outputs, "stdout"), Stream(outputs, "stderr")
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - input() raises EOFError


def detach() -> None:
    """Back to the process's own streams."""
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
