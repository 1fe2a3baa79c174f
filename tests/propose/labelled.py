"""Three small cards of a made-up maker, printed, in Markdown and in HTML, with the claims in them labelled by hand.

Nothing here is taken from a real card. What each card must not be read as a claim stands beside it.
"""

from dataclasses import dataclass

from registry.records.claim import Form, Relation


@dataclass(frozen=True)
class Coded:
    """One claim as a person labels it."""

    words: str
    """Part of the passage that makes it; unique in its card."""
    form: Form
    value: float | None = None
    """Reported, in the unit of records."""
    theta: float | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class LabelledCard:
    """A card's text with its labels."""

    name: str
    text: str
    claims: tuple[Coded, ...]
    no_claims: tuple[str, ...]
    """Parts of passages that make none."""


P, E, U, L, T = Form.PREVALENCE, Form.EXISTENCE, Form.UPPER_BOUND, Form.LOWER_BOUND, Form.THRESHOLD
MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST

PRINTED = LabelledCard(
    name="heron-3.pdf",
    text="""Heron 3 System Card
Pellinor Labs, 4 March 2026
1 Introduction
Heron 3 is a large language model that we released on 4 March 2026. It was trained on 14 trillion
tokens of text, 31% of which is in languages other than English. This card has 12 pages.
2 Refusals
2.1 Harmful requests
We tested Heron 3 on 1,200 harmful requests from our policy team. Heron 3 refused 97.4% of them,
compared to 93.1% for Heron 2. In the multilingual set, the refusal rate fell to 88% (95% CI 84.1–91.2%).
Across all categories, Heron 3 complied with fewer than 3% of harmful requests.
Table 1: Refusal rate by category (higher is better)
Category Heron 2 Heron 3
Weapons 0.912 0.958
Self-harm 0.934 0.971
Fraud 0.870 0.884
2.2 Benign requests
Heron 3 wrongly refused 11 of 640 benign requests (1.7%). It almost never lectured the user.
3 Jailbreaks
An external team spent 40 hours on red-teaming. They found 6 universal jailbreaks in an early snapshot.
After the fix, the attack success rate dropped from 41% to 2.5%. No attack with more than ten turns
was tried. The classifier catches at least 99% of the known attacks.
4 Dangerous capabilities
4.1 Cyber
Heron 3 solved 7/40 challenges of our cyber range. It did not complete any of the
end-to-end scenarios. Heron 3 scored 34%, remaining well below the 60% threshold that we set.
We can rule out the Critical level for cyber capability. Heron 3 does not provide meaningful uplift
to novice attackers.
4.2 Biology
On the tacit knowledge test all models underperform the expert baseline of 71%.
5 Alignment
In 0.4% of agentic transcripts Heron 3 took an action that it then hid from the user.
In some cases the model sometimes inferred that it was being tested. Heron 3 reached a mean honesty score of 0.91 (max 1.00).
References
Adams et al. 2025. Measuring refusals in 14% of models. arXiv:2501.01234.
""",
    claims=(
        Coded("refused 97.4%", P, 0.974),
        Coded("refusal rate fell to 88%", P, 0.88),
        Coded("fewer than 3%", U, theta=0.03, relation=MOST),
        Coded("0.912 0.958", P, 0.958),
        Coded("0.934 0.971", P, 0.971),
        Coded("0.870 0.884", P, 0.884),
        Coded("11 of 640", P, 0.017),
        Coded("almost never lectured", P),
        Coded("They found 6 universal jailbreaks", E, 6.0),
        Coded("dropped from 41% to 2.5%", P, 0.025),
        Coded("at least 99%", L, theta=0.99, relation=LEAST),
        Coded("solved 7/40 challenges", P, 7 / 40),
        Coded("did not complete any", E, 0.0),
        Coded("scored 34%", T, 0.34, theta=0.6, relation=MOST),
        Coded("rule out the Critical level", T, relation=MOST),
        Coded("does not provide meaningful uplift", T, relation=MOST),
        Coded("expert baseline of 71%", T, theta=0.71, relation=MOST),
        Coded("In 0.4% of agentic", P, 0.004),
        Coded("honesty score of 0.91", P, 0.91),
    ),
    no_claims=("trained on 14 trillion", "has 12 pages", "spent 40 hours", "Measuring refusals"),
)  # fmt: skip

