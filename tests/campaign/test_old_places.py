"""Names that were defined elsewhere before: they work from there, with a warning."""

from __future__ import annotations

from importlib import import_module
from pkgutil import resolve_name

import pytest

from confide.campaign import kinds
from confide.contract.renamed import ConfideDeprecationWarning
from confide.service import access, work


@pytest.mark.parametrize(("old", "name", "new"), [
    ("confide.campaign.settlement", "data_set_charge", "confide.campaign.charging"),
    ("confide.campaign.settlement", "existing", "confide.campaign.stored"),
    *(("confide.people", name, "confide.campaign.kinds") for name in kinds.__all__),
    *(("confide.campaign.service.access", name, "confide.service.access") for name in access.__all__),
    *(("confide.campaign.service.work", name, "confide.service.work") for name in work.__all__),
    ("confide.campaign.service.language", "languages", "confide.service.language"),
])
def test_a_name_works_from_its_old_place_and_warns(old: str, name: str, new: str) -> None:
    import_module("confide.campaign.service")  # which has the modules of its old packages
    module, now = import_module(old), getattr(import_module(new), name)
    with pytest.warns(ConfideDeprecationWarning, match=f"{new}.{name}"):
        assert getattr(module, name) is now


@pytest.mark.parametrize(("old", "name", "today"), [
    ("confide.campaign.service.work", "Rounds", "confide.service.work:CampaignRounds"),
])
def test_an_old_name_works_from_an_old_place(old: str, name: str, today: str) -> None:
    import_module("confide.campaign.service")
    with pytest.warns(ConfideDeprecationWarning):
        assert getattr(import_module(old), name) is resolve_name(today)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing_such"):
        import_module("confide.campaign.settlement").nothing_such  # noqa: B018
