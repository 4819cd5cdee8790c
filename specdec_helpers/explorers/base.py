"""The shared base of the explorers.

An explorer is a column of panels. A panel has controls, presets and a reset button, one picture and one
readout line. All widgets are made once and stay; a change redraws the picture once and puts it into one
`HTML` widget of fixed shape, so the page never jumps. Nothing here uses pyplot, `interact` or `Output`.

A lesson is one module with a class `Lesson(Explorer)` whose `panels` are `Panel` subclasses. A panel says
what its controls are and, in `draw`, moves the artists of its `Picture` and returns a `View`: the picture in
words and the readout. An error in `draw` is not caught: it belongs in front of whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as w
from IPython.display import HTML, display

from specdec_helpers.explorers.controls import Control, Number
from specdec_helpers.explorers.picture import Picture
from specdec_helpers.explorers.readout import Readout
from specdec_helpers.explorers.words import INK

Values = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """What a panel shows after a change."""

    label: str  # the picture in words, with its numbers: the aria-label
    readout: str  # one line of plain text


class Panel:
    """Controls, one picture, one readout; redrawn once for each change.

    A subclass sets `heading`, `controls`, `picture` and `presets` in `__init__`, makes its artists, calls
    `self.assemble()` last, and implements `draw`.
    """

    heading: str = ""
    controls: Sequence[Control] = ()
    presets: Mapping[str, Values] = {}
    picture: Picture | None = None
    readout_room: int = 90  # room kept for the readout: the characters of the longest one
    note: str = ""  # a sentence that never changes, below the readout

    def draw(self, at: Values) -> View:
        """Move the artists to the controls' values, `at`, and say what the picture shows."""
        raise NotImplementedError

    # ------------------------------------------------------------------ widgets

    def assemble(self) -> None:
        """Make the widgets and draw for the first time."""
        self.draws = 0
        self.view = View("", "")
        self._held, self._stale = False, False
        self.picture_html = w.HTML(layout=w.Layout(width="auto", min_width="0"))
        self.readout = Readout(self.readout_room)
        self.buttons = {name: self._button(name, values) for name, values in self.presets.items()}
        self.reset_button = w.Button(
            description="Reset", tooltip="Back to the starting values", layout=w.Layout(width="auto")
        )
        self.reset_button.on_click(lambda _: self.reset())
        sliders = [c.slider for c in self.controls if isinstance(c, Number) and c.slider is not None]
        longest = max((len(s.description) for s in sliders), default=0)
        wide = f"{longest * 6.4 + 16:.0f}px"
        for slider in sliders:
            slider.style.description_width = wide  # the sliders of a panel begin in one line
        self.widget = w.VBox(self.arrange(), layout=w.Layout(width="auto", min_width="0", max_width="760px"))
        self.widget.add_class("specdec-panel")
        for control in self.controls:
            control.observe(self._changed)
        self.refresh()

    def arrange(self) -> list[w.Widget]:
        """Return the panel's children from top to bottom; a subclass may add its own."""
        parts: list[w.Widget] = []
        if self.heading:
            parts.append(
                w.HTML(
                    f'<h4 style="margin: 6px 0 0; line-height: 1.3; color: {INK}">{escape(self.heading)}</h4>'
                )
            )
        parts += [self.line(control.widgets) for control in self.controls]
        parts += [
            self.line([*self.buttons.values(), self.reset_button]),
            self.picture_html,
            self.readout.widget,
        ]
        if self.note:
            parts.append(
                w.HTML(f'<p style="margin: 0; line-height: 1.4; color: {INK}">{escape(self.note)}</p>')
            )
        return parts

    @staticmethod
    def line(widgets: Sequence[w.Widget]) -> w.HBox:
        """Return widgets in a row that wraps where it is narrow."""
        box = w.HBox(
            list(widgets), layout=w.Layout(flex_flow="row wrap", min_width="0", align_items="center")
        )
        return box

    def _button(self, name: str, values: Values) -> w.Button:
        told = ", ".join(f"{k} = {v}" for k, v in values.items())
        button = w.Button(
            description=name, tooltip=f"Set {told}", layout=w.Layout(width="auto", max_width="100%")
        )
        button.on_click(lambda _: self.preset(name))
        return button

    # ------------------------------------------------------------------ values

    def values(self) -> dict[str, Any]:
        """Return the current value of each control."""
        return {control.name: control.value() for control in self.controls}

    def put(self, values: Values) -> None:
        """Set several controls and draw once. All are checked before the first is set."""
        known = {control.name: control for control in self.controls}
        checked = {name: known[name].check(value) for name, value in values.items()}
        with self.hold():
            for name, value in checked.items():
                known[name].put(value)

    def preset(self, name: str) -> None:
        """Set the values of a named preset."""
        if name not in self.presets:
            raise ValueError(f"no preset {name!r}: choose one of {', '.join(self.presets)}")
        self.put(self.presets[name])

    def reset(self) -> None:
        """Go back to the starting values."""
        self.put({control.name: control.start for control in self.controls})

    # ------------------------------------------------------------------ drawing

    def refresh(self) -> None:
        """Draw now."""
        self.view = self.draw(self.values())
        self.draws += 1
        if self.picture is not None:
            self.picture_html.value = self.picture.svg(self.view.label)
        self.readout.say(self.view.readout)

    def still(self) -> str:
        """Return the picture as it is now, for a reader without a kernel."""
        return self.picture.image(self.view.label) if self.picture is not None else ""

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Draw once at the end instead of once for each control."""
        if self._held:
            yield
            return
        self._held, self._stale = True, False
        try:
            yield
        finally:
            self._held = False
        if self._stale:
            self.refresh()

    def _changed(self, _: object) -> None:
        if self._held:
            self._stale = True
        else:
            self.refresh()


class Explorer:
    """A column of panels, driven by hand or by code.

    A subclass sets `lesson`, `title` and, in `__init__`, calls `super().__init__([...panels])`.
    """

    lesson: str = ""
    title: str = ""

    def __init__(self, panels: Sequence[Panel]) -> None:
        self.panels = list(panels)
        self.widget = w.VBox(
            [panel.widget for panel in self.panels], layout=w.Layout(width="auto", min_width="0")
        )
        self.widget.add_class("specdec-explorer")
        self.widget.add_class(f"specdec-{self.lesson}")

    @property
    def description(self) -> str:
        """Everything that is shown, in words."""
        return " ".join(f"{p.view.label} {p.view.readout}".strip() for p in self.panels)

    def values(self) -> dict[str, Any]:
        """Return the current value of every control."""
        return {name: value for panel in self.panels for name, value in panel.values().items()}

    def set(self, **values: Any) -> None:
        """Set controls by name, as in `set(a=0.5, k=3)`.

        Raises:
            ValueError: for an unknown control or a value it does not take; nothing is changed then.
        """
        known = {control.name: control for panel in self.panels for control in panel.controls}
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"no control {name!r}: this explorer has {', '.join(known)}")
            known[name].check(value)
        for panel in self.panels:
            names = [control.name for control in panel.controls]
            panel.put({name: value for name, value in values.items() if name in names})

    def preset(self, name: str) -> None:
        """Choose a preset by the text on its button; ValueError if there is none."""
        for panel in self.panels:
            if name in panel.presets:
                return panel.preset(name)
        names = [preset for panel in self.panels for preset in panel.presets]
        raise ValueError(f"no preset {name!r}: choose one of {', '.join(names) or '(none here)'}")

    def reset(self) -> None:
        """Set every control back to its starting value."""
        for panel in self.panels:
            panel.reset()

    def show(self) -> None:
        """Display the widgets, then a folded still picture for a reader without a kernel."""
        view = self.widget._repr_mimebundle_()
        data = dict(view[0] if isinstance(view, tuple) else view)
        data["text/plain"] = f"{self.title}: interactive in JupyterLab. {self.description}"
        display(data, raw=True)
        stills = "".join(
            f"<p>{panel.still()}</p><p>{escape(panel.view.label)} {escape(panel.view.readout)}</p>"
            for panel in self.panels
        )
        display(
            HTML(
                "<details><summary>Still picture and text (for reading without a running notebook)</summary>"
                f"{stills}</details>"
            )
        )


__all__ = ["Explorer", "Panel", "Values", "View"]
