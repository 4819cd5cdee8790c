"""What a student receives: visible test, messages, own figures; nothing hidden, no script, only our files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from classroom import FILE, ROOT, Classroom
from grading_sample import RIGHT, cell_of, code, hidden, markdown, place_of, release, source_notebook

from specdec_helpers.checks.report import Card, Line, Slip
from specdec_helpers.grading.feedback import Marks, feedback_page

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCRIPTS = [
    "<script>steal()</script>",
    "<img src=x onerror=steal()>",
    "<svg onload=steal()></svg>",
    "<iframe srcdoc='<script>steal()</script>'></iframe>",
    '<a href="javascript:steal()">x</a>',
    '<a href="jAvAsCrIpT&#58;steal()">x</a>',
    "<math><mi xlink:href='javascript:steal()'></mi></math>",
    "<style>@import 'http://spy/x.css'</style>",
    '<div style="background:url(http://spy/x.png)">x</div>',
    "<details ontoggle=steal() open>x</details>",
    '<noscript><p title="</noscript><img src=x onerror=steal()>">',
    "<form action=http://spy/><button>go</button></form>",
    "<meta http-equiv=refresh content='0;url=http://spy/'>",
    "<base href=http://spy/>",
    "<object data=http://spy/></object><embed src=http://spy/>",
]


@pytest.fixture
def room(tmp_path: Path, warm: None) -> Classroom:
    return Classroom(tmp_path / "course")


def without_source(page: str) -> str:
    """The page without the highlighted code: a student's own source may say anything, as text."""
    return re.sub(r'<pre class="code">.*?</pre>', "", page, flags=re.S)


def test_what_a_student_receives(room: Classroom) -> None:
    notebook = source_notebook()
    cell_of(notebook, "test_double")["source"] = hidden(
        "assert double(1) == 2, 'double(1) is 2'\nprint('visible words')",
        "MARKER_HIDDEN = 'marker-in-hidden-source'\nassert double(7) == 14, 'an authored message'\n4.0",
    )
    room.write_source(notebook)
    (room.folder / "MARKER_FOLDER.txt").write_text("marker-in-the-folder")
    wrong = release(double="def double(x):\n    return 2", triple="def triple(x):\n    return 1 / 0")
    figure = (
        "from IPython.display import display, HTML, SVG, Javascript, Markdown\nimport base64\n"
        f"display({{'image/png': {PIXEL!r}, 'text/plain': 'a figure'}}, raw=True)\n"
        + "".join(f"display(HTML({script!r}))\n" for script in SCRIPTS)
        + "display(Javascript('steal()'))\ndisplay(Markdown('<img src=x onerror=steal()>'))\n"
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"><script>steal()</script></svg>'))\n"
        "print('\\x1b]8;;http://spy\\x07x\\x1b[31mred\\x1b[0m <script>steal()</script>')\n"
        "open('x.html', 'w').write('<script>steal()</script>')"
    )
    wrong["cells"].insert(place_of(wrong, "test_double"), code(figure, "fig"))
    wrong["cells"].insert(2, markdown("My words. " + " ".join(SCRIPTS), "words"))
    place = room.submit("a", wrong, when="2026-01-02 03:04:05 UTC")
    (place / "x.html").write_text("<script>steal()</script>")
    (place / "submission_secret.txt").write_text("0123456789abcdef" * 4)
    room.submit("b", release(**RIGHT), when="2026-01-02 03:04:05 UTC")
    room.stock("autograde", "lesson1")
    log = room.stock("generate_feedback", "lesson1")
    assert "status 0" in log
    folder = room.folder / "feedback" / "a" / "lesson1"
    assert sorted(os.listdir(folder)) == ["draft_and_verify.html", "submission_secret.txt", "timestamp.txt"]
    page = (folder / "draft_and_verify.html").read_text()
    shown = without_source(page)
    assert "an authored message" in shown
    assert "visible words" in shown
    assert f"data:image/png;base64,{PIXEL}" in shown
    assert '0 <span class="soft">of 7 points' in shown
    assert "My words." in shown
    assert "ZeroDivisionError" in shown
    # Nothing that runs, nothing that is fetched. Text may say <script>; a tag may not.
    assert "Content-Security-Policy" in page
    tags = re.findall(r"<\s*([a-zA-Z][a-zA-Z0-9]*)([^>]*)>", shown)
    assert {name.lower() for name, _ in tags}.isdisjoint(
        {
            "script",
            "iframe",
            "svg",
            "math",
            "object",
            "embed",
            "form",
            "button",
            "base",
            "noscript",
            "input",
            "link",
        }
    )
    for name, attributes in tags:
        assert not re.search(r"(?i)\son\w+\s*=", attributes), (name, attributes)
        assert "javascript" not in attributes.lower()
        assert "spy" not in attributes
        if name == "img":
            assert "src" not in attributes or 'src="data:image/' in attributes
    # Nothing hidden, in anything a student can receive: the page, and the graded notebook too.
    for data in (page, room.graded("a").decode()):
        for marker in (
            "MARKER",
            "marker-in",
            "double(7)",
            str(room.folder),
            "testcell.py",
            "specdec_helpers/grading",
        ):
            assert marker not in data
    right = (room.folder / "feedback" / "b" / "lesson1" / "draft_and_verify.html").read_text()
    assert "all right" in right
    assert "no points yet" not in right


