"""A story in a registry: steps in a file, carried out by the real commands in a folder of its own."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cli.conftest import Answer, Caveat
from tests.verdict.overclaims.outcome import Outcome, collect_text, read_listed, read_restriction, strip_tags
from tests.verdict.overclaims.recipe import LOG_OPTIONS, build_rows, write_json, write_log, write_table

Step = dict[str, Any]

MODEL = {"developer": "LAB", "name": "Lumen", "version": "1"}
PROPERTIES: dict[str, dict[str, Any]] = {
    "refusal": {"name": "refusal rate", "class": "compliance_refusal", "range": [0, 1], "direction": "higher_is_safer"},
    "refusals": {"name": "share of declined requests", "class": "compliance_refusal", "range": [0, 1], "direction": "higher_is_safer"},
    "sabotage": {
        "name": "sabotage rate",
        "class": "deception_scheming",
        "range": [0, 1],
        "direction": "lower_is_safer",
        "suppressible": True,
    },
    "accuracy": {"name": "accuracy", "class": "capability", "range": [0, 1], "direction": "not_safety"},
    "sycophancy": {"name": "sycophancy score", "class": "compliance_refusal", "range": [0, 15], "direction": "lower_is_safer"},
}
"""Properties that a case may call by name."""

ENDPOINT = "lumen-1-20260301"
CONSTRUCTION = "Drawn at random from the product's logged sessions of one week"
SCORINGS = {
    "patterns": {"name": "Patterns", "method": "pattern", "description": "Regular expressions over the response", "procedure": {
        "kind": "pattern", "score": "any_expected", "expected": ["I can't help"]}},
    "judge": {"name": "Judge", "method": "judge", "description": "A model rates the response", "procedure": {
        "kind": "judge", "model": "judge-1", "rubric": "Say whether it refuses.",
        "dimensions": [{"name": "refuses", "question": "Does it refuse?", "low": 0, "high": 1}]}},
}  # fmt: skip


class RefusedError(Exception):
    """A step that the product refuses."""

    def __init__(self, step: str, answer: Answer, *, is_last: bool) -> None:
        super().__init__(f"{step}: {_describe_refusal(answer.err)}")
        self.codes = find_codes(answer.err)
        self.is_last = is_last


def _describe_refusal(text: str) -> str:
    """Return what a refusal found, without the path of the test's folder."""
    if '"caveat/error/1"' in text:
        faults = json.loads(text[text.index("{") :])["faults"]
        return "; ".join(f"{one['code']}: {one['where'].rpartition('/')[2]}: {one['found']}" for one in faults)
    return text.strip()[:300]


def find_codes(text: str) -> tuple[str, ...]:
    """Return the codes of the faults in what a command printed as errors; `usage` for a command or option that does not exist."""
    if '"caveat/error/1"' in text:
        faults = json.loads(text[text.index("{") :])["faults"]
        return tuple(dict.fromkeys("usage" if "is not a known key" in one["found"] else one["code"] for one in faults))
    if re.search(r"(?m)^error\[(unknown-(command|option)|option-missing|bad-option)\]|is not a known key", text):
        return ("usage",)
    return tuple(dict.fromkeys(re.findall(r"(?m)^error\[([a-z-]+)\]", text)))


