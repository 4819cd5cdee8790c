"""Lesson 6's verbs: run the student's own decoder on the shipped models, with a clock.

`measure` runs it once against plain decoding, `measure_k` over k with the times beside it, `measure_losses` shows three
ways to lose, `show_models` tells what the
models expect after a text, and `write` colours a text by where its tokens came from. The algorithm itself is always the
student's; what is computed here are times, counts and the formula.
"""

from .verbs import measure, measure_k, measure_losses, show_models, write

__all__ = ["measure", "measure_k", "measure_losses", "show_models", "write"]
