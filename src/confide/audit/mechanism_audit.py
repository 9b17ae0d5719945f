"""The audit for any mechanism. The audit checks the mechanism's run on synthetic neighbours, the sampler of the noise,
the decoding of shares, the charge, and mutants, which are copies of the mechanism with too little noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from confide.audit.charging import about_the_charge, as_promise, charge_of, charge_rows
from confide.audit.concerns import completed
from confide.audit.devices import RECORDS, drawn_locally, reports
from confide.audit.faulty_noise import DampedNoise
from confide.audit.fixed_transcript import Neighbours
from confide.audit.full_size_pairs import built, whole_pairs
from confide.audit.history_loss import NOISY_MAX, SPARSE_VECTOR, UnreleasedIntermediate
from confide.audit.own_modules import first_run, kept
from confide.audit.paid_for import PaidFor, paid_for
from confide.audit.pair_words import pair_words
from confide.audit.random_pairs import MOST, met, random_pairs
from confide.audit.report import AuditReport, AuditRow, Concern, Control, Verdict
from confide.audit.sampler import sampler_audit
from confide.audit.side_channels import Failed, settled_run, side_channel_output
from confide.audit.thresholds import stepping
from confide.audit.transcripts import Replay, Run, replay
from confide.audit.worst_case_neighbours import CELLS, corners, interior, neighbours, sets_of_others
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantee, Guarantees, Privacy, Relation
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.contract.running import written
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.required_charge import check_covered
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["audit_mechanism"]

_DRAWS = 4000  # of the sampler
_FALSE_ALARM = 1e-6
_DECODED = 200  # shares that are decoded again, at most
_TRIES = 500  # random pairs of a promise, where people are few
_LEAST = 50  # where they are many
_SLOTS = 150_000  # of all random pairs together, about
_INJECTED = 8  # pairs on which faults are tried, besides the worst one
_FIRST = 4  # pairs that are replayed in modules which have run nothing yet
_LEAST_NOISE = 2.0**-40  # of an injected fault
_NOTHING = "the mechanism promises nothing about this concern"
_CENTRAL = (Audience.PUBLIC, Audience.OTHERS)
_SHARES = "each participant's share follows from their own record and the public result"
_COVERED = "the charge to the ledger covers every promise, in the promise's own notion and for its own neighbours"
_UNSEEN = "the audit does not see effects elsewhere (files, network, duration, output past Python's own streams)"
_MEASURED = "promises of privacy that were measured"


def audit_mechanism(
    mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int, progress: Progress | None = None,
    measured: Sequence[AuditRow] = (), tries: int | None = None,
) -> AuditReport:
    """Compare promises with measurements, as far as a mechanism can be measured from outside.

    Each privacy promise to the public or to other participants is compared with the mechanism's own run. The run is
    repeated on pairs of synthetic neighbouring data sets with the same noisy answers, which makes the loss exact. The
    pairs are worst cases (`confide.audit.worst_case_neighbours`) and random ones. A promise to the collector is
    compared with the output of `submit` on neighbouring records. A run breaks the promise if it fails, or if its
    warnings, printed text, logs or reported progress differ between two neighbours.

    Draws of secure noise are tested for the requested distributions. Mutants are the same mechanism with half of the
    noise that the promise needs, and with no noise. Participants' shares are decoded again, one by one, and compared
    with the shares of the run.

    The price of the releases by the ledger's rules must cover every promise, as settlement requires. The price is also
    compared with the loss that is promised to the public, or with the other promises if nothing is promised to the
    public. The loss of all noisy answers of a run together must not exceed the charge, whatever is promised about
    parts.

    An `Accuracy` promise is not measured by this function: `measured` supplies its row where the kind of campaign can
    measure it. The report does not pass unless a promise of privacy was measured. If more people are invited than an
    audit can build (`confide.audit.full_size_pairs`), pairs are of smaller populations. The rows about smaller
    populations say so, and are evidence for no promise.

    Args:
        mechanism: the mechanism with its public parameters.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        seed: seed of the simulated noise and the synthetic people.
        progress: function that is called at each step.
        measured: rows that the kind of campaign has measured itself, each marked with the promise for which the row is
            evidence.
        tries: number of random pairs for each promise; by default 500, and fewer where more than 300 people are
            invited, down to 50. A fault that appears in a share p of random pairs is missed with probability (1 -
            p)^tries.
    """
    promises = mechanism.guarantees()
    private = [each for each in promises if isinstance(each, Privacy) and each.claimable and each.neighbours in RECORDS]
    attacked = [each for each in private if each.audience in (*_CENTRAL, Audience.COLLECTOR)]
    beside = as_promise(mechanism, attacked)
    attacked += beside
    count = max(_LEAST, min(_TRIES, _SLOTS // max(1, people))) if tries is None else tries
    steps, done = 2 * len(attacked) + 3, 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, steps)

    rows, bugs, unknown, replayed = list[AuditRow](), list[Control](), 0, dict[bool, PaidFor]()
    for promise in attacked:
        it = _listened(_attack(mechanism, roles, people, promise, count, seed), replayed, private)
        found, row, anew = it.measured()
        if row.verdict is not Verdict.NOT_MEASURED:
            note = row.note if row.flagged else row.note or _power(found, count, anew=anew, few=it.few)
            row = replace(row, note=note)
            if it.among and not row.flagged:  # what breaks among few is broken
                row = row.smaller(it.among)
            elif promise not in beside:
                row = row.holding(promise)
            row = about_the_charge(row) if promise in beside else row
        rows.append(row)
        unknown += row.verdict is Verdict.NOT_MEASURED
        step()
        if row.verdict is not Verdict.NOT_MEASURED:
            # Where the loss depends on what was drawn, another pair is the worst with other noise.
            some = it.certain() if it.unreleased else islice(it.certain(), _INJECTED)
            chosen = [*some, *([] if found.worst is None else [found.worst])]
            bugs += _injected(it, found, chosen)
        step()
    rows += _sampled(mechanism, roles, people, seed, local=any(each.audience is Audience.COLLECTOR
                                                               for each in attacked))
    step()
    decoded, altered = _decoded(mechanism, roles, people, seed)
    rows += [*decoded, paid_for(mechanism, roles, people, seed, list(replayed.values()))]
    bugs += altered
    step()
    row, altered = _covered(mechanism, promises)
    rows.append(row)
    bugs += altered
    for promise in _charged(private):
        spent, injected = charge_rows(mechanism.events(), promise.loss)  # type: ignore[arg-type] # Spend: an event
        rows.append(spent)
        bugs += injected
    rows += measured
    if not any(_measures_privacy(row, promises) for row in rows):
        rows.append(AuditRow.at_least(_MEASURED, 1.0, 0.0, "no promise of privacy was measured"
                                      + ("" if built(people, len(roles)) else " among this number of people"),
                                      unit="promises", concern=Concern.PRIVACY))
    elif unknown:
        rows.append(AuditRow.at_least(_MEASURED, float(len(attacked)), float(len(attacked) - unknown),
                                      "the row of each other promise has the reason",
                                      unit="promises", concern=Concern.PRIVACY))
    step()
    return completed(AuditReport(tuple(rows), tuple(bugs)), promises, dict.fromkeys(Concern, _NOTHING),
                     partial(_why_not, large=not built(people, len(roles))))


_Pairs = Callable[[], Iterable[Neighbours]]
_UNRELEASED = {"noisy max": NOISY_MAX, "sparse vector": SPARSE_VECTOR}


@dataclass(frozen=True, kw_only=True)
class _Attack:
    """The test of one promise.

    Args:
        mechanism: mechanism that makes the promise.
        promise: the tested promise.
        run: the correct run that the promise is about. Each run uses a copy of the mechanism, so that a run leaves
            nothing behind on the mechanism for the next run.
        first: the correct run in freshly imported modules; None where the modules cannot be imported again.
        certain: function that returns the worst-case pairs.
        steps: function that returns pairs of the full population, where it is large, and pairs between which the run
            changes.
        random: function that returns the random pairs.
        part: prefix of the streams that the promise is about; "" for all.
        unreleased: streams with noisy answers that are not published.
        words: function from a pair to its description.
        few: whether there are few pairs of the full population.
        among: description of the pairs' population where it is smaller than the campaign; "" if it is not.
        named: whether the streams of the promise's part are known.
        seed: seed of the simulated noise.
        paid: recorder of all draws and payments of the audit; None where another test records the draws.
    """

    mechanism: Mechanism
    promise: Privacy
    run: Run
    first: Run | None
    certain: _Pairs
    steps: _Pairs
    random: _Pairs
    part: str
    unreleased: Mapping[str, UnreleasedIntermediate]
    named: bool
    words: Callable[[Neighbours], str]
    few: bool
    among: str
    seed: int
    paid: PaidFor | None = None

    def replay(
        self, run: Run, pairs: Iterable[Neighbours], *, probed: bool = False, paid: PaidFor | None = None
    ) -> Replay:
        claim: Any = self.promise.loss
        return replay(run, pairs, claim, self.seed, part=self.part, unreleased=self.unreleased, named=self.named,
                      probed=probed, paid=paid)

    def measured(self) -> tuple[Replay, AuditRow, bool]:
        """Result of the whole audit, its row, and whether some pairs were repeated in freshly imported modules."""
        before = kept(self.mechanism)
        found = self.replay(self.run, chain(self.certain(), self.steps(), self.random()), probed=True, paid=self.paid)
        row = found.row(self.promise, self.words)
        anew = None if self.first is None or row.flagged else self.replay(self.first, islice(self.certain(), _FIRST))
        if anew is not None and anew.alone and not anew.leaks:
            return found, anew.row(self.promise, self.words), True
        if anew is not None and anew.leaks:
            row = anew.row(self.promise, self.words)
            return found, replace(row, evidence=f"in modules that have run nothing yet, {row.evidence}"), True
        alone = anew is not None and not anew.failure  # there are modules that can be imported once alone
        if not alone and not row.flagged:
            changed = [name for name, held in kept(self.mechanism).items() if held != before.get(name)]
            if changed:
                row = AuditRow.unmeasured(
                    self.promise, f"a run changes {', '.join(changed[:3])}, the next run sees the change, and the "
                                  "audit cannot import these modules again: put the code into files, or keep no values "
                                  "between runs")
        return found, row, alone


def _attack(
    mechanism: Mechanism, roles: Sequence[Role], people: int, promise: Privacy, count: int, seed: int
) -> _Attack:
    """The test of a promise: the correct run that the promise is about, and the pairs on which the run is audited."""
    central = promise.audience in _CENTRAL

    act = settled_run if central else drawn_locally

    parts = mechanism.part_streams()
    part = "" if promise.whole else parts.get(promise.part, "")

    def first(data: Any, noise: Noise) -> Any:
        alone = first_run(mechanism, lambda it: act(data, noise, it))
        return act(data, noise, deepcopy(mechanism)) if alone is None else alone()

    def run(data: Any, noise: Noise) -> Any:
        return act(data, noise, deepcopy(mechanism))

    if central:
        certain: _Pairs = lambda: neighbours(roles, people, promise.neighbours)  # noqa: E731
        steps: _Pairs = lambda: chain(whole_pairs(roles, people, promise.neighbours),  # noqa: E731
                                      stepping(run, roles, people, promise.neighbours, seed, part))
        random: _Pairs = lambda: random_pairs(roles, people, promise.neighbours, count, seed)  # noqa: E731
    else:
        certain = lambda: reports(roles, promise.neighbours)  # noqa: E731
        steps = tuple
        random = lambda: islice(reports(roles, promise.neighbours, 2 * count, seed), count)  # noqa: E731
    whole = not central or built(people, len(roles))
    return _Attack(
        mechanism=mechanism, promise=promise, run=run, certain=certain, steps=steps, random=random,
        first=first if first_run(mechanism, lambda it: it) is not None else None,
        part=part,
        unreleased={name: _rule(rule) for name, rule in mechanism.unreleased_streams().items()},
        few=central and people * len(roles) > CELLS, among="" if whole else f"at most {MOST + 1:,} synthetic people",
        named=promise.whole or promise.part in parts, words=lambda pair: pair_words(pair, roles), seed=seed)


def _listened(it: _Attack, replayed: dict[bool, PaidFor], private: Sequence[Privacy]) -> _Attack:
    """The test of a promise, with a recorder of payments added. Only one test of central runs and one test of devices
    get a recorder.

    Payments are compared only on neighbours of the relation that the charge is about.
    """
    central, units = it.promise.audience in _CENTRAL, {event.neighbours for event in it.mechanism.events()}
    if units != {it.promise.neighbours} or central in replayed:
        return it
    replayed[central] = PaidFor(it.run, it.unreleased, charge_of(it.mechanism, private), it.words)
    return replace(it, paid=replayed[central])


def _rule(rule: Any) -> UnreleasedIntermediate:
    """Rule for a stream that is not published itself."""
    found = _UNRELEASED.get(rule) if isinstance(rule, str) else rule
    if not isinstance(found, UnreleasedIntermediate):
        raise InvalidInput("unreleased_streams", f"{rule!r} is not a rule",
                           f"must be {', '.join(map(repr, _UNRELEASED))} or a confide.audit.UnreleasedIntermediate")
    return found


def _power(found: Replay, count: int, *, anew: bool, few: bool) -> str:
    """Text of the faults that may remain although the verdict is "kept"."""
    chance = "" if count == 0 else (f", {count} of them random, each with its own noise. The audit finds a fault that "
                                    f"shows in {met(count):.2g} of random pairs with probability 0.99, and may miss a "
                                    "rarer fault")
    spoke = "; the run warned, printed or logged, with equal texts for both neighbours" if found.spoke else ""
    there = "" if anew else ("; the audit could not import the mechanism's modules again, so values that they keep "
                             "between runs were present")
    own = "; only some of these people are compared" if few else ""
    return f"{found.pairs:,} pairs are not a proof{chance}{own}; {_UNSEEN}{spoke}{there}"


def _injected(it: _Attack, found: Replay, pairs: Sequence[Neighbours]) -> list[Control]:
    """Controls on some of the pairs: the same run with too little noise, and with no noise. A fault that is flagged on
    some pairs is flagged on all pairs.

    The noise is first reduced below the amount that the promise needs. If the run loses less than it may, the needed
    amount of noise is smaller than the actual noise. The noise is reduced further until the audit flags the reduction,
    because not every loss is proportional to the noise.
    """
    none = it.replay(lambda data, _: it.run(data, ForcedNoise(())), pairs).refuted
    controls = [Control(it.promise.name, "no noise", none)]
    share = found.measured / found.promised if 0 < found.measured < found.promised else 1.0
    name = "half the noise" if share > 1 - 1e-6 else "half of the noise that the promise needs"
    factor, flagged = 0.5 * share, False
    while factor >= _LEAST_NOISE and not (flagged := it.replay(_damped(it.run, factor), pairs).refuted):
        factor /= 2
    if factor < 0.5 * share:  # the name says what was flagged, or about the last that was tried
        name = f"{max(factor, _LEAST_NOISE):.2g} of the noise"
    if flagged or found.worst is not None:  # with any noise at all nothing is lost where results follow from none
        controls.insert(0, Control(it.promise.name, name, flagged))
    return controls


def _damped(run: Run, factor: float) -> Run:
    return lambda data, noise: run(data, DampedNoise(noise, factor))


def _sampled(mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int, *, local: bool) -> list[AuditRow]:
    """Rows that say, for each requested distribution, whether draws of secure noise follow it."""
    observed = RecordingNoise(Noise.simulated(seed))
    first = next(neighbours(roles, people, Relation.REPLACE)).first
    side_channel_output(lambda: settled_run(first, observed, mechanism))
    if local:
        side_channel_output(lambda: drawn_locally(corners(roles)[0], observed, mechanism))
    laws = {(draw.law, draw.scale): draw for draw in observed.draws if draw.law != "split"}
    return [sampler_audit(Noise.secure(), draw, _DRAWS, _FALSE_ALARM) for draw in laws.values()]


def _measures_privacy(row: AuditRow, promises: Guarantees) -> bool:
    """Whether a row measured a promise of privacy that can be claimed."""
    sentences = {each.sentence() for each in promises.privacy if each.claimable}
    return row.verdict is not Verdict.NOT_MEASURED and not sentences.isdisjoint(row.holds)


def _covered(mechanism: Mechanism, promises: Guarantees) -> tuple[AuditRow, list[Control]]:
    """Row that says whether settlement would accept the charge for the run, and a control in which the charge is a
    millionth of the promise and must be refused.
    """

    def refusal(private: Iterable[Privacy]) -> str:
        try:
            check_covered(mechanism.events(), private)  # type: ignore[arg-type] # Spend: an event
        except InvalidInput as error:
            return str(error)
        return ""

    private = promises.privacy
    found = refusal(private)
    row = AuditRow.at_most(_COVERED, 0.0, float(bool(found)), found or
                           "the check that the settlement makes before the charge",
                           unit="refusals", concern=Concern.BUDGET)
    if not private or found:
        return row, []
    more = [replace(each, loss=_times(each.loss, 1e6)) for each in private]
    return row, [Control(_COVERED, "a millionth of the promised loss is charged", bool(refusal(more)))]


def _times(loss: Any, factor: float) -> Any:
    """The loss with its epsilon, rho or mu multiplied by a factor."""
    name = next(name for name in ("epsilon", "rho", "mu") if hasattr(loss, name))
    return replace(loss, **{name: factor * getattr(loss, name)})


def _why_not(promise: Guarantee, *, large: bool) -> str:
    if large and isinstance(promise, Privacy) and promise.neighbours in RECORDS and promise.audience in _CENTRAL:
        return "an audit does not simulate so many people, so it compared fewer"
    if isinstance(promise, Privacy) and promise.neighbours not in RECORDS:
        return f"this audit changes records, and the promise is about {promise.neighbours.words}"
    if isinstance(promise, Privacy):
        return "this audit does not cover the knowledge of fellow participants about each other's noise"
    return "this audit cannot measure the promise; the kind of the campaign can, with a row from its `measured`"


def _charged(private: Sequence[Privacy]) -> list[Privacy]:
    """The promises about the whole outcome with which a ledger's price can be compared: promises to the public, or
    other promises if there are none to the public.
    """
    whole = [each for each in private if each.whole and isinstance(each.loss, PureDP | ApproxDP | ZCDP)
             and not each.loss.vacuous]
    public = [each for each in whole if each.audience is Audience.PUBLIC]
    return public or [each for each in whole if each.audience is Audience.OTHERS]


def _decoded(
    mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int
) -> tuple[list[AuditRow], list[Control]]:
    """Row that compares the shares of a simulated run with separate decodings of them, and a control with one share
    altered after the run.
    """
    all_others = sets_of_others(roles, people)[1]
    inside = interior(roles, seed)[: len(all_others)]
    if inside:
        all_others[: len(inside)] = inside
    others = SlotRows(np.arange(len(all_others)), all_others)
    alone = SlotRows(np.array([people - 1]), corners(roles)[0][None])
    records = {int(slot): cells for batch in (others, alone)
               for slot, cells in zip(batch.index, batch.cells, strict=True)}
    shown = sorted({*range(min(people, _DECODED)), people - 1})
    how = f"number of shares, out of {len(shown)}, that differ from a separate decode"

    def differing(shares: Sequence[Mapping[str, Any]]) -> int:
        schema = outcome.shares.schema
        return sum(written(mechanism.decode(records.get(slot), slot, outcome.billboard), schema)
                   != written(share, schema) for slot, share in zip(shown, shares, strict=True))

    outcome, _ = side_channel_output(
        lambda: settled_run([others, alone], RecordingNoise(Noise.simulated(seed)), mechanism))
    shares, _ = side_channel_output(lambda: [outcome.shares.slice(slot, 1).to_pylist()[0] for slot in shown])
    found, _ = side_channel_output(lambda: differing(shares))
    for each in (outcome, shares, found):
        if isinstance(each, Failed):
            failed = f"the run or the decode fails on synthetic people ({each.how})"
            return [AuditRow.at_most(_SHARES, 0.0, float(len(shown)), failed, unit="shares",
                                     concern=Concern.ACCURACY)], []
    row = AuditRow.at_most(_SHARES, 0.0, float(found), how, unit="shares", concern=Concern.ACCURACY)
    altered = [*shares[:-1], dict.fromkeys(shares[-1], None)]
    return [row], [Control(_SHARES, "one share altered after the run", differing(altered) > found)]
