"""The readout line below a picture: seen without a jump of the page, and heard by a screen reader.

A screen reader speaks when the content of a live region changes, but may miss a region that is itself replaced, and
an `HTML` widget replaces all it holds. So the region is an element of its own that never changes, and owns the
readout (`aria-owns`): whatever takes the readout's place is in the region, wherever it stands in the page.
"""

from __future__ import annotations

from html import escape
from secrets import token_hex

import ipywidgets as w

from specdec_helpers.explorers.words import INK

# Words of a usual length that are not seen: they keep room for the readout and wrap as it does, so that a longer
# sentence moves nothing at any width.
FILLER = "abcde "


class Readout:
    """One line of text in a place of fixed size.

    Args:
        room: how many characters the longest text has.
    """

    def __init__(self, room: int) -> None:
        self.id = f"specdec-readout-{token_hex(4)}"  # two explorers in one page must not share an id
        self.filler = (FILLER * (room // len(FILLER) + 1))[:room]
        self.html = w.HTML(layout=w.Layout(width="auto", min_width="0"))
        self.live = w.HTML(
            f'<div role="status" aria-live="polite" aria-owns="{self.id}" class="specdec-live"></div>',
            layout=w.Layout(width="auto", height="0", margin="0", min_width="0"),
        )
        self.widget = w.VBox([self.html, self.live], layout=w.Layout(width="auto", min_width="0"))

    def say(self, text: str) -> None:
        """Show a text in the place of the last one."""
        self.html.value = (
            f'<div style="display: grid; line-height: 1.4; color: {INK}">'
            f'<div aria-hidden="true" style="grid-area: 1 / 1; visibility: hidden">{self.filler}</div>'
            f'<div id="{self.id}" class="specdec-readout" style="grid-area: 1 / 1">{escape(text)}</div></div>'
        )


__all__ = ["Readout"]
