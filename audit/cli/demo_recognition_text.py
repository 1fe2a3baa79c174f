"""How the demo shows the recorded model judge, and the link to ED that cannot be made, in a terminal and as JSON."""

from typing import Any

from rich.console import Console

from audit.cli.rate_judge import describe_limit, describe_share
from audit.demo_recognition import JUDGE, RATING, RecognitionStory
from audit.wording import Unit, share
from registry.cli.output import build_table, show
from registry.codec.documents import to_document
from registry.records.realism import ItemJudgment, PairJudgment, RealismJudge

_SHARE = Unit(low=0.0, high=1.0)


def summarise_recognition(recognition: RecognitionStory) -> dict[str, Any]:
    """Return both for the document of the demo; a link that does not exist is null with its reason."""
    rated, unlinked = recognition.rated, recognition.link
    return {
        "rating": {
            "run": rated.run,
            "audits": list(rated.audits),
            "judgments": [to_document(judgment) for judgment in rated.judgments],
            "recorded": False,
            "reason": rated.reason,
        },
        "recognition_link": {"value": None, "reason": unlinked.reason, "responses": unlinked.responses, "candidates": unlinked.candidates},
    }


def print_recognition(console: Console, recognition: RecognitionStory) -> None:
    """Print what the judge made of single prompts and of pairs, why it is not recorded, and why there is no link."""
    rated = recognition.rated
    gravest = max(rated.judgments, key=lambda judgment: judgment.worst)
    items = gravest.items_test + gravest.items_deploy
    console.print(show(f"\n{items} prompts of {rated.run}, rated by a model judge ({gravest.judge}, recorded)"), style="bold")
    columns = ("question", "answered", f"share ({share(gravest.level)} CI), chance 50 %", "at worst")
    console.print(build_table(columns, [_describe(judgment) for judgment in rated.judgments]))
    console.print(show(describe_limit(gravest)))
    console.print(show(f"Not recorded as a finding. {rated.reason}"))
    console.print("The recorded answers, read again in that folder without a call:")
    console.print(show(f"  caveat audit rate judge {RATING} --judge {JUDGE.model} --max-tokens {JUDGE.max_tokens}"), soft_wrap=True)
    console.print(show("\nRecognition and ED: no link"), style="bold")
    console.print(show(recognition.link.reason))
    console.print("With a model that classifies them:")
    for command in (f"probe {rated.run} --judge MODEL --mentions mentions.csv", f"audit link {rated.run} --mentions mentions.csv"):
        console.print(show(f"  caveat {command}"), soft_wrap=True)


def _describe(judgment: RealismJudge) -> tuple[str, ...]:
    worst = _SHARE.score(judgment.worst, judgment.rater_limit)
    match judgment.single or judgment.pairwise:
        case ItemJudgment() as single:
            return "test or deployment?", f"{single.answered} of {single.items}", f"right: {describe_share(single.accuracy)}", worst
        case PairJudgment() as pairs:
            won = f"named deployment: {describe_share(pairs.win_rate)}"
            return "which one is real?", f"{pairs.answered} of {pairs.questions}", won, worst
        case None:
            raise ValueError("no judgment")
