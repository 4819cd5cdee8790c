"""Grade on a Dask distributed cluster: submissions travel as bytes, workers need no shared disk and no database."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from .tasks import Lesson, Outcome, Task

AHEAD = 3  # tasks handed out per worker thread: what bounds the memory of driver and scheduler


class NoCluster(RuntimeError):
    """There is no scheduler to be reached, or Dask is not installed."""


def run_on_cluster(
    lesson: Lesson, tasks: Iterable[Task], address: str, timeout: float = 30.0
) -> Iterator[Outcome]:
    """Grade tasks on the cluster whose scheduler is at `address` (tcp://host:8786).

    The lesson is sent to the workers once. A task whose worker is lost is done again by another. Raises NoCluster.
    """
    try:
        from distributed import Client, Future, wait
    except ImportError:
        raise NoCluster('--scheduler needs Dask: pip install "specdec-helpers[cluster]"') from None
    from .work import work

    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise NoCluster(
            f"no scheduler answers at {address}: {error}; start one with `dask scheduler`"
        ) from error
    with client, client.as_current():
        _same_house(client)
        shared = client.scatter(lesson, broadcast=True, hash=False)
        waiting: dict[Future, Task] = {}
        source = iter(tasks)
        while True:
            slots = max(
                1,
                sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()),
            )
            for task in itertools.islice(source, max(0, AHEAD * slots - len(waiting))):
                # A key of its own: two students may hand in the same bytes. A lost worker's task goes to another by
                # itself (Dask's allowed-failures, 3); `retries` is for a worker that raises.
                key = f"specdec-{lesson.name}-{uuid.uuid4().hex}"
                future = client.submit(work, shared, task, key=key, retries=1)
                waiting[future] = task
            if not waiting:
                return
            done = wait(list(waiting), return_when="FIRST_COMPLETED").done
            for future in done:
                yield _outcome(future, waiting.pop(future))
                future.release()


def _outcome(future: Any, task: Task) -> Outcome:
    try:
        outcome: Outcome = future.result()
    except (
        Exception
    ) as error:  # a lost worker, a worker without our package: whatever it is, it is not the student's
        return Outcome(
            task.student, ours=f"the cluster could not do it: {type(error).__name__}: {error}"[:500]
        )
    return outcome


def _same_house(client: Any) -> None:
    """Refuse workers that run another version of the grader: their scores would not be ours."""
    from . import keys

    mine = keys.machinery()
    others = {address: found for address, found in client.run(keys.machinery).items() if found != mine}
    if others:
        raise NoCluster(
            f"{len(others)} of the cluster's workers have another version of specdec_helpers "
            f"(first: {next(iter(others))}); install the same version everywhere"
        )
