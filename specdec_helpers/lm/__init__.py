"""Language models for the course: toy tables, counting models, and a tiny transformer in NumPy.

Nothing here knows about speculative decoding; the models only answer "what comes next?".

>>> from specdec_helpers.lm import Target, draft, encode
>>> Target().distributions(encode("It is a truth"), 2).shape
(2, 65)
>>> draft("A").distribution(encode("It is a truth")).shape
(65,)
"""

from specdec_helpers.lm.models import Draft, NGramDraft, Target, TransformerDraft, draft
from specdec_helpers.lm.tables import Recorder, Table, blend, random_table, sharpen
from specdec_helpers.lm.text import ALPHABET, VOCABULARY_SIZE, decode, encode, novels

__all__ = [
    "ALPHABET", "VOCABULARY_SIZE", "Draft", "NGramDraft", "Recorder", "Table", "Target", "TransformerDraft",
    "blend", "decode", "draft", "encode", "novels", "random_table", "sharpen",
]  # fmt: skip
