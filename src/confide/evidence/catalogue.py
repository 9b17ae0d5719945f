"""Catalogue of all studies by name. A study recomputes a published figure, table or theorem. The module of a study is
imported only when the study is requested.
"""

from __future__ import annotations

from pkgutil import resolve_name

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.evidence.findings import Study

__all__ = ["studies", "study", "study_names"]

_MODULES = {
    "regression-least-squares": "cummings_2015.studies:LEAST_SQUARES",
    "regression-sensitivity": "cummings_2015.studies:SENSITIVITY",
    "regression-noise": "cummings_2015.studies:NOISE_LENGTH",
    "regression-threshold": "cummings_2015.studies:THRESHOLD",
    "regression-accuracy": "cummings_2015.studies:ACCURACY",
    "regression-lies": "cummings_2015.studies:LIES",
    "regression-corollary": "cummings_2015.studies:COROLLARY",
    "regression-earnings": "cummings_2015.studies:EARNINGS",
    "channels-examples": "wang_2016.privacy_notions.studies:EXAMPLES",
    "channels-relations": "wang_2016.privacy_notions.studies:RELATIONS",
    "channels-pair": "wang_2016.privacy_notions.studies:PAIR_OF_ROWS",
    "channels-relaxation": "wang_2016.privacy_notions.studies:RELAXATION",
    "channels-ratings": "wang_2016.privacy_notions.studies:RATINGS",
    "channels-stars": "wang_2016.privacy_notions.studies:STARS",
    "channels-three": "wang_2016.privacy_notions.studies:THREE_NOTIONS",
    "market-accuracy": "wang_2016.data_market.studies:ACCURACY",
    "market-convergence": "wang_2016.data_market.studies:CONVERGENCE",
    "market-pairs": "wang_2016.data_market.studies:PAIRS",
    "market-affairs": "wang_2016.data_market.studies:AFFAIRS",
    "market-unknown-costs": "wang_2016.data_market.studies:UNKNOWN_COSTS",
    "acquisition-two-users": "fallah_2022.studies:TWO_USERS",
    "acquisition-two-user-maps": "fallah_2022.studies:TWO_USER_MAPS",
    "acquisition-scaling": "fallah_2022.studies:SCALING",
    "acquisition-comparison": "fallah_2022.studies:COMPARISON",
    "acquisition-as-printed": "fallah_2022.studies:AS_PRINTED",
    "acquisition-minimax": "fallah_2022.studies:MINIMAX",
    "acquisition-central-noise": "fallah_2022.studies:CENTRAL_NOISE",
    "queries-sizes": "wu_2017.query_release.studies.sizes:STUDY",
    "queries-accuracy": "wu_2017.query_release.studies.accuracy:STUDY",
    "queries-count": "wu_2017.query_release.studies.count:STUDY",
    "queries-attributes": "wu_2017.query_release.studies.attributes:STUDY",
    "queries-composition": "wu_2017.query_release.studies.composition:STUDY",
    "queries-baselines": "wu_2017.query_release.studies.baselines:STUDY",
    "queries-tables": "wu_2017.query_release.studies.fitted_tables:STUDY",
    "allocation-loss": "wu_2017.private_matchings.studies.loss:STUDY",
    "allocation-vacuity": "wu_2017.private_matchings.studies.vacuity:STUDY",
    "allocation-calibration": "wu_2017.private_matchings.studies.calibration:STUDY",
    "allocation-supply": "wu_2017.private_matchings.studies.supply:STUDY",
    "allocation-measured": "wu_2017.private_matchings.studies.measured:STUDY",
    "allocation-bundles": "wu_2017.private_matchings.studies.bundles:STUDY",
    "programs-noise": "wu_2017.private_programs.studies.noise:NOISE",
    "programs-supply": "wu_2017.private_programs.studies.supplies:STUDY",
    "programs-measured": "wu_2017.private_programs.studies.unit_demand:STUDY",
    "programs-start-up": "wu_2017.private_programs.studies.noise:START_UP",
    "programs-families": "wu_2017.private_programs.studies.families:STUDY",
    "programs-feasibility": "wu_2017.private_programs.studies.feasibility:STUDY",
    "programs-truth": "wu_2017.private_programs.studies.truth:STUDY",
    "programs-network": "wu_2017.private_programs.studies.network:STUDY",
    "search-networks": "wu_2017.targeted_search.studies.networks:STUDY",
    "search-regimes": "wu_2017.targeted_search.studies.regimes:STUDY",
    "search-better": "wu_2017.targeted_search.studies.better:STUDY",
    "search-leak": "wu_2017.targeted_search.studies.leak:STUDY",
}


def study_names() -> tuple[str, ...]:
    """The names of all studies, grouped by source document."""
    return tuple(_MODULES)


def study(name: str) -> Study:
    """The study with the given name.

    Raises:
        InvalidInput: no study has this name. The message suggests the nearest name.

    Example:
        >>> study("regression-noise").source
        'Cummings, Ioannidis and Ligett 2015, Lemma 9'
    """
    if name not in _MODULES:
        of_it = [each for each in _MODULES if each.startswith(f"{name}-")]
        raise InvalidInput("name", f"{name!r} is no study", f"studies of that family: {', '.join(of_it)}" if of_it else
                           did_you_mean(name, _MODULES, "`confide reproduce` lists them", cutoff=0.8))
    found: Study = resolve_name(f"confide.evidence.{_MODULES[name]}")
    return found


def studies() -> tuple[Study, ...]:
    """All studies of the catalogue, with their modules imported."""
    return tuple(study(name) for name in _MODULES)