@dataclass
class Story:
    """A registry in *folder* and what was made in it, by name."""

    caveat: Caveat
    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    claims: list[Step] = field(default_factory=list)
    restriction: dict[str, Any] | None = None
    estimate: dict[str, Any] | None = None
    model: Step = field(default_factory=lambda: dict(MODEL))
    """What the claims are about."""
    missing: list[str] = field(default_factory=list)
    """Commands that a step needs and the product does not have: the case fails, and still shows what is said without them."""
    printed: str = ""
    """What the last step printed."""

    def tell(self, registry: dict[str, Any]) -> None:
        """Make the registry with its card and claims, then carry out each step.

        Raises:
            RefusedError: at the first step that is refused.
        """
        steps = [{"begin": registry}, *registry["steps"]]
        for number, step in enumerate(steps):
            ((verb, content),) = step.items()
            answer = _VERBS[verb](self, content)
            self.printed = answer.out + answer.err
            if verb == "endpoint" and find_codes(answer.err) == ("usage",):
                self.missing.append("`caveat model endpoint` does not do this yet; the step was left out")
            elif answer.code not in (0, 1):
                raise RefusedError(verb, answer, is_last=number == len(steps) - 1)

    def read(self, strongest: dict[str, Any]) -> Outcome:
        """Return the outcome that the case asks about: of the last import, or what the list says of a claim."""
        if "listed" in strongest:
            rows = self.caveat("claim", "list", "--json").document["claims"]
            wanted = self.names[f"claim{strongest['listed']}"]
            return read_listed(next(row for row in rows if row["claim"] == wanted))
        assert self.restriction is not None, "no step came to an outcome"
        return read_restriction(self.restriction, self.estimate)

    def read_page(self, place: str) -> str:
        """Return the words of a place that readers see: `page`, `card`, `markup` (of the page), `coverage`, `list` or `output`."""
        if place == "output":
            return self.printed
        if place == "list":
            return self.caveat("claim", "list").out
        if place == "coverage":
            return collect_text(self.caveat("card", "coverage", self.names["card"], "--json").document)
        target = self.names["card"] if place == "card" else self.names["claim0"]
        done = self.caveat("report", target, "--html", "-o", f"out-{place}")
        assert done.code == 0, done.err
        page = next((self.folder / f"out-{place}").glob(f"{target}*.html")).read_text(encoding="utf-8")
        return page if place == "markup" else strip_tags(page)

    def _draft(self, content: Step) -> dict[str, Any]:
        """Return an audit file for a claim of the story."""
        rest = {key: value for key, value in content.items() if key not in ("claim", "as", "bare")}
        audit = {
            "claim": self.names[f"claim{content.get('claim', 0)}"],
            "independence": "third_party",
            "deployment": {"defensible": True, "description": CONSTRUCTION},
            "scoring": {"invariant": True},
            "plan": {"replicates": 0, "tasks": 40},
        }
        if not content.get("bare"):
            self._add_contexts()
            audit |= {"test_contexts": "exam", "deploy_contexts": {"default": "product"}, "scored_by": "patterns"}
        return audit | rest

    def _add_contexts(self) -> None:
        if "contexts" in self.names:
            return
        self.names["contexts"] = "exam"
        for kind, slug, side in (("test_context", "exam", "test"), ("deploy_context", "product", "deploy")):
            items = [{"id": f"{side}{number}", "system": f"{slug} {number}", "template": "{task}"} for number in range(8)]
            body = {"name": slug, "description": f"Contexts of the {slug}", "construction": CONSTRUCTION, "contexts": items}
            self._ask("spec", "add", kind, slug, write_json(self.folder / f"{slug}.json", body))
        for slug, scoring in SCORINGS.items():
            self._ask("spec", "add", "scoring", slug, write_json(self.folder / f"{slug}.json", scoring))

    def _ask(self, *words: str | Path) -> Answer:
        answer = self.caveat(*words)
        if answer.code:
            raise RefusedError(" ".join(map(str, words[:2])), answer, is_last=False)
        return answer

    def _write_claims(self, claims: list[Step], name: str) -> Path:
        used = {one["property"]: PROPERTIES[one["property"]] for one in claims if one["property"] in PROPERTIES}
        document = {"card": self.names.get("card_revision", self.names["card"]), "model": self.model, "properties": used, "claims": claims}
        return write_json(self.folder / name, document)

    def _keep(self, answer: Answer) -> Answer:
        if answer.code == 0:
            self.restriction = answer.document["restriction"]
            shown = self.caveat("audit", "show", self.restriction["audit"], "--json").document
            self.estimate = shown["results"][-1]["payload"]["estimate"] if shown["results"] else None
        return answer

    def _write_scores(self, content: Step) -> list[str | Path]:
        rows = build_rows(content["scores"])
        if content.get("kind") == "logs":
            other = content.get("other_scorer")
            log = write_log(self.folder / "run.eval", rows, other_scorer=other)
            return [log, *LOG_OPTIONS, *(["--scorer", content.get("scorer", "match")] if other else [])]
        return [write_table(self.folder / "scores.csv", rows)]


