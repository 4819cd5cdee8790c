"""Answer a submission's call of a test's model: bounded, because the model runs here, in the trusted process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arguments import builtin_kind
from .inside import wire
from .results import OursError, SessionDied

ModelCall = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

# The bytes of one call are bounded in wire.py; these are whole numbers such as "rows wanted".
MODEL_NUMBER = 10_000


def _large(value: Any) -> bool:
    """Whether this is a number, of whatever kind, that could stand for too much work."""
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    return isinstance(value, int | float) and not abs(value) <= MODEL_NUMBER


def reply_to(
    message: list[Any],
    models: Sequence[Callable[..., Any]],
    answer: ModelCall | None,
    size: int,
    refused: str,
) -> list[Any]:
    """The reply to the request [n, "model", which, args, kwargs] of `size` bytes: a value, or an error to raise there.

    `answer(model, args, kwargs)` makes the value (None: the model is simply called); `refused` is the reason to
    refuse, if there is one. Raises WireError for a model that was not handed out; SessionDied and OursError pass.
    """
    _, _, which, args, kwargs = message
    args, kwargs = wire.from_wire(args), wire.from_wire(kwargs)
    if not (0 <= which < len(models) and type(args) is tuple and type(kwargs) is dict):
        raise wire.WireError("a call of a model that was not handed out")
    try:
        if any(map(_large, (*args, *kwargs.values()))) or size > wire.MODEL_CALL_BYTES + 100:
            raise ValueError(wire.MODEL_TOO_MUCH)
        if refused:
            raise RecursionError(refused)
        model = models[which]
        return ["value", wire.to_wire(answer(model, args, kwargs) if answer else model(*args, **kwargs))]
    except (SessionDied, OursError):
        raise
    except Exception as error:
        return ["raise", builtin_kind(error), str(error)[:2000]]
