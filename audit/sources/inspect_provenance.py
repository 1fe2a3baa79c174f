"""What a log of Inspect states of where its responses come from; what it does not state stays None."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from audit.sources.inspect_header import Header, as_list, as_number, as_object, as_text
from audit.sources.inspect_sample import Sample
from audit.sources.inspect_sent import Sampling
from registry.records.trial import Provenance

_SHOWN = 5


def build_provenance(header: Header, samples: Sequence[Sample], sampling: Sampling, *, sha256: str, scorer: str | None) -> Provenance:
    """Return the provenance of one log, whose file has the digest *sha256*."""
    moments = [moment for sample in samples if (moment := parse_moment(sample.started_at)) is not None]
    returned = sorted({name for sample in samples for name in (sample.model, *sample.fallbacks) if name})
    return Provenance(
        endpoint=as_text(header.spec.get("model_base_url")),
        model_requested=as_text(header.spec.get("model")),
        model_returned=_join(returned),
        models_returned=tuple(returned),
        unnamed_responses=sum(bool(sample.scores) and not sample.model for sample in samples),
        accessed=_show_span(moments) or find_start(header, samples),
        sampling=sampling.describe() or _describe_configured(header),
        tools=_describe_tools(header, samples),
        budget_spent=_describe_usage(header),
        system_prompts=_describe_systems(samples),
        judge=_describe_judge(header, scorer),
        transcripts=sha256,
    )


def find_start(header: Header, samples: Sequence[Sample]) -> str | None:
    """Return when the first sample began, ISO 8601 in UTC; None where the log says nothing.

    Where a sample does not say it, the beginning of the run (or when the log was made) counts too: it may have been the first.
    """
    stated = [parse_moment(sample.started_at) for sample in samples]
    known = [moment for moment in stated if moment is not None]
    if len(known) < len(stated) or not stated:
        of_run = (parse_moment(as_text(value)) for value in (header.stats.get("started_at"), header.spec.get("created")))
        known += [moment for moment in of_run if moment is not None][:1]
    return min(known).isoformat() if known else None


def parse_moment(text: str | None) -> datetime | None:
    """Return *text* as a moment in UTC; None where it is no ISO 8601 time. Inspect means UTC where it writes no zone."""
    try:
        moment = datetime.fromisoformat(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        # A zone can lead out of the years that a computer counts.
        return None


def _show_span(moments: Sequence[datetime]) -> str | None:
    if not moments:
        return None
    first, last = (moment.replace(microsecond=0).isoformat() for moment in (min(moments), max(moments)))
    return first if first == last else f"{first} to {last}"


def _describe_tools(header: Header, samples: Sequence[Sample]) -> str | None:
    calls = [sample.asked for sample in samples if sample.asked is not None]
    steps = [text for step in as_list(header.plan.get("steps")) if (text := as_text(as_object(step).get("solver"))) is not None]
    parts = [f"solver {', '.join(steps)}"] if steps else []
    if calls:
        parts.append(f"tools of the first call: {_join(sorted({tool for asked in calls for tool in asked.tools})) or 'none'}")
    if sandbox := as_text(as_object(header.spec.get("sandbox")).get("type")):
        parts.append(f"sandbox {sandbox}")
    return "; ".join(parts) or None


def _describe_usage(header: Header) -> str | None:
    parts = []
    for model, usage in as_object(header.stats.get("model_usage")).items():
        counts = as_object(usage)
        cost = as_number(counts.get("total_cost"))
        spent = ", ".join(
            f"{int(number):,} {word} tokens"
            for word, key in (("input", "input_tokens"), ("cached input", "input_tokens_cache_read"), ("output", "output_tokens"))
            if (number := as_number(counts.get(key))) is not None
        )
        if spent:
            parts.append(f"{model}: {spent}" + (f", {cost:g} USD" if cost is not None else ""))
    return "; ".join(parts) or None


def _describe_systems(samples: Sequence[Sample]) -> str | None:
    if not samples:
        return None
    digests = sorted({sample.system_sha256 for sample in samples if sample.system_sha256})
    without = sum(sample.system_sha256 is None for sample in samples)
    if not digests:
        return "no system message in any transcript of the log"
    shown = ", ".join(f"{digest[:12]}…" for digest in digests[:_SHOWN]) + (" …" if len(digests) > _SHOWN else "")
    said = f"in the log's transcripts: {len(digests)} distinct (SHA-256 {shown})"
    return said + (f"; {without} samples without one" if without else "")


def _describe_configured(header: Header) -> str | None:
    """What the log's header configures, where no call is in the log; None where it configures nothing."""
    config = as_object(header.spec.get("model_generate_config"))
    values = ", ".join(f"{name} {value}" for name, value in sorted(config.items()) if value is not None)
    return f"configured: {values}; requests are not in the log" if values else None


def _describe_judge(header: Header, scorer: str | None) -> str | None:
    if scorer is None:
        return None
    parts = [f"Inspect scorer {scorer}"]
    for role, models in as_object(header.spec.get("model_roles")).items():
        several = models if isinstance(models, list) else [models]
        named = [text for one in several if (text := as_text(as_object(one).get("model")) or as_text(one)) is not None]
        parts.append(f"model in the role {role}: {_join(named) or 'not named'}")
    return "; ".join(parts)


def _join(names: Iterable[str]) -> str | None:
    return ", ".join(names) or None


def digest_parts(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 of *parts* one after the other, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
