"""The autograder: rebuild, sandbox, judge, feedback, batch. Instructors only; never in the student package."""

from .hidden import compare

__all__ = ["compare"]
