"""matplotlib imported without two things that cost a fifth of a second and nobody asks for while grading.

* With no cache, and a sandbox has none, matplotlib reads 61 PostScript font metrics (AFM), which only two PDF and
  PostScript options use. Here they are read when one is asked for.
* It writes a table of all properties into the docstrings of its classes; here these stay as short as in its source.

Where matplotlib has changed inside so that this does not work, it does all as it always does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def prepare() -> None:
    """Import matplotlib.pyplot. To be called before anything else imports it."""
    import matplotlib._afm
    import matplotlib.artist

    with _instead(matplotlib._afm, "AFM", _later), _instead(matplotlib.artist, "kwdoc", _no_table):
        import matplotlib.pyplot
    from matplotlib import font_manager

    if font_manager.fontManager.__dict__.get("afmlist") == []:
        del font_manager.fontManager.afmlist
        font_manager.fontManager.__class__ = _lazy(font_manager)


@contextlib.contextmanager
def _instead(module: Any, name: str, stand_in: Any) -> Iterator[None]:
    there = getattr(module, name, None)
    if there is None:
        yield
        return
    setattr(module, name, stand_in)
    try:
        yield
    finally:
        setattr(module, name, there)


def _later(file: Any) -> Any:
    raise OSError(
        "read when it is asked for"
    )  # matplotlib takes it for a font that does not open, and goes on


def _no_table(artist: Any) -> str:
    return ""


def _lazy(manager: Any) -> type:
    class FontManager(manager.FontManager):  # type: ignore[misc]
        """matplotlib's own; its list of AFM fonts is filled when it is first looked at."""

        def __getattr__(self, name: str) -> Any:
            if name != "afmlist":
                raise AttributeError(name)
            self.afmlist: list[Any] = []
            from matplotlib import get_data_path

            folders = [f"{get_data_path()}/fonts/{kind}" for kind in ("afm", "pdfcorefonts")]
            for path in manager.findSystemFonts(folders, "afm"):
                with contextlib.suppress(Exception):
                    self.addfont(path)
            return self.afmlist

    return FontManager
