"""The old name of the evidence works, with a warning."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

import confide.study
from confide.contract import ConfideDeprecationWarning


@pytest.mark.parametrize(("name", "today"), [
    ("Exhibit", "GalleryEntry"), ("Measured", "MeasuredEvidence"), ("claims", "claims"),
])
def test_a_name_of_the_study(name: str, today: str) -> None:
    with pytest.warns(ConfideDeprecationWarning, match="'study' is called 'evidence' now"):
        assert getattr(confide.study, name) is resolve_name(f"confide.evidence:{today}")


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing_such"):
        confide.study.nothing_such  # noqa: B018
