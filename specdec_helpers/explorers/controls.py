"""Controls: a named value with its widgets, its bounds, and the words for what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from numbers import Real
from typing import Any

import ipywidgets as w

Handler = Callable[[dict[str, Any]], None]


class Control:
    """A named value that widgets show and change."""

    name: str
    widgets: list[w.Widget]
    start: Any  # the value that Reset goes back to

    def value(self) -> Any:
        """Return the current value."""
        raise NotImplementedError

    def check(self, value: object) -> Any:
        """Return `value` in this control's type; ValueError where it does not fit."""
        raise NotImplementedError

    def put(self, value: Any) -> None:
        """Set a checked value."""
        raise NotImplementedError

    def observe(self, handler: Handler) -> None:
        """Call `handler` once for each change, whoever makes it."""
        raise NotImplementedError


def real(name: str, value: object, low: float, high: float, what: str) -> float:
    """Return value as a float in [low, high]; ValueError naming value, bound and way out."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(float(value)):
        raise ValueError(f"{name} = {value!r} is not a number: {what} takes one from {low:g} to {high:g}")
    if not low <= float(value) <= high:
        raise ValueError(
            f"{name} = {value} is outside {low:g}..{high:g}: {what} takes a number from {low:g} to {high:g}"
        )
    return float(value)


class Number(Control):
    """A number with a labelled box, and a slider linked to it.

    Args:
        name: as in `set(name=…)`; also the box's label.
        what: the quantity in words: the slider's label.
        low, high, step, start: bounds, both included, the step of an arrow key, and the first value.
        tooltip: one sentence.
        whole: only whole numbers.
        slider: with a slider beside the box.
    """

    def __init__(
        self,
        name: str,
        what: str,
        low: float,
        high: float,
        step: float,
        start: float,
        tooltip: str,
        *,
        whole: bool = False,
        slider: bool = True,
        label: str | None = None,
    ) -> None:
        self.name, self.what, self.low, self.high, self.whole = name, what, low, high, whole
        self.start = start
        box_type = w.BoundedIntText if whole else w.BoundedFloatText
        slider_type = w.IntSlider if whole else w.FloatSlider
        kind = int if whole else float
        common = {
            "min": kind(low),
            "max": kind(high),
            "step": kind(step),
            "value": kind(start),
            "tooltip": tooltip,
        }
        # The handle of a slider has no name for a screen reader (ipywidgets sets none), so its box says the whole one.
        unseen = f'<span class="jp-sr-only">{escape(what.removesuffix(name))} </span>' if slider else ""
        self.box = box_type(
            description=unseen + escape(label or name),
            description_allow_html=True,
            style={"description_width": "initial"},
            layout=w.Layout(width="auto", max_width="100%", flex="0 0 auto"),
            **common,
        )
        self.box.add_class("specdec-box")
        self.widgets = [self.box]
        self.slider: w.IntSlider | w.FloatSlider | None = None
        if slider:
            self.slider = slider_type(
                description=what,
                readout=False,
                style={"description_width": "initial"},
                layout=w.Layout(width="auto", min_width="0", flex="1 1 230px", max_width="460px"),
                **common,
            )
            self.slider.observe(self._from_slider, names="value")
            self.box.observe(self._from_box, names="value")
            self.widgets = [self.slider, self.box]

    # The slider in the page computes with fractions of its length and sends 0.45000000000000007 for 0.45. Such
    # dust stays with the slider: in the box it would be seen, and it would cost a draw that changes nothing.

    def _from_slider(self, change: dict[str, Any]) -> None:
        self.box.value = round(change["new"], 10)

    def _from_box(self, change: dict[str, Any]) -> None:
        if self.slider is not None and abs(self.slider.value - change["new"]) > 1e-9:
            self.slider.value = change["new"]

    def value(self) -> float | int:
        """Return the number."""
        return int(self.box.value) if self.whole else round(float(self.box.value), 10)

    def check(self, value: object) -> float | int:
        """Return the number if it is one, whole where it must be, and within the bounds."""
        x = real(self.name, value, self.low, self.high, self.what)
        if self.whole and x != int(x):
            raise ValueError(
                f"{self.name} = {value} is not a whole number: "
                f"{self.what} takes one from {self.low:g} to {self.high:g}"
            )
        return int(x) if self.whole else x

    def put(self, value: float | int) -> None:
        """Set the number; slider and box follow each other."""
        self.box.value = value

    def observe(self, handler: Handler) -> None:
        """Watch the box alone: the linked slider would fire a second time for the same change."""
        self.box.observe(handler, names="value")


class Row(Control):
    """A row of labelled number boxes with one value, a tuple.

    Args:
        name: as in `set(name=…)`.
        labels: a label for each box.
        what: one entry in words.
        low, high, step: bounds and step of every entry.
        start: the first values.
        tooltip: one sentence.
        whole: only whole numbers.
        box_width: the width of a box with its label, in CSS.
    """

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        what: str,
        low: float,
        high: float,
        step: float,
        start: Sequence[float],
        tooltip: str,
        *,
        whole: bool = False,
        box_width: str = "auto",
    ) -> None:
        self.name, self.what, self.start = name, what, tuple(start)
        self.cells = [
            Number(f"{name}[{i}]", what, low, high, step, x, tooltip, whole=whole, slider=False, label=label)
            for i, (label, x) in enumerate(zip(labels, start, strict=True))
        ]
        boxes = [cell.box for cell in self.cells]
        for box in boxes:
            box.layout.width = box_width
        self.widgets = [w.HBox(boxes, layout=w.Layout(flex_flow="row wrap", min_width="0"))]

    def value(self) -> tuple[float, ...]:
        """Return the entries."""
        return tuple(c.value() for c in self.cells)

    def check(self, value: object) -> tuple[float, ...]:
        """Return the entries as a tuple if there is one for each box and each fits."""
        try:
            entries = list(value)  # type: ignore[call-overload]
        except TypeError:
            entries = None
        if entries is None or isinstance(value, str) or len(entries) != len(self.cells):
            raise ValueError(
                f"{self.name} = {value!r} does not have {len(self.cells)} entries: "
                f"give one number for each box, as in {self.name}={list(self.start)}"
            )
        return tuple(c.check(x) for c, x in zip(self.cells, entries, strict=True))

    def put(self, value: Sequence[float]) -> None:
        """Set every box."""
        for cell, x in zip(self.cells, value, strict=True):
            cell.put(x)

    def observe(self, handler: Handler) -> None:
        """Watch every box."""
        for cell in self.cells:
            cell.observe(handler)


class Choice(Control):
    """One of a few named options, as a drop-down list.

    Args:
        name: as in `set(name=…)`.
        what: the label.
        options: what can be chosen, as shown.
        tooltip: one sentence.
    """

    def __init__(self, name: str, what: str, options: Sequence[str], tooltip: str) -> None:
        self.name, self.options, self.start = name, tuple(options), options[0]
        self.list = w.Dropdown(
            description=what,
            options=list(options),
            value=options[0],
            tooltip=tooltip,
            style={"description_width": "initial"},
            layout=w.Layout(width="auto", max_width="100%"),
        )
        self.widgets = [self.list]

    def value(self) -> str:
        """Return the chosen option."""
        return str(self.list.value)

    def check(self, value: object) -> str:
        """Return the option if it is one."""
        if value not in self.options:
            named = ", ".join(self.options)
            raise ValueError(f"{self.name} = {value!r} is not an option: choose one of {named}")
        return str(value)

    def put(self, value: str) -> None:
        """Choose an option."""
        self.list.value = value

    def observe(self, handler: Handler) -> None:
        """Watch the list."""
        self.list.observe(handler, names="value")
