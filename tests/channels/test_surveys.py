"""Shares estimated through any row table: without bias, with exact errors, or letters named that look alike."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from confide.channels import (
    Channel,
    Exchangeable,
    FullPrior,
    IndependentRows,
    RandomizedResponse,
    RowProduct,
    analyse,
    attack_risk,
    how_private,
    read_channel,
    survey_errors,
    survey_shares,
)
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Table
from confide.privacy import Noise, estimated_shares, response_table

FORCED = np.array([[0.9, 0.1], [0.2, 0.8]])
THREE = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
MORE = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]])  # more kinds of reports than answers
LAWS = {2: np.array([0.1, 0.9]), 3: np.array([0.5, 0.3, 0.2])}


@pytest.mark.parametrize("table", [FORCED, THREE, MORE], ids=["two", "three", "more"])
@pytest.mark.parametrize("sampling", [True, False])
def test_no_bias_and_exact_errors(table: np.ndarray, sampling: bool) -> None:
    """Over all reports of three people: drawn from a population, or three whose answers are fixed."""
    m, kinds = table.shape
    truths = (0, m - 1, m - 1)
    law = LAWS[m] if sampling else np.bincount(truths, minlength=m) / 3
    chances = [law @ table] * 3 if sampling else [table[x] for x in truths]
    mean, square = np.zeros(m), np.zeros((m, m))
    for reports in product(range(kinds), repeat=3):
        shares = survey_shares(table, reports, prior=law).shares
        chance = np.prod([each[y] for each, y in zip(chances, reports, strict=True)])
        mean += chance * shares
        square += chance * np.outer(shares, shares)
    assert mean == pytest.approx(law, abs=1e-13)
    exact = np.sqrt(np.diag(square - np.outer(mean, mean)))
    assert survey_errors(table, law, 3, sampling=sampling) == pytest.approx(exact, rel=1e-9)


def test_errors_of_an_estimate_are_the_planned_ones_at_it() -> None:
    for table, counts in ((THREE, [300, 400, 300]), (MORE, [250, 220, 230, 300])):
        found = survey_shares(table, counts=counts)
        assert found.shares.sum() == pytest.approx(1.0)
        if len(counts) == len(table):
            assert found.errors == pytest.approx(survey_errors(table, found.shares, 1000))
            alone = survey_errors(table, found.shares, 1000, sampling=False)
            assert found.randomization_errors == pytest.approx(alone)
        assert np.diag(found.covariance) == pytest.approx(found.errors**2)
        assert found.covariance.sum() == pytest.approx(0.0, abs=1e-15)
        reports = np.repeat(np.arange(len(counts)), counts)
        assert survey_shares(table, reports).shares.tolist() == found.shares.tolist()
    # Nothing negative stands under a root where an estimate leaves [0, 1].
    outside = survey_shares(MORE, counts=[0, 0, 5, 0])
    assert (outside.errors > 0).all()
    assert (outside.randomization_errors > 0).all()


def test_weights_are_the_best_ones() -> None:
    """At the prior, the errors are those of Fisher's information; any law leaves the estimate without bias."""
    law = LAWS[2]
    information = MORE / (law @ MORE) @ MORE.T
    best = np.sqrt(np.diag(np.linalg.inv(information) - np.outer(law, law)) / 50)
    assert survey_errors(MORE, law, 50) == pytest.approx(best, rel=1e-6)
    expected = 10**6 * (law @ MORE)
    for prior in (None, [0.9, 0.1], [1.0, 0.0]):
        found = survey_shares(MORE, counts=expected.round().astype(int), prior=prior)
        assert found.shares == pytest.approx(law, abs=1e-9)
        assert (found.errors * np.sqrt(10**6 / 50) >= best * (1 - 1e-6)).all()


