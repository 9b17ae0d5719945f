"""What a type checker must know of each family: the billboard and the certificate of a run, and a plan's mechanism.

Nothing here is run: `tests/typed/type_checks.py` gives it to mypy and to pyright, with everything else that must
type-check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import confide as cf
from confide.acquisition import ErrorCertificate, MeanBillboard, TwoPartMechanism
from confide.allocation import (
    AuctionBillboard,
    PAlloc,
    PMatch,
    PriceRelease,
    ScalingBillboard,
    SinkhornMatch,
    WelfareCertificate,
)
from confide.allocation import plan as plan_allocation
from confide.campaign.kinds import MechanismPlan
from confide.channels import Channel, privacy_distortion
from confide.channels.mechanisms.base import ChannelMechanism
from confide.contract import Billboard, Certificate, Mechanism, RunOutcome, SimulatedOutcome
from confide.evidence.wu_2017.private_programs import PrintedDude
from confide.market import BitBillboard, BitCollection
from confide.programs import (
    AuditedBillboard,
    FlagBillboard,
    PathBillboard,
    PathCertificate,
    PrivDude,
    Program,
    RoundDude,
    TightDude,
    TightenAndAudit,
    TrueDude,
)
from confide.programs import plan as plan_program
from confide.programs.dude import Dude
from confide.regression import (
    BernoulliBillboard,
    BernoulliPeers,
    LeastSquaresBillboard,
    PrivateTruthfulRegression,
    RegressionBillboard,
    TruthfulRegression,
)
from confide.regression import plan as plan_regression
from confide.release import (
    MWEM,
    AllZeros,
    AnswersCertificate,
    DualQuery,
    FittedMarginals,
    FittedMarginalsCertificate,
    FixedBillboard,
    IndependentBillboard,
    IndependentMarginals,
    MarginalFit,
    MWEMBillboard,
    MWEMCertificate,
    NoisyAnswers,
    NoisyBillboard,
    Reweighted,
    ReweightedCertificate,
    ReweightedRecords,
    Schema,
    SyntheticRecords,
    Workload,
)
from confide.release import plan as plan_release
from confide.search import PTarget, PublicRelease, SearchCertificate

NOISE = cf.Noise.secure()


def regression(private: PrivateTruthfulRegression, plain: TruthfulRegression, bits: BernoulliPeers, data: Any) -> None:
    assert_type(private.run(data, NOISE).billboard, RegressionBillboard)
    assert_type(private.run(data, NOISE).certificate, None)
    assert_type(plain.run(data, NOISE).billboard, LeastSquaresBillboard)
    assert_type(plain.run(data, NOISE).certificate, None)
    assert_type(bits.run(data, NOISE).billboard, BernoulliBillboard)
    planned = plan_regression(people=20_000, features=2, parameter_bound=1.0, noise_bound=0.5)
    assert_type(planned.mechanism, PrivateTruthfulRegression)
    assert_type(planned.mechanism.run(data, NOISE).billboard.coef_, np.ndarray)


def acquisition(it: TwoPartMechanism, data: Any, hours: Sequence[float]) -> None:
    assert_type(it.run(data, NOISE).billboard, MeanBillboard)
    assert_type(it.run(data, NOISE).certificate, ErrorCertificate)
    assert_type(it.certify(it.run(data, NOISE).billboard), ErrorCertificate)
    assert_type(it.simulate(hours, hours, NOISE), SimulatedOutcome[MeanBillboard, ErrorCertificate])


def market(it: BitCollection, data: Any) -> None:
    assert_type(it.run(data, NOISE).billboard, BitBillboard)
    assert_type(it.run(data, NOISE).certificate, None)


def release(schema: Schema, workload: Workload, data: Any) -> None:
    one_way = IndependentMarginals(records=9, workload=workload, epsilon=1, delta=1e-6)
    assert_type(AllZeros(records=9, workload=workload).run(data, NOISE).billboard, FixedBillboard)
    assert_type(one_way.run(data, NOISE).billboard, IndependentBillboard)
    noisy = NoisyAnswers(records=9, workload=workload, epsilon=1, delta=1e-6)
    assert_type(noisy.run(data, NOISE).billboard, NoisyBillboard)
    assert_type(noisy.run(data, NOISE).certificate, None)
    fit = MarginalFit.for_budget(records=9, epsilon=1.0, delta=1e-6, schema=schema).run(data, NOISE)
    assert_type(fit.billboard, FittedMarginals)
    assert_type(fit.certificate, FittedMarginalsCertificate)
    played = DualQuery.for_budget(records=9, epsilon=1.0, delta=1e-6, workload=workload).run(data, NOISE)
    assert_type(played.billboard, SyntheticRecords)
    assert_type(played.certificate, AnswersCertificate)
    updated = MWEM.for_budget(records=9, epsilon=1.0, delta=1e-6, workload=workload).run(data, NOISE)
    assert_type(updated.billboard, MWEMBillboard)
    assert_type(updated.certificate, MWEMCertificate)
    planned = plan_release(schema, records=9, workload=workload, epsilon=1.0, delta=1e-6)
    assert_type(planned.mechanism.run(data, NOISE).billboard.answers(workload), NDArray[np.float64])


def reweighted(it: Reweighted, data: Any) -> None:
    assert_type(it.run(data, NOISE).billboard, ReweightedRecords)
    assert_type(it.run(data, NOISE).certificate, ReweightedCertificate)


def allocation(counts: PMatch, scaled: SinkhornMatch, bundles: PAlloc, data: Any) -> None:
    assert_type(counts.run(data, NOISE).billboard, AuctionBillboard)
    assert_type(counts.run(data, NOISE).certificate, WelfareCertificate | None)
    assert_type(scaled.run(data, NOISE).billboard, ScalingBillboard)
    assert_type(bundles.run(data, NOISE).billboard, AuctionBillboard)
    assert_type(PriceRelease(auction=counts), PriceRelease[AuctionBillboard])  # the billboard is its auction's
    assert_type(PriceRelease(auction=scaled).run(data, NOISE).billboard, ScalingBillboard)
    any_of_them = plan_allocation(5_000, 5, 800, epsilon=1.0).mechanism
    assert_type(any_of_them.run(data, NOISE).billboard.prices, NDArray[np.float64])
    any_of_them.decode(data[0], 0, any_of_them.run(data, NOISE).billboard)
    if isinstance(any_of_them, SinkhornMatch):
        assert_type(any_of_them.run(data, NOISE).billboard, ScalingBillboard)


def programs(program: Program, data: Any) -> None:
    assert_type(PrivDude(program, 1.0, 1e-6).run(data, NOISE).billboard, PathBillboard)
    assert_type(PrivDude(program, 1.0, 1e-6).run(data, NOISE).certificate, PathCertificate)
    assert_type(TrueDude(program, 1.0, 1e-6).run(data, NOISE).billboard, PathBillboard)
    assert_type(TightDude(program, 1.0, 1e-6).run(data, NOISE).billboard, PathBillboard)
    assert_type(RoundDude(program, 1.0, 1e-6).run(data, NOISE).billboard, FlagBillboard)
    assert_type(TightenAndAudit(program, 1.0, 1e-6).run(data, NOISE).billboard.accepted, bool)
    assert_type(TightenAndAudit(program, 1.0, 1e-6).run(data, NOISE).billboard, AuditedBillboard)
    assert_type(PrivDude.for_budget(program=program, epsilon=1.0, delta=1e-6), PrivDude)
    planned = plan_program(program, epsilon=1.0, delta=1e-6).mechanism
    assert_type(planned.run(data, NOISE).certificate, PathCertificate)
    assert_type(planned.run(data, NOISE).billboard.average_prices, NDArray[np.float64])


def printed(it: PrintedDude, data: Any) -> Dude:
    assert_type(it.run(data, NOISE).billboard, PathBillboard)
    return it


def search(it: PTarget, data: Any) -> None:
    assert_type(it.run(data, NOISE).billboard, PublicRelease)
    assert_type(it.run(data, NOISE).certificate, SearchCertificate)
    assert_type(it.run(data, NOISE).billboard.order, np.ndarray)


def channels(least: Channel) -> None:
    found = privacy_distortion("dp", cf.channels.IndependentRows([[0.6, 0.4]], [2]), 1.0)
    assert_type(found.mechanism, ChannelMechanism | None)


# ---- what holds of all of them


def any_mechanism(it: Mechanism, data: Any) -> None:
    """One whose type is not known in full: what all have, and no more."""
    outcome = it.run(data, NOISE)
    assert_type(outcome.billboard, Billboard)
    assert_type(outcome.certificate, Certificate | None)
    assert_type(it.decode(data, 0, outcome.billboard), Mapping[str, Any])


def studied(it: PMatch, data: Any) -> None:
    """A run with simulated noise has diagnostics; `isinstance` tells a study from a release."""
    study = it.run(data, cf.Noise.simulated(1))
    assert_type(study.diagnostics, Mapping[str, Any])
    assert_type(study.published().billboard, AuctionBillboard)
    if isinstance(study, SimulatedOutcome):
        assert_type(study.billboard, AuctionBillboard)


def passed_on(counts: PMatch, scaled: SinkhornMatch, data: Any) -> Sequence[RunOutcome]:
    """Mechanisms and outcomes are accepted wherever one of any billboard is."""
    them: list[Mechanism] = [counts, scaled]
    return [counts.run(data, NOISE), *(each.run(data, NOISE) for each in them)]


def read_back(folder: str) -> None:
    """Whoever reads an outcome from its files says what it is of."""
    assert_type(cf.PublicOutcome.load(folder).billboard, Billboard)
    mean = cf.PublicOutcome[MeanBillboard, ErrorCertificate].load(folder)
    assert_type(mean.billboard.total, int)


def own_kind(plan: MechanismPlan[PMatch]) -> None:
    assert_type(plan.mechanism, PMatch)