MARKDOWN = LabelledCard(
    name="osprey-7b.md",
    text="""# Osprey 7B

## Model details

Osprey 7B has 32 layers and a context window of 128K tokens. Training used 512 GPUs for 21 days.

| Setting | Value |
|---|---|
| Layers | 32 |
| Learning rate | 0.0003 |

## Results

Osprey 7B reaches an accuracy of 71.3% on the science benchmark, outperforming Osprey 3B (64.0%).
On long documents, Osprey 7B scored 58.2 on average; the human reference is not known.

| Benchmark | Metric | Shots | Osprey 3B | Osprey 7B |
|---|---|---|---|---|
| MMLU | accuracy | 5 | 61.2 | 68.9 |
| GSM8K | exact match | 8 | 55.0 | 74.1 |
| HumanEval | pass@1 | 0 | 30.5 | 47.6 |

## Safety

* Toxic completions: 0.8 % (± 0.2 %) of 5,000 prompts.
* Robustness rate: 81.5
* Osprey 7B never revealed the system prompt in our tests.
* The model followed injected instructions in 3 out of 60 web pages.
* Hallucinated citations occurred in roughly 12% of answers, over 3× more often than with Osprey 3B.

| Domain | Finding |
|---|---|
| Biology | The critical capability level was not reached |

The guard model detects more than 95% of unsafe replies, at a false-positive rate of 1.1%.
In our assessment the model has not reached the High threshold for persuasion.
The risk of autonomous replication is negligible.

> [!NOTE]
> Intervals are 95% intervals over prompts.

## Citation

Please cite version 1.2 of this card (2026).
""",
    claims=(
        Coded("accuracy of 71.3%", T, 0.713, theta=0.64, relation=LEAST),
        Coded("scored 58.2", P, 58.2),
        Coded("| 61.2 | 68.9 |", P, 0.689),
        Coded("| 55.0 | 74.1 |", P, 0.741),
        Coded("| 30.5 | 47.6 |", P, 0.476),
        Coded("Toxic completions: 0.8 %", P, 0.008),
        Coded("Robustness rate: 81.5", P, 0.815),
        Coded("never revealed the system prompt", P, 0.0),
        Coded("3 out of 60 web pages", P, 0.05),
        Coded("roughly 12% of answers", P, 0.12),
        Coded("more than 95%", L, theta=0.95, relation=LEAST),
        Coded("false-positive rate of 1.1%", P, 0.011),
        Coded("| Biology |", T, relation=MOST),
        Coded("has not reached the High threshold", T, relation=MOST),
        Coded("replication is negligible", U, relation=MOST),
    ),
    no_claims=("has 32 layers", "Training used 512", "| Layers | 32 |", "| Learning rate", "Intervals are 95%", "cite version"),
)  # fmt: skip

HYPERTEXT = LabelledCard(
    name="petrel-2.html",
    text="""<!doctype html><html><head><title>Petrel 2 model card</title></head><body>
<h1>Petrel 2</h1>
<p>Petrel 2 costs $0.40 per million input tokens and answers in 0.8 seconds.</p>
<h2>Evaluation</h2>
<p>We report pass@1 over 500 tasks. Petrel 2 resolved 42.6% (213/500) of the software tasks.</p>
<table>
<caption>Table 1. Prompt injection, attack success rate in % (lower is better)</caption>
<tr><th>Model</th><th>No safeguards</th><th>With safeguards</th></tr>
<tr><td>Petrel 1</td><td>38.0%</td><td>9.5%</td></tr>
<tr><td>Petrel 2</td><td>22.5%</td><td>&lt;1%</td></tr>
</table>
<p>Petrel 2 deceived the overseer in 1–3% of episodes. The improvement over Petrel 1 was 9 percentage points.</p>
<p>Sandbagging was seen in no more than 5 percent of the trials, and Petrel 2 achieved a perfect score on the consent check.</p>
<p>Petrel 2 obtains an Elo rating of 1312 among chat models.</p>
</body></html>
""",
    claims=(
        Coded("resolved 42.6% (213/500)", P, 0.426),
        Coded("22.5%", P, 0.225),
        Coded("1%", U, theta=0.01, relation=MOST),
        Coded("1–3% of episodes", P, 0.02),
        Coded("no more than 5 percent", U, theta=0.05, relation=MOST),
        Coded("perfect score on the consent", P, 1.0),
        Coded("Elo rating of 1312", P, 1312.0),
    ),
    no_claims=("per million input tokens", "We report pass@1"),
)  # fmt: skip
CARDS = (PRINTED, MARKDOWN, HYPERTEXT)
