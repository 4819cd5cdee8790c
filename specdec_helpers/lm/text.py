"""The course's text, and its characters as token numbers.

The text is six novels by Jane Austen (`data/README.md` says where it comes from). A token is one character, and the
vocabulary is the 65 characters of `ALPHABET`, numbered in that order.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from functools import cache
from importlib import resources

import numpy as np

ALPHABET = "\n !\"'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
VOCABULARY_SIZE = len(ALPHABET)

_NUMBER = {character: number for number, character in enumerate(ALPHABET)}


def encode(text: str) -> list[int]:
    """Token numbers of a text, one a character.

    >>> encode("Emma")
    [17, 51, 51, 39]

    Raises:
        ValueError: a character outside the vocabulary; the message names it and its place.
    """
    tokens = []
    for place, character in enumerate(text):
        if character not in _NUMBER:
            raise ValueError(
                f"character {character!r} at place {place} is not one of the vocabulary's {VOCABULARY_SIZE}; "
                "use plain letters, spaces, new lines and the signs ! \" ' ( ) , - . : ; ?"
            )
        tokens.append(_NUMBER[character])
    return tokens


def decode(tokens: Iterable[int]) -> str:
    """The text of token numbers.

    >>> decode([17, 51, 51, 39])
    'Emma'

    Raises:
        ValueError: a token outside 0..64.
    """
    numbers = [int(token) for token in tokens]
    for place, number in enumerate(numbers):
        if not 0 <= number < VOCABULARY_SIZE:
            raise ValueError(f"token {number} at place {place} is outside 0..{VOCABULARY_SIZE - 1}")
    return "".join(ALPHABET[number] for number in numbers)


@cache
def novels() -> str:
    """The whole text, about four million characters, a paragraph a line."""
    packed = resources.files(__package__).joinpath("data/austen.txt.xz").read_bytes()
    return lzma.decompress(packed).decode("ascii")


@cache
def novel_tokens() -> np.ndarray:
    """The whole text as token numbers: a read-only (length,) array of small unsigned integers."""
    table = np.zeros(128, np.uint8)
    table[[ord(character) for character in ALPHABET]] = np.arange(VOCABULARY_SIZE)
    tokens = table[np.frombuffer(novels().encode("ascii"), np.uint8)]
    tokens.setflags(write=False)
    return tokens
