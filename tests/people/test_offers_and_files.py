"""Every offer answers the same questions, and every kind says which files its campaign file names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from cases import fast
from confide.campaign import Campaign
from confide.contract.guarantees import Truthfulness
from confide.contract.kinds import kind
from confide.contract.offering import Question, answer, best_guess, lies, unanswered
from confide.contract.presentation import Section, Table
from confide.privacy.hiding import guess_at
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from people.all_kinds import KINDS, PEOPLES, campaign_of

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.toml"))
NAMES = {"source", "file", "journal", "waiting", "vertices", "folder", "path"}
ENDINGS = (".csv", ".parquet", ".arrow", ".json", ".soc", ".soi", ".toc", ".toi", ".cat", ".db")


def section_of(offer: Any, question: Question) -> Section:
    (found,) = [each for each in offer if each.answers == question.name.lower()]
    return found


@pytest.mark.parametrize("name", KINDS)
def test_every_offer_answers_every_question_once(name: str) -> None:
    offer = campaign_of(name).plan.offer()
    assert unanswered(offer) == ()
    assert all(section_of(offer, each).title == each.value for each in Question)
    assert not any(each.private or each.study for each in offer)
    for each in Question:
        assert each in unanswered([part for part in offer if part.answers != each.name.lower()])
    assert unanswered([answer(each, "") for each in Question]) == tuple(Question)


@pytest.mark.parametrize("path", fast(0, EXAMPLES), ids=lambda path: path.stem)
def test_offers_of_the_examples(path: Path) -> None:
    assert unanswered(Campaign.load(path).plan.offer()) == ()


@pytest.mark.parametrize("name", PEOPLES)
def test_an_offer_says_of_a_payment_what_it_can_come_to(name: str) -> None:
    """Payments are whole coins, rounded up: the largest one stands there as it would be queued, not a coin less."""
    it = campaign_of(name)
    terms = it.file.kind.payouts(it.plan)
    if terms is not None:
        assert terms.money(terms.highest) in str(section_of(it.plan.offer(), Question.GETS))


@pytest.mark.parametrize("name", PEOPLES)
def test_an_offer_does_not_deny_what_its_form_asks(name: str) -> None:
    it = campaign_of(name)
    said = str(section_of(it.plan.offer(), Question.REPORT))
    assert it.file.kind.asked(it.file.config, it.plan)
    assert "not asked" not in said


@pytest.mark.parametrize("name", PEOPLES)
def test_payments_are_tables_and_lies_follow_from_the_guarantee(name: str) -> None:
    it = campaign_of(name)
    offer, promises = it.plan.offer(), it.plan.guarantees
    paid = any(isinstance(block, Table) for block in section_of(offer, Question.GETS).blocks)
    assert paid is (it.file.kind.payouts(it.plan) is not None)
    stated = [each for each in promises.of(Truthfulness) if not each.vacuous]
    said = str(section_of(offer, Question.LIES))
    assert ("makes no promise about" in said) is (not stated)
    assert ("makes no other promise about" in said) is (name == "mean")  # about false records
    assert lies(promises).startswith("No lie gains" if stated else "The campaign makes no promise")


def test_the_best_guess_is_the_corner_of_the_region() -> None:
    """(1 + total variation)/2 of the channel that attains (epsilon, delta)."""
    for epsilon, delta in itertools.product((0.0, 0.5, 3.0, 800.0), (0.0, 1e-6, 0.5, 1.0)):
        away = math.exp(-epsilon)
        law = (delta, (1 - delta) / (1 + away), (1 - delta) * away / (1 + away), 0.0)
        apart = sum(max(p - q, 0.0) for p, q in zip(law, reversed(law), strict=True))
        assert best_guess(epsilon, delta) == pytest.approx((1 + apart) / 2, abs=1e-12)


def test_guesses_of_losses_are_above_what_their_noise_allows() -> None:
    """Gaussian noise of every width: its exact odds are below each bound, and near that of its own loss."""
    for mu in (0.01, 0.3, 1.0, 4.0):
        exact = guess_at(GDP(mu))
        for loss in (ZCDP(mu**2 / 2), RenyiDP(2.0, mu**2)):
            assert exact <= guess_at(loss) <= 1.0
        assert guess_at(ApproxDP(GDP(mu).epsilon_at(1e-3), 1e-3)) >= exact
    assert guess_at(PureDP(math.inf)) == guess_at(ZCDP(math.inf)) == guess_at("unknown") == 1.0


# ---- files


def models(of: Any) -> list[type[BaseModel]]:
    """The tables that a field may hold."""
    if isinstance(of, type) and issubclass(of, BaseModel):
        return [of]
    return [each for part in get_args(of) for each in models(part)]


def paths(table: type[BaseModel], before: str = "") -> Iterator[str]:
    """Keys of the file that are named after a file."""
    for name, field in table.model_fields.items():
        place = f"{before}{name}"
        if name in NAMES and not models(field.annotation):
            yield place
        for inner in models(field.annotation):
            yield from paths(inner, f"{place}.")


def values(config: BaseModel, before: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a campaign file that look like the name of a file."""
    for name in type(config).model_fields:
        found = getattr(config, name)
        if isinstance(found, BaseModel):
            yield from values(found, f"{before}{name}.")
        elif isinstance(found, str) and found.lower().endswith(ENDINGS):
            yield f"{before}{name}", found


def with_path(config: BaseModel, place: str, path: str) -> BaseModel:
    """A campaign file with another path there."""
    name, _, rest = place.partition(".")
    if not rest:
        return config.model_copy(update={name: path})
    inner = getattr(config, name)
    if inner is None:
        (table, *_) = models(type(config).model_fields[name].annotation)
        inner = table.model_construct()
    return config.model_copy(update={name: with_path(inner, rest, path)})


@pytest.mark.parametrize("name", KINDS)
def test_every_path_of_a_campaign_file_is_declared(name: str) -> None:
    it = campaign_of(name)
    found, config = kind(name), it.file.config
    declared = set(paths(found.config))
    assert declared >= {place for place, _ in found.files(config)}
    assert dict(values(config)).items() <= dict(found.files(config)).items()
    assert declared
    for place in declared:
        assert (place, "../../elsewhere") in found.files(with_path(config, place, "../../elsewhere"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_path_of_the_examples_is_declared(path: Path) -> None:
    it = Campaign.load(path).file
    found = dict(it.kind.files(it.config))
    assert found["graph.source" if it.kind.name == "search" else "data.source"]
    assert dict(values(it.config)).items() <= found.items()
