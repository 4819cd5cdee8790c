"""All of the house that is seen inside the sandbox: this folder, and the language models (`lm`). Nothing else.

It is mounted there as the package ``specdec_inside`` (`stub.py` as ``specdec_helpers``). It imports the standard
library, NumPy, IPython, matplotlib and ipywidgets, never another part of the house. A student can read it, and
can change it in his own process: no verdict, no answer and no limit rests on it.
"""
