"""The questions that every offer to participants has to answer. Participants decide by the answers, so no answer may be
left out.

Each section of an offer names the question that it answers (`Section.answers`), and a campaign kind may add further
sections. The functions of this module make the answers that are the same for all kinds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from confide.contract.guarantees import Guarantees, Sentence, Truthfulness, stated
from confide.contract.presentation import Block, Section, joined

__all__ = ["CUSTODIANS_WITHDRAWAL", "NO_TRUTH", "Question", "answer", "best_guess", "lies", "likelier", "unanswered",
           "who_asks", "withdrawing"]

_LARGEST_POWER = 700.0  # of e that a number holds


class Question(StrEnum):
    """A question that an offer answers before a participant agrees. The value is the title of the section with the
    answer.
    """

    REPORT = "What you report"
    SEES = "Who sees what"
    HIDES = "How much the campaign hides about you"
    GETS = "What you get"
    LIES = "What a lie would gain"
    TRUSTED = "Who is trusted"
    WITHDRAWING = "How to withdraw"


NO_TRUTH = "The campaign makes no promise about the gain from a lie."
"""The sentence for a campaign without a guarantee of truthfulness."""

CUSTODIANS_WITHDRAWAL = (
    "A custodian holds the data and invited nobody, so you cannot withdraw by yourself. Ask the custodian before the "
    "run to leave out its data about you. The size of the data set, which is public, stays the same.")
"""The sentence on withdrawal for a campaign in which a custodian holds the data."""


def answer(question: Question, *parts: str | Block) -> Section:
    """The section that answers a question.

    Args:
        question: the question that the section answers.
        parts: paragraphs and other blocks, in order. Empty paragraphs are left out.

    Example:
        >>> answer(Question.TRUSTED, "Nobody.", "").blocks
        (Text(paragraphs=('Nobody.',)),)
    """
    return Section(title=question.value, blocks=joined(*parts), answers=question.name.lower())


def unanswered(offer: Iterable[Section]) -> tuple[Question, ...]:
    """The questions that no section of an offer answers. A section without blocks answers nothing.

    Args:
        offer: the sections of the offer.
    """
    answered = {each.answers for each in offer if each.blocks}
    return tuple(each for each in Question if each.name.lower() not in answered)


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """The largest probability of a correct guess between two neighbouring data sets that are equally likely before the
    output is seen: (e^epsilon + delta)/(1 + e^epsilon).

    Some (epsilon, delta)-DP channel attains this probability.

    Args:
        epsilon: the loss in nats, >= 0; may be infinite.
        delta: a probability in [0, 1].

    Source: Kairouz, Oh and Viswanath 2015, the privacy region of (epsilon, delta), at its corner.

    Example:
        >>> round(best_guess(1.0), 4), best_guess(0.0), best_guess(math.inf)
        (0.7311, 0.5, 1.0)
    """
    away = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * away) / (1.0 + away))


def likelier(level: float) -> str:
    """The largest factor e^epsilon by which one record can change the probability of an output, written as a power and
    as a number.

    Args:
        level: the epsilon of the promise in nats, >= 0; may be infinite.

    Example:
        >>> likelier(1.0), likelier(8.0), likelier(20.0)
        ('e^1 = 2.72', 'e^8 = 2,981', 'e^20 = 4.85e+08')
        >>> likelier(1000.5), likelier(math.inf)
        ('e^1000.5 = 10^435', 'unlimited')
    """
    if math.isinf(level):
        return "unlimited"
    if level >= _LARGEST_POWER:
        return f"e^{level:.8g} = 10^{math.ceil(level / math.log(10.0))}"
    odds = math.exp(level)
    return f"e^{level:.4g} = {f'{odds:,.0f}' if 1000.0 <= odds < 1e6 else f'{odds:.3g}'}"


def lies(promises: Guarantees, otherwise: str = NO_TRUTH, *, sentence: Sentence = Truthfulness.sentence) -> str:
    """A text on the gain from a lie: the guarantees of truthfulness that can be claimed and are not vacuous, each with
    its condition and its note.

    Args:
        promises: the promises of the mechanism.
        otherwise: the text for a mechanism without such a guarantee.
        sentence: function that returns the sentence of a promise; by default the sentence of its class.
    """
    return " ".join(stated(promises.of(Truthfulness), sentence)) or otherwise


def who_asks(then: str) -> str:
    """A paragraph that names the operator, and says where a participant learns the dates of the campaign.

    Args:
        then: a clause on what follows, such as "you are paid".

    Example:
        >>> who_asks("you are paid").partition(". ")[2]
        'Usually, the operator invited you. This page has no dates: ask the operator until when you can answer, and \
when you are paid.'
    """
    return ("The operator asks you: the person or the office that runs this campaign. Usually, the operator invited "
            f"you. This page has no dates: ask the operator until when you can answer, and when {then}.")


def withdrawing(*more: str, absent: str = "your record counts as empty, and nobody but the operator can tell",
                deposit: bool = False) -> Sequence[str]:
    """Paragraphs on how a participant withdraws a submission, for all campaign kinds.

    Args:
        more: further facts that the participant has to know, in whole sentences.
        absent: a clause on how the record is treated if the participant withdraws before the publication. Whole
            sentences may follow the clause.
        deposit: whether the participant leaves a deposit.
    """
    back = " If you left a deposit, you get it back." if deposit else ""
    return (*more, "You can withdraw at any time and without a reason: on your own page, if you have one, or with a "
                   f"message to the operator. If you withdraw before the result is published, {absent}.{back} If you "
                   "withdraw later, your record and your share are erased, and the result stays as it was published.")
