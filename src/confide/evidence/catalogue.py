"""All studies by name. A study's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.evidence.findings import Study

__all__ = ["studies", "study", "study_names"]

_MODULES = {
    "regression-least-squares": "cummings_2015.studies.least_squares",
    "regression-sensitivity": "cummings_2015.studies.sensitivity",
    "regression-noise": "cummings_2015.studies.noise_length",
    "regression-threshold": "cummings_2015.studies.threshold",
    "regression-accuracy": "cummings_2015.studies.accuracy",
    "regression-lies": "cummings_2015.studies.lies",
    "regression-corollary": "cummings_2015.studies.corollary",
    "regression-earnings": "cummings_2015.studies.earnings",
    "channels-examples": "wang_2016.privacy_notions.studies.examples",
    "channels-relations": "wang_2016.privacy_notions.studies.relations",
    "channels-pair": "wang_2016.privacy_notions.studies.pair",
    "channels-relaxation": "wang_2016.privacy_notions.studies.relaxation",
    "channels-ratings": "wang_2016.privacy_notions.studies.ratings",
    "channels-stars": "wang_2016.privacy_notions.studies.stars",
    "channels-three": "wang_2016.privacy_notions.studies.three_notions",
    "market-accuracy": "wang_2016.data_market.studies.accuracy",
    "market-convergence": "wang_2016.data_market.studies.convergence",
    "market-pairs": "wang_2016.data_market.studies.pairs",
    "market-affairs": "wang_2016.data_market.studies.affairs",
    "market-unknown-costs": "wang_2016.data_market.studies.unknown_costs",
    "acquisition-two-users": "fallah_2022.studies.two_users",
    "acquisition-two-user-maps": "fallah_2022.studies.two_user_maps",
    "acquisition-scaling": "fallah_2022.studies.scaling",
    "acquisition-comparison": "fallah_2022.studies.comparison",
    "acquisition-as-printed": "fallah_2022.studies.as_printed",
    "acquisition-minimax": "fallah_2022.studies.minimax",
    "acquisition-central-noise": "fallah_2022.studies.central_noise",
    "queries-sizes": "wu_2017.query_release.studies.sizes",
    "queries-accuracy": "wu_2017.query_release.studies.accuracy",
    "queries-count": "wu_2017.query_release.studies.count",
    "queries-attributes": "wu_2017.query_release.studies.attributes",
    "queries-composition": "wu_2017.query_release.studies.composition",
    "queries-baselines": "wu_2017.query_release.studies.baselines",
    "queries-tables": "wu_2017.query_release.studies.fitted_tables",
    "allocation-loss": "wu_2017.private_matchings.studies.loss",
    "allocation-vacuity": "wu_2017.private_matchings.studies.vacuity",
    "allocation-calibration": "wu_2017.private_matchings.studies.calibration",
    "allocation-supply": "wu_2017.private_matchings.studies.supply",
    "allocation-measured": "wu_2017.private_matchings.studies.measured",
    "allocation-bundles": "wu_2017.private_matchings.studies.bundles",
    "programs-noise": "wu_2017.private_programs.studies.noise",
    "programs-supply": "wu_2017.private_programs.studies.supplies",
    "programs-measured": "wu_2017.private_programs.studies.unit_demand",
    "programs-start-up": "wu_2017.private_programs.studies.start_up",
    "programs-families": "wu_2017.private_programs.studies.families",
    "programs-feasibility": "wu_2017.private_programs.studies.feasibility",
    "programs-truth": "wu_2017.private_programs.studies.truth",
    "programs-network": "wu_2017.private_programs.studies.network",
    "search-networks": "wu_2017.targeted_search.studies.networks",
    "search-regimes": "wu_2017.targeted_search.studies.regimes",
    "search-better": "wu_2017.targeted_search.studies.better",
    "search-leak": "wu_2017.targeted_search.studies.leak",
}


def study_names() -> tuple[str, ...]:
    """The names of all studies, by document."""
    return tuple(_MODULES)


def study(name: str) -> Study:
    """The study of this name.

    Raises:
        InvalidInput: no such study; names the nearest one.

    Example:
        >>> study("regression-noise").source
        'Cummings, Ioannidis and Ligett 2015, Lemma 9'
    """
    if name not in _MODULES:
        of_it = [each for each in _MODULES if each.startswith(f"{name}-")]
        raise InvalidInput("name", f"{name!r} is no study", f"studies of that family: {', '.join(of_it)}" if of_it else
                           did_you_mean(name, _MODULES, "`confide reproduce` lists them", cutoff=0.8))
    found: Study = import_module(f"confide.evidence.{_MODULES[name]}").STUDY
    return found


def studies() -> tuple[Study, ...]:
    """All of them."""
    return tuple(study(name) for name in _MODULES)
