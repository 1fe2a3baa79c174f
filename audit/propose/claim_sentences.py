"""How much a sentence looks like a claim: a logistic regression on hashed parts of its words, trained on committed examples."""

import base64
import math
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from zlib import crc32

from audit.propose.card_models import ModelMention

# The examples are ours (tools/claim_sentences), so nothing of a card is in the weights. The weights are whole numbers: the
# same sentence has the same score on every machine.

BUCKETS = 32768
SCALE = 16.0
"""A weight of one is stored as this number."""
_WEIGHTS = "claim_weights.txt"
_NUMBER = re.compile(r"\d[\d.,]*")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[%$?]")
_GRAMS = (3, 4, 5)


def fold_sentence(words: str, mentions: Iterable[ModelMention]) -> str:
    """Return *words* in lower case with a mark for each model and number: names and figures of one card say nothing of another."""
    parts, last = [], 0
    for mention in mentions:
        parts += [words[last : mention.start], " ownmodel " if mention.is_own else " othermodel "]
        last = mention.stop
    return _NUMBER.sub("0", "".join((*parts, words[last:])).lower().replace("’", "'"))


def hash_features(folded: str) -> set[int]:
    """Return the buckets of the parts of a folded sentence: words, pairs of words, the first words, and the characters of each word."""
    tokens = _TOKEN.findall(folded)
    parts = {f"w {token}" for token in tokens}
    parts |= {f"p {first} {second}" for first, second in zip(["^", *tokens], [*tokens, "$"], strict=True)}
    parts |= {f"f {token}" for token in tokens[:4]}
    parts |= {
        padded[at : at + size] for token in tokens for padded in (f" {token} ",) for size in _GRAMS for at in range(len(padded) - size + 1)
    }
    return {crc32(part.encode()) % BUCKETS for part in parts}


@lru_cache(maxsize=4096)
def score_sentence(folded: str) -> float:
    """Return the probability, as the examples have it, that a folded sentence is a claim; between 0 and 1."""
    weights, bias = _read_weights()
    features = hash_features(folded)
    if not features:
        return 0.0
    total = sum(weights[feature] for feature in features) / SCALE
    return 1 / (1 + math.exp(-(total / math.sqrt(len(features)) + bias)))


@cache
def _read_weights() -> tuple[tuple[int, ...], float]:
    bias, *lines = (files("audit.propose") / "vocabulary" / _WEIGHTS).read_text(encoding="ascii").split("\n")
    packed = base64.b64decode("".join(lines))
    return tuple(byte - 256 if byte > 127 else byte for byte in packed), float(bias)
