"""The autograder: rebuild, sandbox, judge, feedback, batch. Instructors only; never in the student package."""