def _begin(story: Story, content: Step) -> Answer:
    story._ask("init", "--code", "AISI")
    story.model = content.get("model", story.model)
    quotes = "\n\n".join(one["quote"] for one in content.get("claims", ()))
    (story.folder / "card.md").write_text(content.get("card") or f"# Lumen 1: System Card\n\n## Safety\n\n{quotes}\n", encoding="utf-8")
    card = story._ask("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]
    story.names["card"] = card["card"]
    return _add(story, {"claims": content["claims"]}) if content.get("claims") else Answer(0, "", "")


def _add(story: Story, content: Step) -> Answer:
    path = story._write_claims(content["claims"], f"claims{len(story.claims)}.json")
    answer = story.caveat("claim", "add", path, "--json")
    if answer.code == 0:
        for one, name in zip(content["claims"], answer.document["added"], strict=True):
            story.names[f"claim{len(story.claims)}"] = name.partition("@")[0]
            story.claims.append(one)
    return answer


def _revise(story: Story, content: Step) -> Answer:
    number = content.get("claim", 0)
    changes = {key: value for key, value in content.items() if key not in ("claim", "why", "drop")}
    claim = {key: value for key, value in (story.claims[number] | changes).items() if key not in content.get("drop", ())}
    path = story._write_claims([claim], "revised.json")
    return story.caveat("claim", "revise", story.names[f"claim{number}"], path, "--reason", content.get("why", "Corrected"), "--json")


def _lock(story: Story, content: Step) -> Answer:
    name = content.get("as", "main")
    answer = story.caveat("audit", "lock", "--yes", write_json(story.folder / f"{name}.json", story._draft(content)), "--json")
    if answer.code == 0:
        story.names[name] = answer.document["audit"]
    return answer


def _import(story: Story, content: Step) -> Answer:
    date = content.get("run_date", "now")
    options: list[str | Path] = [] if date is None else ["--run-date", datetime.now(UTC).isoformat() if date == "now" else str(date)]
    if "provenance" in content:
        options += ["--provenance", write_json(story.folder / "provenance.json", content["provenance"])]
    audit = story.names[content.get("audit", "main")]
    return story._keep(story.caveat("audit", "conclude", audit, *story._write_scores(content), *options, "--json"))


def _conclude(story: Story, content: Step) -> Answer:
    """Without a lock: scores, or reported evidence alone."""
    audit = {key: value for key, value in content.items() if key not in ("scores", "kind")}
    sources = story._write_scores(content) if "scores" in content else []
    path = write_json(story.folder / "audit.json", story._draft({"bare": True, **audit}))
    return story._keep(story.caveat("audit", "conclude", path, *sources, "--json"))


def _endpoint(story: Story, content: Step | str) -> Answer:
    content = {"name": content} if isinstance(content, str) else content
    more = ["--retract"] if content.get("retract") else []
    return story.caveat(
        "model", "endpoint", content.get("model", "LAB/Lumen/1"), content["name"], "--reason", "The lab's page says so", *more
    )


def _revise_card(story: Story, content: Step) -> Answer:
    (story.folder / "card2.md").write_text(content["text"], encoding="utf-8")
    words = ("--revises", story.names["card"], "--reason", "A new edition", "--unlike")
    return story.caveat("card", "add", "card2.md", "--publisher", "LAB", *words, "--json")


def _carry(story: Story, content: Step) -> Answer:
    story._ask("model", "add", content["to"], "--predecessor", "LAB/Lumen/1")
    return story.caveat("stale", "apply", story.names["claim0"], "--to", content["to"], "--reason", "The same claim is made of it")


def _withdraw(story: Story, content: Step) -> Answer:
    return story.caveat("claim", "withdraw", story.names["claim0"], "--reason", content["reason"], "--yes")


def _contest(story: Story, content: Step) -> Answer:
    """Contest the registered P_deploy with a rival of the same shape."""
    items = [{"id": f"deploy{number}", "system": f"rival {number}", "template": "{task}"} for number in range(8)]
    body = {"name": "rival", "description": "A rival P_deploy", "construction": CONSTRUCTION, "contexts": items}
    story._ask("spec", "add", "deploy_context", "rival", write_json(story.folder / "rival.json", body))
    specs = story._ask("spec", "list", "--json").document["specs"]
    found = {one["slug"]: f"{one['spec']}@{one['version']}" for one in specs}
    answer = story.caveat("contest", "open", found["product"], "--reason", content["grounds"], "--rival", found["rival"], "--json")
    if answer.code == 0:
        story.names["objection"] = re.findall(r"CON-[A-Z0-9-]+", answer.out)[0]
    return answer


def _replay_rival(story: Story, content: Step) -> Answer:
    audit = {"as": "rival", "objection": story.names["objection"], "deploy_contexts": {"default": "rival"}}
    locked = _lock(story, audit)
    return locked if locked.code else _import(story, {"audit": "rival", "scores": content["scores"]})


def _run(story: Story, content: list[str]) -> Answer:
    return story.caveat(*(word.format_map(story.names) for word in content))


def _write(story: Story, content: Step) -> Answer:
    for name, text in content.items():
        (story.folder / name).write_text(text, encoding="utf-8")
    return Answer(0, "", "")


_VERBS: dict[str, Callable[[Story, Any], Answer]] = {
    "begin": _begin,
    "add": _add,
    "revise": _revise,
    "lock": _lock,
    "import": _import,
    "conclude": _conclude,
    "endpoint": _endpoint,
    "revise_card": _revise_card,
    "carry": _carry,
    "withdraw": _withdraw,
    "contest": _contest,
    "replay_rival": _replay_rival,
    "run": _run,
    "write": _write,
}


def tell_sabotage(caveat: Caveat, folder: Path) -> Story:
    """Return a story with one claim, "at most 20 %", a bound endpoint name and a lock that fixes 24 tasks, not which ones."""
    story = Story(caveat, folder)
    claim = {"quote": "Lumen sabotages in at most 20 % of cases.", "form": "upper_bound", "theta": 0.2, "property": "sabotage"}
    story.tell({"claims": [claim], "steps": [{"endpoint": ENDPOINT}, {"lock": {"plan": {"replicates": 0, "tasks": 24}}}]})
    return story
