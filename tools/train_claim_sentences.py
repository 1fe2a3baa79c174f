"""Train the classifier of sentences that claim something, and write its weights.

python tools/train_claim_sentences.py [--check]

    --check   train and compare with the committed weights instead of writing them

The examples (tools/claim_sentences) were written for this purpose; no text of a card is among them. "Model A" is the card's own
model, "Model B" another one. The accuracy it prints is that of ten parts, each left out of training once.
"""

import base64
import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))

from audit.propose.card_models import ModelMention  # noqa: E402  (of this checkout)
from audit.propose.claim_sentences import BUCKETS, SCALE, fold_sentence, hash_features  # noqa: E402

_EXAMPLES = _ROOT / "tools" / "claim_sentences"
_WEIGHTS = _ROOT / "audit" / "propose" / "vocabulary" / "claim_weights.txt"
_PENALTY, _STEPS, _RATE, _PARTS, _LINE = 0.1, 400, 2.0, 10, 120

Floats = NDArray[np.float64]


def read_examples() -> tuple[list[str], Floats]:
    """Return the folded examples, and 1 for each claim and 0 for each other sentence."""
    claims, others = ((_EXAMPLES / name).read_text(encoding="utf-8").splitlines() for name in ("claims.txt", "other_sentences.txt"))
    labels = np.array([1.0] * len(claims) + [0.0] * len(others))
    return [fold_sentence(line, list_mentions(line)) for line in (*claims, *others)], labels


def list_mentions(line: str) -> list[ModelMention]:
    """Return where an example names a model."""
    mentions = []
    for name, is_own in (("Model A", True), ("Model B", False)):
        at = line.find(name)
        while at >= 0:
            mentions.append(ModelMention(start=at, stop=at + len(name), name=name, written=name, is_own=is_own))
            at = line.find(name, at + 1)
    return sorted(mentions, key=lambda mention: mention.start)


def build_matrix(sentences: list[str]) -> csr_matrix:
    """Return one row of unit length for each sentence."""
    features = [sorted(hash_features(sentence)) for sentence in sentences]
    values = [1 / math.sqrt(len(row)) for row in features for _ in row]
    starts = np.cumsum([0, *map(len, features)])
    return csr_matrix((values, [place for row in features for place in row], starts), shape=(len(sentences), BUCKETS))


def fit(rows: csr_matrix, labels: Floats) -> tuple[Floats, float]:
    """Return weights and bias of a logistic regression with a quadratic penalty, by accelerated gradient steps from zero."""
    columns = rows.T.tocsr()
    weights, bias = np.zeros(rows.shape[1]), 0.0
    last_weights, last_bias = weights, bias
    for step in range(_STEPS):
        pull = step / (step + 3)
        ahead, ahead_bias = weights + pull * (weights - last_weights), bias + pull * (bias - last_bias)
        error = 1 / (1 + np.exp(-(rows @ ahead + ahead_bias))) - labels
        last_weights, last_bias = weights, bias
        weights = ahead - _RATE * (columns @ error / len(labels) + _PENALTY / len(labels) * ahead)
        bias = ahead_bias - _RATE * float(error.mean())
    return weights, bias


def estimate_accuracy(rows: csr_matrix, labels: Floats) -> float:
    """Return the share of examples that a classifier trained without their part gets right."""
    part = np.arange(len(labels)) % _PARTS
    right = 0
    for number in range(_PARTS):
        weights, bias = fit(rows[part != number], labels[part != number])
        right += int((((rows[part == number] @ weights + bias) > 0) == (labels[part == number] > 0.5)).sum())
    return right / len(labels)


def format_weights(weights: Floats, bias: float) -> str:
    """Return the file of the weights: the bias, then whole numbers of one byte in base64."""
    packed = base64.b64encode(np.clip(np.rint(weights * SCALE), -127, 127).astype(np.int8).tobytes()).decode()
    return "\n".join([f"{bias:.4f}", *(packed[at : at + _LINE] for at in range(0, len(packed), _LINE))]) + "\n"


def main() -> int:
    """Train, print the accuracy, and write or compare the weights."""
    sentences, labels = read_examples()
    rows = build_matrix(sentences)
    text = format_weights(*fit(rows, labels))
    if "--check" in sys.argv[1:]:
        return 0 if _WEIGHTS.read_text(encoding="ascii") == text else 1
    print(f"{len(labels)} examples; right when left out: {estimate_accuracy(rows, labels):.1%}")  # noqa: T201
    _WEIGHTS.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
