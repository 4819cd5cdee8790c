"""The nbgrader preprocessor that turns solutions into stubs, set in nbgrader_config.py."""

from __future__ import annotations

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import ClearSolutions

STUB = "raise NotImplementedError"


class ClearCourseSolutions(ClearSolutions):  # type: ignore[misc]
    """A solution inside a function becomes `raise NotImplementedError`; one at top level vanishes.

    A number or a choice keeps the line `name = None` that stands above its region, so that Run All always reaches
    the end of a lesson: only a function that is called may be unfinished.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, cell_index: int
    ) -> tuple[NotebookNode, dict]:
        """Clear one cell. RuntimeError for a nested or unclosed region, or one outside a solution cell."""
        original = cell.source
        if cell.cell_type != "code":
            if self.begin_solution_delimeter in original and not utils.is_solution(cell):
                raise RuntimeError(
                    f"a solution region in a text cell: {original[:200]!r}; move it to an exercise"
                )
            return cell, resources
        cell.source = self._cleared(original)
        if cell.source != original and not utils.is_solution(cell):
            raise RuntimeError(
                f"a solution region outside a solution cell: {original[:200]!r}; make it an exercise"
            )
        return cell, resources

    def _cleared(self, source: str) -> str:
        kept: list[str] = []
        inside = False
        for line in source.split("\n"):
            if self.begin_solution_delimeter in line:
                if inside:
                    raise RuntimeError(
                        f"a solution region begins inside another: {source[:200]!r}; close the first"
                    )
                inside = True
                indent = line[: len(line) - len(line.lstrip())]
                if indent:
                    kept.append(indent + STUB)
            elif self.end_solution_delimeter in line:
                inside = False
            elif not inside:
                kept.append(line)
        if inside:
            raise RuntimeError(f"a solution region is never closed: {source[:200]!r}; add its END SOLUTION")
        return "\n".join(kept)
