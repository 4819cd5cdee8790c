"""Asking a function: copies go in, plain values or described errors come out."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from specdec_helpers.checks.ask import Answer, Raised, Remote, Seed, ask, copied, untouched


def test_each_case_gets_one_answer_in_order() -> None:
    answers = ask(lambda x, y: x / y, [(6, 3), (1, 0), (1, 2)])
    assert [answer.value for answer in answers] == [2.0, None, 0.5]
    assert answers[1].error is not None
    assert answers[1].error.kind == "ZeroDivisionError"


def test_an_own_exception_is_known_by_its_built_in_ancestors() -> None:
    class ShortError(ValueError):
        pass

    def refuse() -> None:
        raise ShortError("too short")

    error = ask(refuse, [()])[0].error
    assert error == Raised("ShortError", ("ValueError", "Exception", "BaseException"), "too short")
    assert error is not None
    assert error.is_a("ValueError")
    assert not error.is_a("TypeError")


def test_a_class_that_borrows_a_built_in_name_is_not_that_built_in() -> None:
    impostor = type("ValueError", (Exception,), {})

    def refuse() -> None:
        raise impostor("me")

    error = ask(refuse, [()])[0].error
    assert error is not None
    assert "ValueError" not in error.kinds
    assert not error.is_a("ValueError")


def test_an_error_whose_text_fails_still_comes_back() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def refuse() -> None:
        raise Mute

    error = ask(refuse, [()])[0].error
    assert error is not None
    assert error.message == ""


def test_sys_exit_in_a_function_does_not_end_the_check() -> None:
    error = ask(lambda: sys.exit(3), [()])[0].error
    assert error is not None
    assert error.kind == "SystemExit"


def test_what_is_no_value_is_named() -> None:
    error = ask(lambda: {1, 2}, [()])[0].error
    assert error is not None
    assert error.kind == "UnsupportedValue"
    assert "set" in error.message


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.append(1),
        lambda a: a.pop(),
        lambda a: a.sort(),
        lambda a: a.__setitem__(0, 9),
        lambda a: a[1].append(0),
    ],
)
def test_a_changed_argument_is_seen_and_the_caller_s_own_is_safe(change) -> None:  # type: ignore[no-untyped-def]
    mine: list = [[3], [2, 1], [0]]

    def function(argument: list) -> int:
        change(argument)
        return 0

    assert ask(function, [(mine,)])[0].changed
    assert mine == [[3], [2, 1], [0]]


def test_a_changed_array_or_dict_is_seen() -> None:
    array, table = np.zeros(3), {"a": [1]}

    def function(x: np.ndarray, y: dict) -> None:
        if x.size:
            x[0] = 1
        y["b"] = 2

    answer = ask(function, [(array, table)])[0]
    assert answer.changed
    assert array.tolist() == [0, 0, 0]
    assert table == {"a": [1]}
    assert not ask(lambda x, y: x.sum(), [(array, table)])[0].changed


def test_a_nan_left_alone_is_no_change() -> None:
    assert untouched([float("nan")], [float("nan")])
    assert untouched(np.array([float("nan"), 1]), np.array([float("nan"), 1]))
    assert not untouched([1], [1.0])
    assert not untouched([1], (1,))


def test_a_seed_arrives_as_a_fresh_generator_each_time() -> None:
    first, second = ask(lambda rng: rng.random(), [(Seed(7),), (Seed(7),)])
    assert first.value == second.value == np.random.default_rng(7).random()


def test_a_model_is_passed_on_as_it_is() -> None:
    seen: list[int] = []
    assert copied(seen.append) == seen.append
    ask(lambda model: model(5), [(seen.append,)])
    assert seen == [5]


def test_a_remote_function_is_asked_once_for_all_cases() -> None:
    class Far(Remote):
        def ask_batch(self, cases):  # type: ignore[no-untyped-def]
            self.cases = list(cases)
            return [Answer(value=len(self.cases))] * len(self.cases)

    far = Far()
    assert [a.value for a in ask(far, [(1,), (2,)])] == [2, 2]
    assert far.cases == [(1,), (2,)]