def test_feedback_follows_a_regrade_and_a_persons_comment(room: Classroom) -> None:
    from nbgrader.api import Gradebook

    room.submit("a", release(**RIGHT))
    room.stock("autograde", "lesson1")
    room.stock("generate_feedback", "lesson1")
    page = room.folder / "feedback" / "a" / "lesson1" / "draft_and_verify.html"
    assert '7 <span class="soft">of 7 points' in page.read_text()
    room.submit("a", release(double=RIGHT["double"]))
    room.stock("autograde", "lesson1")
    with Gradebook(f"sqlite:///{room.folder}/gradebook.db") as book:
        comment = book.find_comment("double", "draft_and_verify", "lesson1", "a")
        comment.manual_comment = "Well <b>done</b>"
        book.db.commit()
    (page.parent / "planted.html").write_text("x")
    room.stock("generate_feedback", "lesson1")
    assert '4 <span class="soft">of 7 points' in page.read_text()
    assert "Well &lt;b&gt;done&lt;/b&gt;" in page.read_text()
    with Gradebook(f"sqlite:///{room.folder}/gradebook.db") as book:
        book.find_grade("test_double", "draft_and_verify", "lesson1", "a").manual_score = 3.0
        book.db.commit()
    room.submit("a", release(**RIGHT))
    room.stock("autograde", "lesson1")
    room.stock("generate_feedback", "lesson1")
    assert "3 of 4" in page.read_text()  # kept, and given: nobody is announced to look at it
    assert "a person will look at it" not in page.read_text()
    assert not (page.parent / "planted.html").exists()


def test_remarks_late_points_and_cards() -> None:
    slip = Slip("double(2)", "<b>4", "5", "cause", "next")
    card = Card("double", "fail", "1 of 2 pass", (Line("one"), Line("two", slip))).bundle()
    test = {
        "cell_type": "code",
        "id": "test_double",
        "metadata": {"nbgrader": {"grade": True, "grade_id": "test_double", "locked": True, "points": 4}},
        "source": "check(double=double)",
        "outputs": [
            {"output_type": "display_data", "data": card, "metadata": {}},
            {
                "output_type": "execute_result",
                "data": {"text/plain": "2.0"},
                "metadata": {},
                "execution_count": 1,
            },
        ],
    }
    notebook = {
        "cells": [{"cell_type": "markdown", "id": "t", "metadata": {}, "source": "# The *lesson*"}, test],
        "metadata": {"specdec": {"remarks": ["called <x>.ipynb"]}},
    }
    marks = Marks(2.0, 4.0, 0.5, {"test_double": (2.0, 4.0)})
    page = feedback_page(notebook, "lesson1", marks)
    assert '1.5 <span class="soft">of 4 points' in page
    assert "0.5 points were taken off because it came late" in page
    assert "called &lt;x&gt;.ipynb" in page
    assert "partly right" in page
    assert "&lt;b&gt;4" in page
    assert "<h1>The lesson</h1>" in page
    assert "<pre>2.0</pre>" not in page


def test_our_cards_survive_the_cleaning_of_a_notebook_that_is_not_ours() -> None:
    card = Card("double", "pass", "all <pass>").bundle()
    test = {
        "cell_type": "code",
        "id": "t",
        "metadata": {"nbgrader": {"grade": True, "grade_id": "test_double", "locked": True, "points": 4}},
        "source": hidden("visible()", "secret()"),
        "outputs": [
            {"output_type": "display_data", "data": {**card, "text/html": card["text/html"] + SCRIPTS[0]}}
        ],
    }
    page = feedback_page({"cells": [test], "metadata": {}}, "lesson1", Marks(0, 4))
    assert "all &lt;pass&gt;" in page
    assert "steal" not in page
    assert "secret" not in page
    assert "visible" in page


def test_the_graded_notebook_of_a_real_lesson_opens_in_stock_formgrader(room: Classroom) -> None:
    """Formgrader's own template renders what we write (it reads score and comment from the gradebook)."""
    import nbformat

    room.submit("a", release(**RIGHT))
    room.stock("autograde", "lesson1")
    notebook = nbformat.reads(room.graded("a").decode(), as_version=4)
    nbformat.validate(notebook)
    assert json.loads(room.graded("a"))["metadata"]["specdec"]["mode"] in ("sealed", "not sandboxed")
    assert (ROOT / "nbgrader_config.py").read_text().count("FeedbackPage") == 1
    assert FILE.endswith(".ipynb")
