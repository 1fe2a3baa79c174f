"""What one call came to, as a record; and what ends a run because of it."""

from collections.abc import Sequence
from datetime import datetime

from audit.model import Answer, Endpoint
from audit.replay.store import Call, Intent, RunStore, join_text, join_thinking
from audit.trouble import DOUBTFUL, GIVEN_UP, ModelError
from registry.errors import AnswerNoError, Fault, InputError
from registry.records.response import Attempt, Failure, Response

IN_FLIGHT = "lost-in-flight"


def build_response(call: Call, answer: Answer, attempts: list[Attempt], sent_at: datetime, received_at: datetime) -> Response:
    """Return the outcome of *call* that *answer* is."""
    message = answer.message
    return Response(
        key=call.key,
        request=call.request,
        purpose=call.purpose,
        model_requested=str(call.body.get("model")),
        model_returned=message.model,
        text=join_text(message.content),
        thinking=join_thinking(message.content),
        content=message.content,
        stop_reason=message.stop_reason,
        message_id=message.id,
        usage=message.usage,
        attempts=tuple(attempts),
        sent_at=sent_at,
        received_at=received_at,
        latency_s=answer.latency_s,
    )


def build_lost(store: RunStore, intent: Intent, message: str, now: datetime) -> Response:
    """Return the outcome of a call that an earlier process left open."""
    return Response(
        key=intent.key,
        request=intent.request,
        purpose=intent.purpose,
        model_requested=str(store.get_request(intent.request).get("model")),
        sent_at=datetime.fromisoformat(intent.at),
        received_at=now,
        failure=Failure(code=IN_FLIGHT, message=message),
    )


def build_hopeless(endpoint: Endpoint, refused: int, error: ModelError) -> InputError:
    """Return the error that ends a run none of whose first calls is accepted."""
    found = f"the endpoint accepted none of the first {refused} calls (HTTP {error.status}): {error.message}"
    return InputError(Fault(code="not-accepted", where=endpoint.base_url, found=found, advice="change the policy or the contexts"))


def build_changed(endpoint: Endpoint, asked: str, known: Sequence[str], key: str) -> AnswerNoError:
    """Return the error that ends a run in which another model answers; *known* are those that have."""
    others = ", ".join(name for name in known if name != asked) or asked
    found = f"{asked} was asked, and {others} answered" if len(known) == 1 else f"{' and then '.join(known)} answered as {asked}"
    advice = "ask for the version that answers, in a run folder of its own; policy.allow_alias: true allows one other name, not two"
    return AnswerNoError(Fault(code="model-changed", where=f"{endpoint.base_url}, call {key[:12]}", found=found, advice=advice))


def is_changed(asked: str, known: Sequence[str], *, allow_alias: bool) -> bool:
    """Return whether the models *known* to have answered break the rule: the one that was asked, or with *allow_alias* always one other."""
    return len(known) > 1 or (not allow_alias and any(name != asked for name in known))


def is_doubtful(attempt: Attempt) -> bool:
    """Return whether the request of *attempt*, which has no answer, may have been billed."""
    return attempt.error in DOUBTFUL or attempt.status in GIVEN_UP
