"""The tables behind the visible checks: examples, misconceptions, and how an example is judged.

Each lesson has one module, `lesson1.py` … `lesson6.py`, with two tables:

* ``MISTAKES``: {function: {mistake id: Mistake}}. These words close the lesson ("common mistakes"), explain a
  failed check, and name the wrong implementations that the hidden tests must reject (`trials/lessonN.py`
  holds the code of each, under the same id).
* ``EXERCISES``: {function: Exercise}. What `check(name=...)` tries in the student's own notebook.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .ask import Answer, Case, Function, ask
from .report import Line, Slip
from .values import describe, has_nan, is_number, is_sequence, same, show_value


@dataclass(frozen=True)
class Mistake:
    """A known misconception in words.

    name: what it is ("the bonus token is missing"); gives: what one sees ("verify_greedy(…) gives [7, 3]");
    cause: why it happens; next_step: the way out; listed: whether the lesson's "common mistakes" tell it (the rarer
    ones only explain a failed check).
    """

    name: str
    gives: str
    cause: str
    next_step: str
    listed: bool = True


@dataclass(frozen=True)
class Raises:
    """An expected exception: the type, or any subclass of it."""

    error: str = "ValueError"


@dataclass(frozen=True)
class Example:
    """One visible call. `expected` is a value or `Raises`; `slips` maps a mistake's id to the value it gives, or the
    exception it ends with."""

    args: Case
    expected: Any
    slips: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    call: str = ""  # how the call is written, where the arguments' repr says too little
    rtol: float = 1e-7
    atol: float = 1e-8


def numbers_example(
    args: Case, expected: Any, slips: Mapping[str, Any] | None = None, **more: Any
) -> Example:
    """An example whose value is a list of probabilities, compared within 1e-8 (also where 0 or 1 is expected)."""

    def floats(value: Any) -> Any:
        return [float(x) for x in value] if isinstance(value, list) else value

    given = {key: floats(value) for key, value in (slips or {}).items()}
    return Example(args, floats(expected), given, **{"rtol": 0.0, "atol": 1e-8, **more})


Probe = Callable[[Function], Slip | None]


@dataclass(frozen=True)
class Exercise:
    """The visible check of one function: examples, then probes for what an example cannot say."""

    examples: tuple[Example, ...]
    probes: tuple[tuple[str, Probe], ...] = ()
    unchanged: bool = True  # arguments must come back as they were
    builds_on: tuple[str, ...] = ()  # earlier functions of the lesson that this one is meant to call


def unfinished(answers: list[Answer]) -> bool:
    """Whether the function is still the stub it came as."""
    return bool(answers) and all(
        a.error is not None and a.error.kind == "NotImplementedError" for a in answers
    )


def run_exercise(
    name: str, function: Function, exercise: Exercise, mistakes: Mapping[str, Mistake]
) -> list[Line] | None:
    """Run a visible check; one Line per example and probe, or None where the function is unfinished."""
    answers = ask(function, [example.args for example in exercise.examples])
    if unfinished(answers):
        return None
    if not answers:  # probes only: a stub shows itself in the first slip
        lines = [Line(label, probe(function)) for label, probe in exercise.probes]
        stub = all(
            line.slip is not None and line.slip.got.startswith("NotImplementedError") for line in lines
        )
        return None if stub else lines
    lines = [
        Line(line_text(name, example), judge_example(name, example, answer, mistakes))
        for example, answer in zip(exercise.examples, answers, strict=True)
    ]
    if exercise.unchanged and any(answer.changed for answer in answers):
        lines.append(Line("leaves its arguments as they were", changed_slip(name)))
    lines += [Line(label, probe(function)) for label, probe in exercise.probes]
    return lines


def line_text(name: str, example: Example) -> str:
    """What stands on the example's line: its own name, else the call; a refusal says what is due."""
    text = example.name or call_text(name, example)
    refusal = isinstance(example.expected, Raises) and not example.name
    return f"{text} raises a {example.expected.error}" if refusal else text


def call_text(name: str, example: Example) -> str:
    """The call as a student would type it."""
    return example.call or f"{name}({', '.join(show_value(argument) for argument in example.args)})"


def judge_example(
    name: str, example: Example, answer: Answer, mistakes: Mapping[str, Mistake]
) -> Slip | None:
    """None where the answer is right; else a Slip that shows the call, both values and a likely cause."""
    call = call_text(name, example)
    if isinstance(example.expected, Raises):
        wanted = example.expected.error
        if answer.error is not None and answer.error.is_a(wanted):
            return None
        got = error_text(answer) if answer.error else f"{show_value(answer.value)} (no error)"
        return Slip(call, got, f"a {wanted}", *refusal_advice(answer, wanted))
    if answer.error is not None:
        shown = call, error_text(answer), show_value(example.expected)
        for key, value in example.slips.items():
            if isinstance(value, Raises) and answer.error.is_a(value.error):
                return Slip(*shown, mistakes[key].cause, mistakes[key].next_step, key)
        return Slip(*shown, *error_advice(answer))
    if same(answer.value, example.expected, example.rtol, example.atol):
        return None
    for key, value in example.slips.items():
        if same(answer.value, value, example.rtol, example.atol):
            mistake = mistakes[key]
            return Slip(
                call,
                show_value(answer.value),
                show_value(example.expected),
                mistake.cause,
                mistake.next_step,
                key,
            )
    return Slip(
        call,
        show_value(answer.value),
        show_value(example.expected),
        *value_advice(answer.value, example.expected),
    )


