"""Run a rebuilt notebook cell by cell: the student's cells in the sandbox, the tests here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .bindings import harmless_imports, only_binds
from .clean import clean_outputs
from .limits import Limits
from .master import Master
from .rebuild import Piece, Remark
from .sandbox import Budget, Death, Jail, Session, SessionDied
from .scope import Scope
from .testcell import Ready, Running, TestRun, error_output, prepare, run_test

MAX_RESTARTS = 30
OUT_OF_TIME = "not run: the time for the whole notebook was used up before"
TOO_MANY_DEATHS = "not run: the process ended too many times before"


@dataclass
class Judged:
    """What running a notebook gave: outputs per piece, points per test, and what there is to say."""

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    mistakes: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    doubtful: bool = False  # a process died in a way that may not be the student's doing
    seconds: float = 0.0


@lru_cache(maxsize=32)
def ours_of(master: Master) -> frozenset[str]:
    """The functions that a lesson's own cells import and that only read."""
    return frozenset().union(
        *(harmless_imports(c.source) for c in master.cells if c.kind == "code" and c.role == "fixed")
    )


@lru_cache(maxsize=32)
def scope_of(master: Master) -> Scope:
    """The names of a lesson, worked out once."""
    return Scope(master)


def judge(master: Master, pieces: Sequence[Piece], jail: Jail, seed: int, limits: Limits) -> Judged:
    """Run the pieces in order and score every test.

    A test that calls functions of the student's is only prepared when the notebook reaches it: what the names refer
    to is marked, and before a cell that may change more than names, a copy of the process is put aside. The test
    runs after the last cell of the student's, in a copy of its own, so that nothing a function learns from a hidden
    input can be shown by a later cell. A test that kills its copy earns nothing; the others have copies of their
    own. A cell that kills the process is marked and skipped when the others are run again in a fresh process. One
    time budget covers everything. Raises OursError for a failure that is not the student's.
    """
    return _Judge(master, pieces, jail, seed, limits).run()


