"""All studies by name. A study's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.study.findings import Study

__all__ = ["studies", "study", "study_names"]

_MODULES = {
    "regression-least-squares": "truthful_regression.least_squares",
    "regression-sensitivity": "truthful_regression.sensitivity",
    "regression-noise": "truthful_regression.noise_length",
    "regression-threshold": "truthful_regression.threshold",
    "regression-accuracy": "truthful_regression.accuracy",
    "regression-lies": "truthful_regression.lies",
    "regression-corollary": "truthful_regression.corollary",
    "regression-earnings": "truthful_regression.earnings",
    "channels-examples": "privacy_notions.examples",
    "channels-relations": "privacy_notions.relations",
    "channels-pair": "privacy_notions.pair",
    "channels-relaxation": "privacy_notions.relaxation",
    "channels-ratings": "privacy_notions.ratings",
    "channels-stars": "privacy_notions.stars",
    "channels-three": "privacy_notions.three_notions",
    "market-accuracy": "data_market.accuracy",
    "market-convergence": "data_market.convergence",
    "market-pairs": "data_market.pairs",
    "market-affairs": "data_market.affairs",
    "market-unknown-costs": "data_market.unknown_costs",
    "acquisition-two-users": "two_part_acquisition.two_users",
    "acquisition-two-user-maps": "two_part_acquisition.two_user_maps",
    "acquisition-scaling": "two_part_acquisition.scaling",
    "acquisition-comparison": "two_part_acquisition.comparison",
    "acquisition-as-printed": "two_part_acquisition.as_printed",
    "acquisition-minimax": "two_part_acquisition.minimax",
    "acquisition-central-noise": "two_part_acquisition.central_noise",
    "queries-sizes": "query_release.sizes",
    "queries-accuracy": "query_release.accuracy",
    "queries-count": "query_release.count",
    "queries-attributes": "query_release.attributes",
    "queries-composition": "query_release.composition",
    "queries-baselines": "query_release.baselines",
    "queries-tables": "query_release.fitted_tables",
    "allocation-loss": "private_matchings.loss",
    "allocation-vacuity": "private_matchings.vacuity",
    "allocation-calibration": "private_matchings.calibration",
    "allocation-supply": "private_matchings.supply",
    "allocation-measured": "private_matchings.measured",
    "allocation-bundles": "private_matchings.bundles",
    "programs-noise": "private_programs.noise",
    "programs-supply": "private_programs.supplies",
    "programs-measured": "private_programs.unit_demand",
    "programs-start-up": "private_programs.start_up",
    "programs-families": "private_programs.families",
    "programs-feasibility": "private_programs.feasibility",
    "programs-truth": "private_programs.truth",
    "programs-network": "private_programs.network",
    "search-networks": "targeted_search.networks",
    "search-regimes": "targeted_search.regimes",
    "search-better": "targeted_search.better",
    "search-leak": "targeted_search.leak",
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
    found: Study = import_module(f"confide.study.{_MODULES[name]}").STUDY
    return found


def studies() -> tuple[Study, ...]:
    """All of them."""
    return tuple(study(name) for name in _MODULES)
