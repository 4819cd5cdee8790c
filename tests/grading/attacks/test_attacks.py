"""The attack class as a test: nothing gained, nothing leaked, nobody harmed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "tests" / "grading")) if path not in sys.path]

from jails import sealed_modes  # noqa: E402

from tests.grading.attacks import harness  # noqa: E402
from tests.grading.attacks.__main__ import table, verdict  # noqa: E402
from tests.grading.attacks.kinds import FILE, cells  # noqa: E402

# Never without walls: some of these kill every process they can reach.
pytestmark = pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")


def test_names_are_unique_and_every_attack_says_what_it_tries() -> None:
    names = [attack.name for attack in harness.ATTACKS]
    assert len(names) == len(set(names)) > 90
    assert all(attack.says and "\n" not in attack.says for attack in harness.ATTACKS)


@pytest.mark.timeout(1500)
def test_attack_class_gains_nothing_and_harms_nobody() -> None:
    attacks = harness.ATTACKS
    with tempfile.TemporaryDirectory() as folder:  # a short path: one attack ships a socket
        result = harness.run(harness.course(Path(folder, "a course"), attacks), attacks, workers=2)
    assert verdict(result) == []
    assert len(result.neighbours) == len(attacks) + 1
    assert result.status == 1  # some need a look; nothing is ours
    assert "LEAKS" not in table(result)


def test_harness_would_notice(tmp_path: Path) -> None:
    """The looking itself is tried: an honest full answer counts as gain, a planted word as a leak."""
    right = cells("right", "answers rightly", after="print('MARKER-' + 'other-student')", **harness.RIGHT)
    room = harness.course(tmp_path / "course", [right])
    result = harness.run(room, [right])
    (outcome,) = result.outcomes
    assert outcome.gain == 7.0
    assert outcome.leaks == ["MARKER-other-student"]
    (room.folder / "source" / "lesson1" / FILE).write_text("{}")
    with room_database(room) as database:
        database.execute("UPDATE grade SET manual_score = 100")
    assert harness.extra_rows(room, 99) != []
    assert any("NOT" in line or "gain" in line for line in verdict(result))


def room_database(room):
    import sqlite3

    return sqlite3.connect(room.folder / "gradebook.db")
