"""From course/ to notebooks: build, lint and release. For instructors; never in the student package.

`course` reads the lessons as text, `rules` refuses what cannot be built, `words` writes the generated lines,
`notebook` makes the cells, `build` writes source/ and release/, `lint` holds the notebooks against the house's style,
`release` packs what students get, and `clear` is the nbgrader preprocessor that empties the solutions.
"""
