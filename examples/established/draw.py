"""Draw eight of the sixteen contexts of each side of frame.yaml, by a fixed seed, and write examination.yaml and everyday.yaml.

python examples/established/draw.py
"""

import random
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

HERE = Path(__file__).resolve().parent
SEED = 20261123
DRAWN = 8
FILES = {
    "examination": (
        "Short-answer examination",
        "Eight contexts that announce a test, a benchmark or an examination, or that score short answers only",
    ),
    "everyday": (
        "Questions of everyday life",
        "Eight contexts in which people ask the same questions in a family, at work, in a library, on a journey or as pupils",
    ),
}
CONSTRUCTION = "Drawn at random, by a fixed seed, from sixteen contexts that one author wrote for this example (frame.yaml); nobody rated how natural they are"


def draw(contexts: list[Any], chance: random.Random) -> list[Any]:
    """Return eight of *contexts*, in the order of the frame."""
    drawn = sorted(chance.sample(range(len(contexts)), DRAWN))
    return [contexts[place] for place in drawn]


def main() -> None:
    """Write both files; the same frame and seed give the same files."""
    yaml = YAML()
    yaml.width = 4096
    frame = yaml.load(HERE / "frame.yaml")
    chance = random.Random(SEED)  # noqa: S311 (a draw that everybody can repeat, not a secret)
    for side, (name, description) in FILES.items():
        drawn = draw(frame[side], chance)
        document = {"name": name, "description": description, "construction": CONSTRUCTION, "contexts": drawn}
        yaml.dump(document, HERE / f"{side}.yaml")


if __name__ == "__main__":
    main()
