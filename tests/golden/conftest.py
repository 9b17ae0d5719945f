"""What the tests of golden files share: the third party's kind, as it was, and both stores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from golden_files import FOLDER, copied_home, restore

from confide.campaign import Store
from databases import Cluster, find_postgresql
from missing import missing
from people.own_packages import installed_module

_numbers = count(1)
_FOLDER = Path(__file__).parent
_OLD = "[Uu]nit|trivial|sigma|beta|gamma|failure|MechanismPlan|PeoplesKind|PeoplesTables"
_THIRD_PARTY = f"ignore:.*'({_OLD})' is called:confide.contract.renamed.ConfideDeprecationWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The third party's kind uses the names of its time; what they are called today it is told, and goes on."""
    for item in items:
        if _FOLDER in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(_THIRD_PARTY))


@pytest.fixture(scope="module", autouse=True)
def _histogram(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tutorial's package, as it was at 9376621e, is installed; not for the tests of other folders."""
    code, points = FOLDER / "private_histogram" / "__init__.py", {"histogram": "private_histogram:KIND"}
    with pytest.MonkeyPatch.context() as patch, installed_module(
        code, "private_histogram", points, tmp_path_factory.mktemp("site") / "site", patch,
    ):
        yield


@pytest.fixture(scope="session")
def postgresql() -> Iterator[tuple[Cluster, Path]]:
    """A PostgreSQL of this process's own, and the folder of its programs."""
    programs = find_postgresql()
    if programs is None:
        missing("PostgreSQL's initdb and postgres are neither under /usr/lib/postgresql nor on PATH; "
                "Debian's package postgresql has them")
    with Cluster(programs) as cluster:
        yield cluster, programs


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A copy of a golden store in a copy of its installation, which is the default one of the test."""
    home = copied_home("home" if request.param == "sqlite" else "home_of_postgresql", tmp_path / "home")
    monkeypatch.setenv("CONFIDE_HOME", str(home.folder))
    if request.param == "sqlite":
        with Store(home.url, home=home, create=False) as found:
            yield found
        return
    cluster, programs = request.getfixturevalue("postgresql")
    name = f"golden_{next(_numbers)}"
    url = cluster.create(name)
    restore(programs, cluster.folder, name)
    with Store(url, home=home, create=False) as found:
        yield found
    cluster.drop(name)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A copy of the SQLite store that nobody changes, though looking may note what was released."""
    home = copied_home("home", tmp_path_factory.mktemp("kept") / "home")
    with Store(home.url, home=home, create=False) as found:
        yield found