def error_text(answer: Answer) -> str:
    """The exception that came back, in one line."""
    assert answer.error is not None
    return (
        f"{answer.error.kind}: {answer.error.message}".splitlines()[0][:200]
        if answer.error.message
        else answer.error.kind
    )


def refusal_advice(answer: Answer, wanted: str) -> tuple[str, str]:
    """(likely cause, next step) where invalid input should have raised `wanted`, and did not."""
    step = f'test for it first and `raise {wanted}("…")` with a message that names the value'
    if answer.error is None:
        return "this input is not valid, and nothing says so", step
    if answer.error.kind == "UnsupportedValue":
        return "this input is not valid; something came back, and no error was raised", step
    return "this input is not valid; an error comes, but of another kind", step


def error_advice(answer: Answer) -> tuple[str, str]:
    """(likely cause, next step) for an exception where a value was due."""
    assert answer.error is not None
    error = answer.error
    if error.kind in ("EOFError", "StdinNotImplementedError"):  # outside JupyterLab nobody can type
        return "`input()` waits for somebody to type", "take every value from the function's arguments"
    if error.is_a("NotImplementedError"):
        return "part of the function is still the stub", "replace `raise NotImplementedError` with your code"
    if error.is_a("IndexError"):
        return (
            "an index ran past the end of a sequence",
            "print the index beside the sequence's length, and find the step where it is too large",
        )
    if error.is_a("NameError"):
        return (
            "a name is used that does not exist, or not yet",
            "look for a typing error, a missing import, or a cell above that was not run",
        )
    if error.is_a("ZeroDivisionError"):
        return "a division by zero", "find the input that makes the divisor 0 and treat it on its own"
    if error.kind == "UnsupportedValue":
        return (
            "the return value is not a number or a plain sequence",
            "return a number, a list, a tuple or an array",
        )
    if error.is_a("OverflowError"):
        return "a number became too large for a float", "find the large intermediate value and avoid it"
    if error.is_a("ValueError") and "truth value of an array" in error.message:
        return (
            "`if`, `not`, `and` or `==` asks a whole array for one yes or no; arguments may be arrays",
            "ask for len(x) == 0, compare entry by entry, or use .any() or .all()",
        )
    if error.is_a("ValueError"):
        return (
            "this input is valid: a test refuses too much, or two shapes do not fit",
            "run this call in a cell of your own and see which line raises the error",
        )
    if error.is_a("TypeError") and "'list'" in error.message and re.search("operand|non-int", error.message):
        return (
            "lists cannot be subtracted, multiplied or divided as a whole",
            "work entry by entry, or make arrays of them first: np.array(p)",
        )
    if error.is_a("TypeError") and re.search("positional argument|unexpected keyword", error.message):
        return (
            "a function is called with other arguments than its `def` line names",
            "compare the call with the `def` line; the exercise's own `def` line stays as it came",
        )
    if error.is_a("TypeError"):
        return (
            "a call or an operation got a type it cannot use",
            "print the arguments' types inside the function",
        )
    return (
        "the function stopped with an error",
        "run this call in a cell of your own and read the last line of the error",
    )


def value_advice(got: Any, expected: Any) -> tuple[str, str]:
    """(likely cause, next step) for a wrong value that no known misconception explains."""
    if expected is None:
        return "a value came back where there is none to give", "return None in this case"
    if got is None:
        return "the function returns nothing", "end it with `return` and the result"
    if isinstance(expected, dict) and not isinstance(got, dict):
        return f"{describe(got)} came back, a dict is due", "return a dict with the entries of the text"
    if isinstance(expected, dict):
        wrong = [key for key in expected if key not in got or not same(got[key], expected[key])]
        wrong += [key for key in got if key not in expected]
        names = ", ".join(str(key) for key in wrong)
        return f"wrong, missing or too many: {names}", "compute the first of these by hand, beside your code"
    if has_nan(got):
        return (
            "nan came back: somewhere 0 is divided by 0, or an overflow by an overflow",
            "find the input that makes the divisor 0, or exp() too large, and treat it on its own",
        )
    if is_sequence(expected) and not is_sequence(got):
        return f"{describe(got)} came back, a sequence is due", "collect the values in a list and return it"
    if is_number(expected) and not is_number(got):
        return f"{describe(got)} came back, a number is due", "return one number"
    if getattr(got, "ndim", 1) > 1 and not any(map(is_sequence, expected)):
        return f"{describe(got)} came back, a flat sequence is due", "flatten it with .ravel()"
    if is_sequence(got) and any(isinstance(entry, str) for entry in got):
        return "some entries are texts", "return the numbers themselves; make texts only where you print"
    if is_sequence(expected) and len(got) != len(expected):
        entries = "1 entry" if len(got) == 1 else f"{len(got)} entries"
        return f"{entries} instead of {len(expected)}", "work this example by hand and count"
    if _nearly(got, expected):
        return (
            "only the first digits agree: something is rounded, in single precision, or a small number is added",
            "return the full number; round only where you print it",
        )
    return "the values differ", "work this example by hand, line by line, beside your code"


def _nearly(got: Any, expected: Any) -> bool:
    """Whether a value is right but for its last digits. Whole numbers are right or not."""
    whole = all(isinstance(e, int | np.integer) for e in (expected if is_sequence(expected) else [expected]))
    return not whole and same(got, expected, 1e-3, 1e-4)


def changed_slip(name: str) -> Slip:
    """The message for a function that altered one of its arguments."""
    return Slip(
        f"{name}(…)",
        "one of the arguments is different after the call",
        "the arguments as they were",
        "append, pop, sort or item assignment was used on an argument",
        "work on a copy: `list(argument)`",
        "argument_changed",
    )
