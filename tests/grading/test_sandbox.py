# ruff: noqa: E501 - long lines of test cells
"""The sandbox with honest notebooks: what a cell shows, what a name holds, what a call brings back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from jails import SMALL, modes, opened

from specdec_helpers.checks.ask import Seed
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.sandbox import (
    MISSING,
    Budget,
    Function,
    Jail,
    OursError,
    Session,
    SessionDied,
    Unsupported,
)


@pytest.fixture(scope="module", params=modes())
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    yield from opened(request.param)


@pytest.fixture
def session(jail: Jail) -> Iterator[Session]:
    with jail.session() as session:
        yield session


def define(session: Session, source: str) -> None:
    result = session.run_cell(source, 1)
    assert (result.error, result.died) == (None, None), result


def texts(result) -> str:
    return "".join(item.get("text", "") for item in result.outputs)


def test_cell_outputs_keep_their_order_and_kind(session: Session) -> None:
    source = "import sys\nprint('a')\nprint('b', file=sys.stderr)\ndisplay(1.5)\nprint('c')\n'₀ → ≤ 🙂'"
    kinds = [(o["output_type"], o.get("name")) for o in session.run_cell(source, 7).outputs]
    assert kinds == [("stream", "stdout"), ("stream", "stderr"), ("display_data", None), ("stream", "stdout"),
                     ("execute_result", None)]  # fmt: skip


def test_result_carries_the_cell_number(session: Session) -> None:
    assert session.run_cell("40 + 2", 7).outputs == [
        {"output_type": "execute_result", "data": {"text/plain": "42"}, "metadata": {}, "execution_count": 7}
    ]


def test_error_shows_the_students_lines_and_none_of_ours(session: Session) -> None:
    result = session.run_cell("def half(x):\n    return x / 0\nhalf(3)", 1)
    assert result.error is not None
    assert result.error.is_a("ArithmeticError")
    trace = "\n".join(result.outputs[-1]["traceback"])
    assert "return x / 0" in trace
    assert "specdec_inside" not in trace
    assert "child.py" not in trace
    assert "\x1b" not in trace


def test_endless_recursion_gives_a_short_traceback(session: Session) -> None:
    result = session.run_cell("def f():\n    f()\nf()", 1)
    assert result.error is not None
    assert result.error.kind == "RecursionError"
    assert len("\n".join(result.outputs[-1]["traceback"])) < 25_000


def test_figures_are_shown_inline_whatever_backend_is_asked_for(session: Session) -> None:
    for first in ("", "%matplotlib notebook", "%matplotlib widget", "%matplotlib inline"):
        result = session.run_cell(
            f"{first}\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", 1
        )
        assert result.error is None
        assert [o["output_type"] for o in result.outputs if "image/png" in o.get("data", {})] == [
            "display_data"
        ]


def test_show_under_agg_and_widgets_and_input(session: Session) -> None:
    assert (
        session.run_cell(
            "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()"
        ).died
        is None
    )
    result = session.run_cell(
        "from ipywidgets import interact, Output\nout = Output()\nwith out:\n    print('inside')\n"
        "interact(lambda a: a, a=(0, 3))\nprint('after')"
    )
    assert result.error is None
    assert "after" in texts(result)
    asked = session.run_cell("input('name? ')")
    assert asked.error is not None
    assert asked.error.kind == "EOFError"


def test_clear_output_and_display_updates(session: Session) -> None:
    result = session.run_cell(
        "from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')\n"
        "h = display(1, display_id=True)\nh.update(2)"
    )
    assert "old" not in texts(result)
    assert result.outputs[-1]["data"]["text/plain"] == "2"


def test_house_verbs_are_silent_and_models_are_real(session: Session) -> None:
    define(
        session,
        "from specdec_helpers import check, explore, start, lm\nstart('lesson1'); explore('lesson1'); check(x=1)",
    )
    define(session, "from specdec_helpers.checks import check\nfrom specdec_helpers.explorers import explore")
    define(session, "assert lm.__file__")


def test_lookup_tells_functions_values_and_the_rest_apart(session: Session) -> None:
    define(session, "import math\ndef f(): ...\nf2 = max\nn = 3\nx = float('nan')\ns = {1}\nb = True")
    found = session.lookup(["f", "f2", "n", "x", "s", "b", "math", "nope"])
    assert found["f"] == Function("f")
    assert found["f2"] == Function("f2")
    assert (found["n"], type(found["n"])) == (3, int)
    assert math.isnan(found["x"])
    assert isinstance(found["s"], Unsupported)
    assert isinstance(found["math"], Unsupported)
    assert found["b"] is True
    assert found["nope"] is MISSING


def test_batch_brings_back_values_errors_and_changes(session: Session) -> None:
    define(
        session,
        "def f(x, how):\n"
        "    if how == 'raise': raise ValueError('k must be at least 0')\n"
        "    if how == 'exit': raise SystemExit(3)\n"
        "    if how == 'stop': raise KeyboardInterrupt\n"
        "    if how == 'change': x.append(1)\n"
        "    if how == 'set': return {1}\n"
        "    return x\n",
    )
    how = ["keep", "raise", "exit", "stop", "change", "set"]
    keep, refused, left, stopped, changed, unsupported = session.call_batch(
        "f", [([1, 2], word) for word in how]
    )
    assert (keep.value, keep.error, keep.changed) == ([1, 2], None, False)
    assert refused.error.kind == "ValueError"
    assert refused.error.message == "k must be at least 0"
    assert left.error.kind == "SystemExit"
    assert stopped.error.kind == "KeyboardInterrupt"
    assert changed.changed
    assert unsupported.error.kind == "UnsupportedValue"
    assert session.run_cell("1 + 1").error is None


def test_arguments_arrive_with_their_exact_types(session: Session) -> None:
    define(
        session,
        "import numpy as np\ndef f(*xs): return [f'{type(x).__module__}.{type(x).__name__}' for x in xs]",
    )
    case = (
        None,
        True,
        3,
        1.5,
        "a",
        [1],
        (1,),
        {"k": 1},
        np.array([1.0]),
        np.float32(2),
        np.int64(3),
        Seed(7),
    )
    assert session.call_batch("f", [case])[0].value == [
        "builtins.NoneType", "builtins.bool", "builtins.int", "builtins.float", "builtins.str", "builtins.list",
        "builtins.tuple", "builtins.dict", "numpy.ndarray", "numpy.float32", "numpy.int64",
        "numpy.random._generator.Generator",
    ]  # fmt: skip


def test_seed_arrives_as_a_fresh_generator_for_every_call(session: Session) -> None:
    define(session, "def f(rng): return [rng.random(), rng.random()]")
    rng = np.random.default_rng(7)
    expected = [rng.random(), rng.random()]
    assert [answer.value for answer in session.call_batch("f", [(Seed(7),), (Seed(7),)])] == [
        expected,
        expected,
    ]


def test_models_stay_here_and_their_calls_are_logged_here(session: Session) -> None:
    define(
        session,
        "def f(model, n):\n    out = [1]\n    for _ in range(n): out.append(model(out, scale=2))\n    return out",
    )
    log = []

    def model(sequence, scale=1):
        log.append((list(sequence), scale))
        return scale * len(sequence)

    assert session.call_batch("f", [(model, 3)])[0].value == [1, 2, 4, 6]
    assert log == [([1], 2), ([1, 2], 2), ([1, 2, 4], 2)]


def test_model_that_raises_raises_the_same_kind_there(session: Session) -> None:
    define(session, "def f(model):\n    try: model(1)\n    except IndexError as e: return str(e)")

    def model(x):
        raise IndexError("past the end")

    assert session.call_batch("f", [(model,)])[0].value == "past the end"


def test_model_called_with_what_cannot_travel_is_the_callers_error(session: Session) -> None:
    define(session, "def f(model): return model({1, 2})")
    assert session.call_batch("f", [(lambda x: x,)])[0].error.kind == "UnsupportedValue"


def test_model_is_not_called_with_a_number_that_stands_for_too_much_work(session: Session) -> None:
    define(
        session,
        "import numpy as np\ndef f(model):\n    said = []\n"
        "    for n in (10**12, np.int64(10**12), np.int64(-(2**63)), np.float32(3e38), float('nan'), 1e300, 10**300):\n"
        "        try: said.append(model(n))\n        except ValueError: said.append('too much')\n"
        "    return said + [model(np.int64(10_000)), model(True)]",
    )
    answer = session.call_batch("f", [(lambda n: "called",)])[0]
    assert answer.value == ["too much"] * 7 + ["called"] * 2


def test_models_may_call_the_students_functions_again(session: Session) -> None:
    define(session, "def f(g, x): return g(x) + 1\ndef double(x): return 2 * x")

    def model(x):
        return session.call_batch("double", [(x,)])[0].value * 10

    assert session.call_batch("f", [(model, 3), (Function("double"), 3)])[0].value == 61
    assert session.call_batch("f", [(Function("double"), 3)])[0].value == 7


def test_model_calls_are_bounded_in_depth_and_number(jail: Jail) -> None:
    with jail.session() as session:
        define(session, "def f(g, x): return g(g, x)")

        def deep(g, x):
            return session.call_batch("f", [(deep, x)])[0].error.kind

        # A callable that came over the wire cannot travel back: the student's own error, never a crash of ours.
        assert session.call_batch("f", [(deep, 1)])[0].error is not None
        define(session, "def f(g):\n    while True: g(1)")
        with pytest.raises(SessionDied, match="calls of a model"):
            session.call_batch("f", [(lambda x: x,)])


def test_depth_of_nested_batches_is_bounded(session: Session) -> None:
    define(session, "def f(g): return g(1)")

    def deep(x):
        (answer,) = session.call_batch("f", [(deep,)])
        if answer.error is not None:
            raise RuntimeError(answer.error.kind)
        return answer.value

    answer = session.call_batch("f", [(deep,)])[0]
    assert answer.error is not None
    assert (
        answer.error.message == "RecursionError"
        or "deep" in answer.error.message
        or answer.error.kind == "RuntimeError"
    )
    assert session.run_cell("1").error is None


def test_what_a_model_is_asked_is_bounded(session: Session) -> None:
    define(session, "def f(g, how):\n    try: return g([0] * 10**6) if how else g([1], m=10**9)\n    except ValueError as e: return str(e)")
    called = []
    answers = session.call_batch("f", [(lambda *a, **k: called.append(a), how) for how in (True, False)])
    assert called == []
    assert all("too large" in answer.value for answer in answers)


def test_models_cannot_be_kept_busy_for_ever() -> None:
    import time

    limits = Limits(cell_seconds=0.5, notebook_seconds=0.5)
    with Jail(limits) as jail, jail.session() as session:
        define(session, "def f(g):\n    while True: g(1)")
        with pytest.raises(SessionDied, match="busy"):
            session.call_batch("f", [(lambda x: time.sleep(0.1),)])


def test_model_is_of_no_use_after_the_call(session: Session) -> None:
    define(session, "def f(g):\n    global kept\n    kept = g\n    return 1")
    assert session.call_batch("f", [(lambda: 5,)])[0].value == 1
    result = session.run_cell("kept()")
    assert result.error is not None
    assert result.error.kind == "RuntimeError"


def test_time_in_our_models_is_not_the_students(jail: Jail) -> None:
    import time

    budget = Budget(SMALL.notebook_seconds)
    with jail.session(budget) as session:
        define(session, "def f(g): return [g(), g(), g()]")
        answer = session.call_batch("f", [(lambda: time.sleep(1.0),)])[0]
    assert answer.value == [None, None, None]
    assert budget.used < 2.0


def test_argument_that_cannot_travel_is_ours(session: Session) -> None:
    define(session, "def f(x): return 1")
    with pytest.raises(OursError, match="cannot travel"):
        session.call_batch("f", [({1, 2},)])
    assert session.call_batch("f", [(1,)])[0].value == 1


def test_unusual_right_answers_become_plain_values(session: Session) -> None:
    define(
        session,
        "from collections import deque, namedtuple, OrderedDict\nfrom fractions import Fraction\nfrom decimal import Decimal\n"
        "import numpy as np, enum\nclass E(enum.IntEnum): A = 3\nclass L(list): pass\nP = namedtuple('P', 'x y')\n"
        "things = [deque([1]), range(3), P(1, 2), OrderedDict(a=1), Fraction(1, 2), Decimal('0.5'), E.A, L([1]),\n"
        "          (i for i in range(2)), np.float64(.5), np.array(3), np.ma.array([1, 2]), np.matrix([[1]]), {1: 2}.keys(),\n"
        "          np.array(['a', 'b']), np.longdouble(2)]\n"
        "def f(i): return things[i]",
    )
    values = [answer.value for answer in session.call_batch("f", [(i,) for i in range(16)])]
    assert values[:9] == [[1], [0, 1, 2], (1, 2), {"a": 1}, 0.5, 0.5, 3, [1], [0, 1]]
    assert type(values[6]) is int
    assert isinstance(values[9], np.float64)
    assert values[10].shape == ()
    assert type(values[11]) is np.ndarray
    assert type(values[12]) is np.ndarray
    assert values[13:] == [[1], ["a", "b"], 2.0]


def test_answers_beyond_their_size_are_errors_not_deaths(session: Session) -> None:
    define(session, "def f(n):\n    import itertools\n    return itertools.count() if n < 0 else 'x' * n")
    endless, huge, small = session.call_batch("f", [(-1,), (10**6,), (3,)])
    assert endless.error.kind == "UnsupportedValue"
    assert huge.error.kind == "UnsupportedValue"
    assert small.value == "xxx" or small.error.kind == "UnsupportedValue"
    assert session.call_batch("f", [(3,)])[0].value == "xxx"


def test_prints_in_a_called_function_are_not_shown_later(session: Session) -> None:
    define(session, "def f(x):\n    print('secret', x)\n    return x")
    session.call_batch("f", [(12345,)])
    assert session.run_cell("print('visible')").outputs == [
        {"output_type": "stream", "name": "stdout", "text": "visible\n"}
    ]


def test_snapshot_keeps_its_own_state_and_its_own_death(session: Session) -> None:
    define(
        session,
        "import os\nseen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\ndef die(): os._exit(5)",
    )
    first, second = session.snapshot(), session.snapshot()
    define(session, "seen.append('later')")
    assert [a.value for a in first.call_batch("f", [(1,), (2,)])] == [1, 2]
    assert [a.value for a in second.call_batch("f", [(1,)])] == [1]
    assert session.lookup(["seen"])["seen"] == ["later"]
    with pytest.raises(SessionDied, match="exit status 5"):
        first.call_batch("die", [()])
    assert second.call_batch("f", [(1,)])[0].value == 2
    second.close()
    assert session.run_cell("f(3)").outputs[0]["data"]["text/plain"] == "2"


def test_snapshot_that_hangs_leaves_the_others_alone(session: Session) -> None:
    define(session, "def hang():\n    while True: pass\ndef f(): return 1")
    first, second = session.snapshot(), session.snapshot()
    with pytest.raises(SessionDied) as caught:
        first.call_batch("hang", [()])
    assert caught.value.death.kind == "time"
    assert second.call_batch("f", [()])[0].value == 1
    assert session.call_batch("f", [()])[0].value == 1


def test_dead_session_says_so_at_once(session: Session) -> None:
    result = session.run_cell("import os; os._exit(3)")
    assert result.died == "the code ended its own process (exit status 3)"
    assert session.run_cell("1").died == result.died
    with pytest.raises(SessionDied, match="exit status 3"):
        session.lookup(["x"])


def test_budget_is_one_for_all_sessions_of_a_notebook(jail: Jail) -> None:
    budget = Budget(1.0)
    with jail.session(budget) as session:
        late = session.run_cell("while True: pass")
        assert late.timed_out
        assert "whole notebook" in str(late.died)
    with jail.session(budget) as session:
        assert session.run_cell("1").timed_out


def test_time_that_ran_out_is_used_up_whatever_the_clock_says_later(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the time spent waiting for a processor may grow between two looks at the clock."""
    budget, looks = Budget(0.3), itertools.count()
    with jail.session(budget) as session:
        monkeypatch.setattr(session, "_waited", lambda: 0.005 * next(looks))
        assert session.run_cell("while True: pass").timed_out
    assert budget.left == 0