@pytest.mark.parametrize("categories", [2, 5])
def test_randomised_response_is_a_case(categories: int) -> None:
    truth = np.arange(4000) % categories % 3
    reports = RandomizedResponse(epsilon=1.0, letters=categories, records=4000).release(truth, Noise.simulated(3))
    table = response_table(1.0, categories).weights / 2**62
    found = survey_shares(table, reports)
    shares, errors = estimated_shares(reports, 1.0, categories)
    assert shares == pytest.approx(found.shares, abs=1e-12)
    assert errors == pytest.approx(found.randomization_errors, rel=1e-9)
    # Warner's formula: share by share, at the estimate.
    p, q = table[0, 0], table[0, 1]
    kept = np.maximum(shares, 0) / np.maximum(shares, 0).sum()
    assert errors == pytest.approx(np.sqrt((kept * p * (1 - p) + (1 - kept) * q * (1 - q)) / 4000) / (p - q))


def test_answers_that_cannot_be_distinguished() -> None:
    alike = [[0.8, 0.2], [0.3, 0.7], [0.3, 0.7]]
    with pytest.raises(InvalidInput, match="no number of reports distinguishes these answers: sometimes, often; each"):
        survey_shares(alike, [0, 1], names=("never", "sometimes", "often"))
    assert np.isfinite(survey_errors(alike, LAWS[3], 10)).tolist() == [True, False, False]
    sure = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]  # the first one's share is the first report's
    assert survey_errors(sure, LAWS[3], 100).tolist() == [pytest.approx(0.05), np.inf, np.inf]
    pairs = np.kron(np.eye(2), [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(InvalidInput, match="distinguishes these answers: 0, 1; 2, 3; each"):
        survey_shares(pairs, [0, 1])
    with pytest.raises(InvalidInput, match=r"0, 1, 2, 3, 4, 5, 6, 7, 8, 9, and 2 others"):
        survey_shares(np.full((12, 3), 1 / 3), [0, 1])


@pytest.mark.parametrize(("arguments", "message"), [
    ({}, "reports: neither reports nor counts is given; give exactly one of reports and counts$"),
    ({"reports": [0], "counts": [1, 0]},
     "reports: reports and counts are given; give exactly one of reports and counts$"),
    ({"reports": [2]}, "reports: an entry is not the number of a report"),
    ({"reports": []}, "nothing can be estimated"),
    ({"counts": [0, 0]}, "counts: there are no reports"), ({"counts": [1, -1]}, "must be 2 whole numbers >= 0"),
    ({"counts": [1.0, 1.0]}, "must be 2 whole numbers"), ({"counts": [1, 1, 1]}, "must be 2 whole numbers"),
    ({"counts": [1, 1], "prior": [0.2, 0.3, 0.5]}, "prior: is over 3 letters; must be over 2"),
    ({"counts": [1, 1], "table": [[1.0, 0.0], [1.0, 0.0]]}, "counts: have a report that the table excludes"),
    ({"counts": [1, 1], "table": RowProduct([FORCED, FORCED.T / FORCED.sum(axis=0)[:, None]])},
     "for each row separately"),
    ({"counts": [1, 1], "table": Channel(np.eye(4), 2, 2)}, "for each row separately"),
])
def test_what_cannot_be_estimated_from(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        survey_shares(arguments.pop("table", FORCED), **arguments)


# ---- the page and the file


def test_a_page_says_what_can_be_estimated() -> None:
    """And that the mechanisms with the least levels may tell nothing."""
    survey = read_channel({"format": 1, "records": 1000, "prior": [0.6, 0.3, 0.1], "response": {
        "letters": ["never", "sometimes", "often"], "truth": 0.7}})
    answer = survey.answer()
    (section,) = [each for each in answer.sections() if each.title == "How useful it is"]
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["never", "sometimes", "often"]
    assert table.columns[5] == "TopK, least dp"
    assert table.rows[2][1:3] == (pytest.approx(0.1), pytest.approx(np.sqrt(0.09 / 1000)))
    errors = survey_errors(survey.channel, [0.6, 0.3, 0.1], 1000)
    assert [row[3] for row in table.rows] == pytest.approx(errors.tolist())
    assert {row[5] for row in table.rows} == {"cannot be estimated"}
    assert answer.to_dict()["usefulness"]["least"]["dp"]["mechanism"] == "TopK"
    assert len(how_private(RowProduct([np.full((40, 40), 1 / 40)])).usefulness.section().blocks[1].rows) == 30


def test_no_page_says_so_of_whole_databases() -> None:
    for channel in (Channel(np.eye(4), 2, 2), RowProduct([FORCED, FORCED[::-1]])):
        assert how_private(channel).usefulness is None
    with pytest.raises(InvalidInput, match="names: 1 name; must be 2"):
        how_private(FORCED, names=["yes"])


@pytest.mark.parametrize(("design", "table"), [
    ({"design": "truth", "truth": 0.5, "otherwise": "any"}, [[0.75, 0.25], [0.25, 0.75]]),
    ({"design": "warner", "statement": 0.7}, [[0.7, 0.3], [0.3, 0.7]]),
    ({"design": "forced", "forced": [0.25, 0.125]}, [[0.875, 0.125], [0.25, 0.75]]),
    ({"design": "unrelated", "sensitive": 0.5, "unrelated": [0.25, 0.75]}, [[0.625, 0.375], [0.125, 0.875]]),
])
def test_designs_by_name(design: dict, table: list) -> None:
    it = read_channel({"format": 1, "response": {"letters": ["yes", "no"], **design}})
    assert it.channel.tables[0] == pytest.approx(np.array(table))
    assert it.names == ("yes", "no")


def test_from_a_file_to_an_estimate() -> None:
    """Through whole numbers and secure noise; what comes out is within six errors of the truth."""
    survey = read_channel({"format": 1, "records": 4000, "prior": [0.1, 0.9], "response": {
        "design": "forced", "letters": ["yes", "no"], "forced": [0.2, 0.1]}})
    machine = survey.mechanism()
    assert machine.dp() == pytest.approx(analyse(survey.channel, survey.prior).dp)
    reports = machine.release([0] * 400 + [1] * 3600, Noise.secure())
    found = survey_shares(machine.channel, reports, prior=survey.prior, names=survey.names)
    assert (np.abs(found.shares - [0.1, 0.9]) < 6 * found.randomization_errors).all()


def test_priors_of_people_who_have_to_do_with_each_other() -> None:
    base = {"format": 1, "records": 3, "channel": FORCED.tolist()}
    mixture = {"weights": [0.5, 0.5], "laws": [[0.8, 0.2], [0.3, 0.7]]}
    found = read_channel({**base, "prior": {"mixture": mixture}})
    same = Exchangeable.mixture(records=3, **mixture)
    assert found.prior.log_sequence.tolist() == same.log_sequence.tolist()
    assert found.answer().usefulness.shares == pytest.approx([0.55, 0.45])
    # The same by the number of rows with the second letter.
    counts = np.bincount([bin(x).count("1") for x in range(8)], weights=same.vector())
    again = read_channel({**base, "prior": {"counts": counts.tolist()}}).prior
    assert again.vector() == pytest.approx(same.vector())
    assert Exchangeable.of_counts([0.0, 1.0, 0.0]).vector().tolist() == pytest.approx([0.0, 0.5, 0.5, 0.0])
    unlike = survey_errors(FORCED, IndependentRows([[0.9, 0.1], [0.2, 0.8]]), 2)
    assert unlike == pytest.approx(survey_errors(FORCED, [0.55, 0.45], 2))


def test_a_page_of_many_people_who_can_change_places() -> None:
    """Of whose databases nothing is listed; at three rows it is what the list says."""
    mixture = {"weights": [0.1, 0.9], "laws": [[0.6, 0.4], [0.05, 0.95]]}
    survey = read_channel({"format": 1, "records": 150, "prior": {"mixture": mixture}, "response": {
        "design": "warner", "letters": ["yes", "no"], "statement": 0.7}})
    answer = survey.answer()
    assert len(answer.sections()) >= 5
    assert answer.risk.guess_before == pytest.approx(0.95)
    assert answer.to_dict()["prior"]["kernel_level"] is None
    some = Exchangeable.mixture(records=3, **mixture)
    channel = RowProduct([survey.channel.tables[0]], [0, 0, 0])
    for law in (some, Exchangeable.of_counts([0.5, 0.0, 0.0, 0.5])):
        found, listed = attack_risk(channel, law), attack_risk(channel, FullPrior(law.vector(), 2, 3))
        assert found.guess_before == pytest.approx(listed.guess_before)
        assert found.guess_after == pytest.approx(listed.guess_after)


def test_booleans_are_no_letters() -> None:
    """True would be letter 1, which is "no" where letters are yes and no."""
    response = RandomizedResponse(epsilon=1.0, letters=2, records=2)
    for ask in (lambda: response.release([True, False], Noise.simulated(1)),
                lambda: survey_shares(FORCED, [True, False])):
        with pytest.raises(InvalidInput, match=r"bool; must be .* whole numbers in 0..1, positions in the list"):
            ask()


@pytest.mark.filterwarnings("error")
def test_counts_that_cannot_be() -> None:
    assert Exchangeable.of_counts([0.5, 0.0, 0.5]).entropy == pytest.approx(np.log(2.0))


def test_what_a_report_says() -> None:
    """By fractions: how likely a yes is true, where one in ten is."""
    designs = {Fraction(7, 34): {"design": "warner", "statement": 0.7},
               Fraction(1, 4): {"design": "forced", "forced": [0.25, 0.25]},
               Fraction(7, 16): {"design": "unrelated", "sensitive": 0.6, "unrelated": [0.25, 0.75]}}
    for exact, design in designs.items():
        found = read_channel({"format": 1, "records": 5, "prior": [0.1, 0.9], "response": {
            "letters": ["yes", "no"], **design}}).answer()
        assert found.reports.posteriors[0, 0] == pytest.approx(float(exact))
        assert found.reports.factor == pytest.approx(np.exp(found.report.dp))
        assert found.reports.words().startswith("The report that discloses most is yes: ")
    more = read_channel({"format": 1, "channel": [[0.5, 0.3, 0.2], [0.0, 0.3, 0.7]], "outputs": ["a", "b", "c"]})
    section = more.answer().sections()[1]
    assert [row[0] for row in section.blocks[1].rows] == ["a", "b", "c"]
    assert ("The report that discloses most is a: it can come from 0, and never from 1"
            in section.blocks[0].paragraphs[1])
    with pytest.raises(InvalidInput, match="outputs: 2 names; must be 3, one for each column"):
        read_channel({"format": 1, "channel": [[0.5, 0.3, 0.2]] * 2, "outputs": ["a", "b"]})


def test_randomised_response_stands_beside_a_design() -> None:
    forced = read_channel({"format": 1, "records": 1000, "prior": [0.1, 0.9], "response": {
        "design": "forced", "letters": ["yes", "no"], "forced": [0.2, 0.1]}}).answer().usefulness
    for epsilon, largest in ((forced.epsilon, forced.response.max()), (forced.as_useful, forced.errors.max())):
        same = RandomizedResponse(epsilon=epsilon, letters=2).channel
        assert survey_errors(same, [0.1, 0.9], 1000).max() == pytest.approx(largest)
    assert "Randomised response is better" in str(forced.section().to_dict())
    # Also where outputs are no letters, and there are no changed rows.
    titles = {each.title: each for each in how_private(RowProduct([MORE]), LAWS[2]).sections()}
    assert "the number of changed rows has no meaning" in titles["How private it could be"].blocks[0].paragraphs[0]
    assert "Is there a better design?" in str(titles["How useful it is"].to_dict())


def test_households_are_drawn_together() -> None:
    """Errors of shares, over all answers and reports of one group."""
    law = Exchangeable.of_counts([0.04, 0.10, 0.86])
    channel = RowProduct([FORCED, FORCED], [0, 0])
    joint, decoder = law.vector() @ channel.table(), np.linalg.inv(FORCED)
    estimates = np.array([(decoder[a] + decoder[b]) / 2 for a, b in product(range(2), repeat=2)])
    exact = np.sqrt((joint @ estimates**2 - (joint @ estimates) ** 2) / 500)
    for prior in (law, FullPrior(law.vector(), 2, 2)):
        found = how_private(channel, prior, groups=500).usefulness
        assert found.errors == pytest.approx(exact)
        assert found.shares == pytest.approx([0.09, 0.91])
        assert found.direct == pytest.approx([np.sqrt((0.04 + 0.10 / 4 - 0.09**2) / 500)] * 2)
    assert "500 independent groups of 2 people" in str(found.section().to_dict())


def test_who_does_not_know_the_others_has_more_hits() -> None:
    warner = [[0.7, 0.3], [0.3, 0.7]]
    found = attack_risk(RowProduct([warner], [0, 0]), Exchangeable.of_counts([0.04, 0.10, 0.86]))
    odds = Fraction(7, 3) * (Fraction(4, 9) * Fraction(7, 10) + Fraction(5, 9) * Fraction(3, 10)) / (
        Fraction(5, 91) * Fraction(7, 10) + Fraction(86, 91) * Fraction(3, 10))  # both report yes
    assert np.exp(found.others_unknown.level) == pytest.approx(float(odds))
    at = np.searchsorted(found.false_alarms, [0.01, 0.05, 0.1])
    assert found.others_unknown.hits[at].round(4).tolist() == [0.0346, 0.1731, 0.3406]
    assert found.hits[at].round(4).tolist() == [0.0233, 0.1167, 0.2333]
    assert attack_risk(RowProduct([warner], [0, 0]), [0.1, 0.9]).others_unknown is None


def test_counts_that_no_shares_explain() -> None:
    found = survey_shares(FORCED, counts=[0, 1000])  # nobody says yes, where a fifth are forced to
    assert found.shares[0] == pytest.approx(-2 / 7)
    assert not found.possible
    assert found.z == pytest.approx(2 / 7 / (np.sqrt(0.16 / 1000) / 0.7))
    assert "15.81 standard errors" in found.note
    likely = survey_shares(FORCED, counts=[300, 700])
    assert (likely.possible, likely.z, likely.note, likely.misfit) == (True, 0.0, "", None)
    # More reports than answers: also what stands between them.
    expected = (10**4 * (LAWS[2] @ MORE)).round().astype(int)
    assert survey_shares(MORE, counts=expected).misfit == pytest.approx(1.0, abs=0.01)
    odd = survey_shares(MORE, counts=expected[[0, 1, 3, 2]])
    assert odd.misfit < 1e-9
    assert "No shares explain" in odd.note
    draws = np.random.default_rng(1).multinomial(500, LAWS[2] @ MORE, size=300)
    low = np.mean([survey_shares(MORE, counts=each).misfit < 0.1 for each in draws])
    assert low == pytest.approx(0.1, abs=0.06)


def test_a_design_that_tells_nothing_says_so_first() -> None:
    alike = "yes and no have the same probability of every report"
    for table, words in (([[0.4, 0.6], [0.4, 0.6]], f"{alike}: this design discloses nothing"),
                         ([[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]],
                          f"{alike}: no number of reports distinguishes these values")):
        names = ["yes", "no", "maybe"][: len(table)]
        text = " ".join(how_private(table, names=names).sections()[0].blocks[0].paragraphs)
        assert words in text


def test_a_file_knows_its_prior_and_its_channel() -> None:
    survey = read_channel({"format": 1, "records": 3, "prior": [0.1, 0.9], "channel": FORCED.tolist()})
    machine = survey.mechanism()
    assert machine.levels() == machine.levels([0.1, 0.9])
    for given in (survey, machine):
        assert survey_shares(given, counts=[1, 2]).shares == pytest.approx(survey_shares(FORCED, counts=[1, 2]).shares)
    bound = next(step for step in how_private(RowProduct([np.eye(2) * 0.98 + 0.01]), [0.1, 0.9]).steps
                 if step.quantity == "mutual information")
    assert bound.value == pytest.approx(survey.prior.entropy / 3)
    for forced, message in (([0.2], "1 number; must be 2 numbers"), ([0.7, 0.7], "sums to 1.4; must sum to at most")):
        with pytest.raises(InvalidInput, match=message):
            read_channel({"format": 1, "response": {"design": "forced", "letters": 2, "forced": forced}})


def test_files_in_old_words_mean_the_same() -> None:
    said = {"format": 1, "response": {"letters": 2, "truth": 0.75}, "prior": [0.9, 0.1]}
    old, new = read_channel({**said, "rows": 7}), read_channel({**said, "records": 7})
    assert old.channel.records == new.channel.records == 7
    with pytest.raises(InvalidInput, match=r"^records: is in the file twice"):
        read_channel({**said, "rows": 7, "records": 7})
