"""Remarks on a verdict that several stations share, word for word."""

NOT_MET = "The replay of the claim's own evaluation fails its limit too."
NOT_MET_BY_CARD = "The figure that the card reports fails the claim's own limit."
# One copy of each sentence: classification and restriction print the same words.
POST_HOC = "Post hoc: nothing shows that θ and the plan were fixed before the scores could be seen."
_OFF_LOCK = "Not as locked: these scores are of other {} than the lock fixes."
_CARRIED = "The card made this claim of {}; here it is asked of {}, to which it was carried."
_CARRIED_FIGURE = (
    "What the card reports is of {}, and is not claimed of {}, to which the claim was carried: "
    "asked of that version is only whether what it shows in evaluation holds in deployment."
)
CONDITIONAL = "Conditional on the contexts tested: they are the estimand, not a sample."


def format_off_lock(items: str) -> str:
    """Return the remark on scores of other *items* (such as `tasks, scoring`) than the locked ones."""
    return _OFF_LOCK.format(items)


def format_applied(spoken_of: object, model: object, *, keeps_words: bool) -> str:
    """Return whose claim it was: words of *spoken_of*, asked of *model*."""
    return (_CARRIED if keeps_words else _CARRIED_FIGURE).format(spoken_of, model)