def test_sessions_start_equal_and_empty(jail: Jail) -> None:
    seen = []
    for _ in range(2):
        with jail.session() as session:
            source = "import os, random, numpy as np\nprint(os.listdir(), random.random(), np.random.rand(), hash('a'))\nopen('mine', 'w').write('x')\nleft = 1"
            assert session.lookup(["left"])["left"] is MISSING
            seen.append(texts(session.run_cell(source)))
    assert seen[0] == seen[1]
    assert seen[0].startswith("[]")


def test_second_open_session_is_refused(jail: Jail) -> None:
    with jail.session(), pytest.raises(OursError, match="still open"):
        jail.session()


def test_no_descriptor_and_no_process_is_left_after_many_sessions(jail: Jail) -> None:
    import os

    from specdec_helpers.grading import watch

    def play() -> None:
        with jail.session() as session:
            session.run_cell("import subprocess\nx = 1")
            session.snapshot()

    play()
    before = len(os.listdir("/proc/self/fd")), watch.usage(jail.process_id).processes
    for _ in range(200):
        play()
    assert (len(os.listdir("/proc/self/fd")), watch.usage(jail.process_id).processes) == before


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"cell_second": 3}, "did you mean 'cell_seconds'"),
        ({"cell_seconds": 0}, "must lie between"),
        ({"cell_seconds": "3"}, "must be a number"),
        ({"processes": 2.5}, "whole number"),
        ({"memory_bytes": True}, "whole number"),
        ({"cell_seconds": 100, "notebook_seconds": 50}, "raise the first or lower the second"),
    ],
)
def test_limits_refuse_what_makes_no_sense(settings: dict, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Limits.from_config(settings)


def test_limits_from_config_keep_the_other_defaults() -> None:
    assert Limits.from_config({"cell_seconds": 5}) == Limits(cell_seconds=5)