class _Judge:
    def __init__(
        self, master: Master, pieces: Sequence[Piece], jail: Jail, seed: int, limits: Limits
    ) -> None:
        self.master, self.pieces, self.jail, self.seed = master, pieces, jail, seed
        self.scope, self.ours = scope_of(master), ours_of(master)
        self.budget = Budget(limits.notebook_seconds)
        self.judged = Judged(scores=dict.fromkeys((c.grade_id for c in master.tests), 0.0))
        self.session: Session | None = None
        self.next = 0  # the first piece that the live session has not run
        self.killers: set[int] = set()
        self.restarts = -1
        self.waiting: list[tuple[int, Ready]] = []
        self.eager = (
            False  # after a death, put a copy aside at every test: the process may die again at any time
        )

    def run(self) -> Judged:
        try:
            for index, piece in enumerate(self.pieces):
                if piece.is_test:
                    self._reach_test(index, piece)
                elif _runs(piece):
                    self._reach(index + 1)
            self._run_waiting()
        finally:
            self._close()
        self.judged.seconds = self.budget.used
        return self.judged

    def _reach_test(self, index: int, piece: Piece) -> None:
        """Prepare a test; run it at once if it only reads values."""
        assert piece.master is not None
        session = self._reach(index)
        if session is None:
            self.judged.outputs[index] = [error_output("Stopped", self._why_not())]
            return
        try:
            ready = prepare(piece.master, self.scope, session)
            if ready.functions:
                self.waiting.append((index, ready))
                if self.eager:
                    self._put_aside(session)
        except SessionDied as died:
            self.waiting = [waiting for waiting in self.waiting if waiting[0] != index]
            self.judged.outputs[index] = [error_output("Stopped", died.death.sentence)]
            self._died(died.death, f"in the test of {_exercise(piece.master.grade_id)}")
            return
        if not ready.functions:
            self._take(index, ready, run_test(ready, self.seed))

    def _put_aside(self, session: Session) -> None:
        """Copy the process for the tests that wait with nothing but a mark in it. Raises SessionDied."""
        marked = [ready for _, ready in self.waiting if ready.base is None]
        copy = session.snapshot() if marked else None
        for ready in marked:
            ready.base = copy

    def _take(self, index: int, ready: Ready, run: TestRun) -> None:
        cell, judged = ready.cell, self.judged
        judged.outputs[index] = run.outputs
        if run.death is not None:
            self._note(run.death, f"in the test of {_exercise(cell.grade_id)}")
            return
        judged.scores[cell.grade_id] = run.points
        if run.mistakes:
            judged.mistakes[cell.grade_id] = list(run.mistakes)
        if run.remark:
            judged.remarks.append(Remark(f"{cell.grade_id}: {run.remark}", look=True))

    def _run_waiting(self) -> None:
        """Run the tests that wait, each in a copy of the process: what is shown of all, then what is hidden."""
        waiting, self.waiting = self.waiting, []
        running: list[tuple[int, Running]] = []
        try:
            for index, ready in waiting:
                base, test = ready.base or self.session, Running(ready, self.seed)
                assert base is not None
                running.append((index, test))
                test.show(base)
            for index, test in running:
                self._take(index, test.ready, test.hide())
        finally:
            for _, test in running:
                test.close()

    def _reach(self, end: int) -> Session | None:
        """A live session in which every cell before `end` has run (but those that kill), or None."""
        while self.budget.left > 0:
            if self.session is None:
                if self.restarts >= MAX_RESTARTS:
                    return None
                self.restarts += 1
                self.session, self.next = self.jail.session(self.budget), 0
            if self._catch_up(self.session, end):
                return self.session
        self._skip(end)
        return None

    def _catch_up(self, session: Session, end: int) -> bool:
        """Run the cells up to `end`; False if the session died on the way."""
        while self.next < end:
            index, piece = self.next, self.pieces[self.next]
            self.next += 1
            if not _runs(piece) or index in self.killers:
                continue
            try:
                if any(ready.base is None for _, ready in self.waiting) and not self._only_binds(piece):
                    self._put_aside(session)
            except SessionDied as died:
                self.next = index
                self._died(died.death, f"before {_place(piece, index)}")
                return False
            result = session.run_cell(piece.source, index + 1)
            first = index not in self.judged.outputs
            if first:
                started = time.thread_time()
                self.judged.outputs[index] = clean_outputs(result.outputs)
                self.budget.used += time.thread_time() - started  # a page can be made to take long
            if result.died is not None:
                self.killers.add(index)
                if first:
                    self.judged.outputs[index].append(error_output("Stopped", result.died))
                death = session.death or Death("exit", result.died)
                self._died(death, f"in {_place(piece, index)}")
                return False
        return True

    def _skip(self, end: int) -> None:
        for index in range(end):
            if _runs(self.pieces[index]):
                self.judged.outputs.setdefault(index, [error_output("Stopped", self._why_not())])

    def _why_not(self) -> str:
        return OUT_OF_TIME if self.budget.left <= 0 else TOO_MANY_DEATHS

    def _died(self, death: Death, where: str) -> None:
        """The student's process is gone: the copies put aside still serve their tests, then all is cleared.

        Tests that had nothing but a mark in it are reached once more in a fresh process.
        """
        self._note(death, where)
        lost = [index for index, ready in self.waiting if ready.base is None]
        self.waiting = [(index, ready) for index, ready in self.waiting if ready.base is not None]
        self._run_waiting()
        self._close()
        self.eager = True
        for index in lost:
            self._reach_test(index, self.pieces[index])

    def _only_binds(self, piece: Piece) -> bool:
        if piece.master is not None and piece.master.role == "fixed":
            return only_binds(piece.source, self.ours)
        return only_binds(piece.source)

    def _note(self, death: Death, where: str) -> None:
        self.judged.doubtful |= death.doubtful
        self.judged.remarks.append(Remark(f"{where}: {death.sentence}", look=True))

    def _close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


def _runs(piece: Piece) -> bool:
    return piece.kind == "code" and not piece.is_test and bool(piece.source.strip())


def _exercise(grade_id: str) -> str:
    return grade_id.removeprefix("test_")


def _place(piece: Piece, index: int) -> str:
    if piece.master is None:
        return f"an added cell (number {index + 1})"
    return f"the cell {piece.master.grade_id or piece.master.cell_id}"
