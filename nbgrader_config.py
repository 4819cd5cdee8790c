"""nbgrader's configuration of this course; stock nbgrader commands and formgrader read it from here.

What an instructor may want to change comes first. Run nbgrader and specdec from this folder.
"""

import os
import sys

# nbgrader starts `alembic` by name for a new gradebook: let it be found where the environment is not activated.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)])

c = get_config()  # noqa: F821 - nbgrader defines it

# ---- the course --------------------------------------------------------------------------------------------
c.CourseDirectory.course_id = "specdec"
# The gradebook is gradebook.db in this folder. For PostgreSQL (pip install "specdec-helpers[postgres]"):
# c.CourseDirectory.db_url = "postgresql+psycopg://user@host/gradebook"

# ---- handing out and collecting (a folder that students and instructors share) -----------------------------
# c.Exchange.root = "/srv/nbgrader/exchange"
# Only one person's folder on a shared machine is safe to hand out from; see docs/instructor.md.

# ---- limits of one submission; every name and its default is in specdec_helpers/grading/limits.py ----------
# c.SpecDec.limits = {"cell_seconds": 20, "notebook_seconds": 90}

# ---- how notebooks are made (the build uses the same list) -------------------------------------------------
# Names, not classes: `specdec` reads this file too, and importing nbgrader's parts would cost it two seconds.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    # functions become `raise NotImplementedError`, numbers and choices `name = None`
    "specdec_helpers.authoring.clear.ClearCourseSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# ---- grading -----------------------------------------------------------------------------------------------
# `nbgrader autograde` and formgrader's button grade through the course's own engine: rebuilt from source/, run in a
# sandbox, judged outside it (docs/grading.md). `specdec autograde` does the same for a whole class in parallel.
c.Autograde.exporter_class = "specdec_helpers.grading.door.Doorway"
c.GenerateFeedback.exporter_class = "specdec_helpers.grading.feedback.FeedbackPage"
