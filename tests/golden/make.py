"""Makes the golden files: packs, stores, participants' records and what every later version must find in them.

The files in `made_by_9376621e` were made by commit 9376621e, on that commit's code and environment, before anything
else changed. They are never made again: what later versions write belongs into a folder of its own. It was run so::

    git worktree add BASE 9376621e
    python3.11 -m venv BASE/.venv && BASE/.venv/bin/pip install -e 'BASE[test]'
    BASE/.venv/bin/python tests/golden/make.py

Campaign files in `campaigns/` are written by hand. Everything else in the folder is written by this script. All people
are made up (`made_up_people.py`), and so are the keys of both installations: they protect nobody. The noise is secure,
so a second run gives other numbers and other signatures, and nothing can be compared byte by byte.

=========================  ===========================================================================================
`campaigns/`               campaign files with their data; contracts of `mean`; a search that waits, with its journal
`packs/`                   the packs: folders, and one .zip as the service handed it out
`own/`                     participants' portable records, three of each campaign that has participants
`outcomes/`                one outcome of each kind with its shares, as `Outcome.save` writes it
`home/`                    the installation of the SQLite store: store, keys, notes, the people's own book of reports
`home_of_postgresql/`      keys and notes of a second installation, whose store is `store.sql`
`store.sql`                what `pg_dump` says of that store, without `\\restrict`, which an older `psql` does not know
`found.json`               what 9376621e itself found: verdicts, digests, shares, balances, states, payouts
=========================  ===========================================================================================
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path.append(str(TESTS))  # `databases.Cluster` and the tutorial's kind: test helpers, not the code that is run
sys.path.append(str(HERE))

WITHOUT_PICTURES = {"bits_again", "pairs_schools", "costs_overtime", "bundles_tools", "matching_rooms", "mean_screen",
                    "program_routes", "program_charging", "queries_gaussian", "queries_mwem", "queries_reweighted",
                    "overspent_two_columns", "regression_rent", "search_ring", "histogram_lunch"}
SQLITE_ALONE = {"bits_again", "bundles_evenings", "costs_sleep", "histogram_lunch", "matching_courses", "mean_screen",
                "overspent_two_columns", "program_charging", "program_places", "queries_dual_query", "queries_gaussian",
                "queries_mwem", "queries_reweighted", "regression_pay", "search_contacts"}
"""Not in the PostgreSQL store, whose dump would be as large as all packs again."""
OUTCOMES = ("bits_illness", "pairs_exam", "costs_sleep", "bundles_evenings", "matching_courses", "mean_hours",
            "program_charging", "queries_mwem", "regression_pay", "search_contacts", "histogram_way")
UNSETTLED = {"bits_cancelled", "matching_closed", "search_waiting"}
SERVED = ("bits_open", "bits_served", "costs_open", "mean_open")
OWN = ("3", "5", "8")
"""Ids of those whose portable records are kept."""


def main(folder: Path) -> None:
    """Write everything."""
    from made_up_people import write_tables

    from databases import Cluster, find_postgresql

    campaigns = folder / "campaigns"
    for path in folder.iterdir():
        if path.name not in ("campaigns", "private_histogram"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in campaigns.iterdir():
        if path.suffix != ".toml":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in ("packs", "own", "outcomes"):
        (folder / name).mkdir()
    write_tables(campaigns)
    found: dict[str, Any] = {"sqlite": Life(folder, folder / "home", None).play()}
    found.update(packs={path.stem: verified(folder, path) for path in sorted((folder / "packs").iterdir())},
                 own=sorted(path.name for path in (folder / "own").iterdir()),
                 files={path.stem: named(path) for path in sorted(campaigns.glob("*.toml"))})
    programs = find_postgresql()
    if programs is None:
        raise SystemExit("PostgreSQL is missing")
    with Cluster(programs) as cluster:
        found["postgresql"] = Life(folder, folder / "home_of_postgresql", cluster.create("golden")).play()
        dump = subprocess.run([programs / "pg_dump", "--host", cluster.folder, "--username", "confide", "--no-owner",
                               "--no-privileges", "golden"], check=True, capture_output=True).stdout
    lines = [line for line in dump.splitlines(keepends=True) if not line.startswith((b"\\restrict", b"\\unrestrict"))]
    (folder / "store.sql").write_bytes(b"".join(lines))
    (folder / "found.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


class Life:
    """All campaigns in one store.

    Args:
        folder: of the golden files.
        home: of the installation, which is made.
        url: of the store; None for the installation's own. Only the own one's packs and records are kept.
    """

    def __init__(self, folder: Path, home: Path, url: str | None) -> None:
        from confide.campaign import Home, Store

        self.folder, self.campaigns = folder, folder / "campaigns"
        if url is not None:  # what is drawn and written anew for this store stays out of the golden files
            self.campaigns = home / "scratch" / "campaigns"
            shutil.copytree(folder / "campaigns", self.campaigns)
        self.home, self.kept = Home(home), url is None
        os.environ["CONFIDE_HOME"] = str(home)
        self.store = Store(url, home=self.home)
        self.url = url

    def play(self) -> dict[str, Any]:
        """Every campaign as far as it goes; what the store then says."""
        from store_facts import facts

        for path in sorted(self.campaigns.glob("*.toml")):
            if path.stem not in UNSETTLED | {*SERVED} and (self.kept or path.stem not in SQLITE_ALONE):
                print(path.stem, flush=True)
                with pictures(self.kept and path.stem not in WITHOUT_PICTURES):
                    self.settle(path)
        self.serve()
        self.leave_unsettled()
        self.pay()
        self.withdraw()
        said = facts(self.store)
        if self.kept:
            self.keep_outcomes()
        self.store.close()
        if not self.kept:
            shutil.rmtree(self.home.folder / "scratch")
        return said

    def campaign(self, name: str) -> Any:
        from confide.campaign import Campaign

        return Campaign.load(self.campaigns / f"{name}.toml")

    # ---- settled from files

    def settle(self, path: Path) -> None:
        """Collect, settle, keep the pack and two portable records."""
        it = self.campaign(path.stem)
        if it.file.kind.name == "mean":
            self.contract(it)
        elif it.file.kind.name.startswith("bits") and self.kept:
            self.draw(it)
        place = self.folder / "packs" / path.stem if self.kept else self.campaigns / "out" / path.stem
        settled = it.settle(place, store=self.store)
        assert settled.fresh
        if self.kept and not it.held:
            for identity in OWN:
                self.keep_own(it, place, identity, record_of(it, identity, self.home))

    def draw(self, it: Any) -> None:
        """Everybody's device draws; every ninth person takes no part."""
        from made_up_people import answers_of

        bit, count = it.file.config.bit, it.file.config.people.count
        rows = []
        for place, yes in enumerate(answers_of(it.file.name, count)):
            answer = "" if place % 9 == 4 else bit.one if yes else bit.zero
            worth = {"worth": f"{0.01 + place / count:.3f}"} if it.file.kind.name == "bits-unknown-costs" else {}
            row = dict(it.submit(place + 1, {"answer": answer, **worth}, total=1e3, home=self.home))
            if it.file.config.people.id == "row":
                row.pop("id", None)
            if it.file.name == "pairs_schools":
                row["school"] = "east" if place < 30 else "west"
            rows.append(row)
        self.write(it, rows)

    def contract(self, it: Any) -> None:
        """Concerns, two rounds of contracts, the final one, and the noisy records of those who were asked."""
        from made_up_people import concerns_of

        config = it.file.config
        count, column = config.people.count, config.reports.column
        concerns = concerns_of(count)
        concerns[-1] = ""  # type: ignore[call-overload]
        (self.campaigns / config.reports.source).write_text(
            f"id,{column}\n" + "".join(f"{place + 1},{concern}\n" for place, concern in enumerate(concerns)))
        (self.campaigns / config.contracts.file).unlink(missing_ok=True)  # of the first installation
        it.draw_up(home=self.home)
        it.draw_up(without=[5], home=self.home)
        it.finish_contracts(home=self.home, store=self.store)
        high, rows = config.record.high, []
        for place in range(count):
            token = it.contract(place + 1, home=self.home).token
            typed = {config.record.column: f"{high * (place + 2) / (count + 4):.2f}"}
            rows.append(it.submit(place + 1, typed, contract=token, key=self.home.fingerprint, total=1e3, largest=1e3,
                                  home=self.home))
        self.write(it, rows)

    def write(self, it: Any, rows: list[Mapping[str, str]]) -> None:
        with (self.campaigns / it.file.config.data.source).open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)

    def keep_own(self, it: Any, pack: Path, identity: str, record: Mapping[str, str]) -> None:
        own = it.own_file(identity, pack, record=record)
        (self.folder / "own" / f"{it.file.name}-{identity}.json").write_text(json.dumps(own, indent=1) + "\n")

    def keep_outcomes(self) -> None:
        """Outcomes with their shares, as `Outcome.save` writes them."""
        for name in OUTCOMES:
            self.campaign(name).settled(store=self.store).save(self.folder / "outcomes" / name)

    # ---- by the service

    def serve(self) -> None:
        """Operators, drafts, invitations: one campaign settled by the service, three left open, one draft left."""
        from made_up_people import PASSWORD
        from starlette.testclient import TestClient

        from confide.service.access import Role
        from confide.service.app import create_app
        from confide.service.shell.settings import Settings

        with scratch() as data:
            app = create_app(Settings(home=self.home.folder, store=self.url, data=data))
            parts = app.state.parts
            for name, role in (("ada", Role.ADMIN), ("olga", Role.OPERATOR), ("vera", Role.VIEWER)):
                parts.operators.add(name, PASSWORD, role)
            with TestClient(app) as client:
                def call(method: str, path: str, token: str = "", status: int = 200, **more: Any) -> Any:
                    said = client.request(method, f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"}
                                          if token else {}, **more)
                    assert said.status_code == status, (path, said.status_code, said.text)
                    return said.json() if "json" in said.headers.get("content-type", "") else said.content

                olga = call("POST", "/login", json={"name": "olga", "password": PASSWORD})["token"]
                numbers = {}
                for name in SERVED:
                    text = (self.campaigns / f"{name}.toml").read_text()
                    draft = call("POST", "/drafts", olga, 201, json={"text": text})["number"]
                    numbers[name] = call("POST", f"/drafts/{draft}/open", olga)["number"]
                text = (self.campaigns / "histogram_way.toml").read_text().replace("work?", "school?")
                call("POST", "/drafts", olga, 201, json={"text": text})
                for name, number in numbers.items():
                    codes = call("POST", f"/campaigns/{number}/invitations", olga, json={"slots": [0, 1, 2]})["codes"]
                    joined = [call("POST", "/join", json={"code": each["code"]})["token"] for each in codes[:2]]
                    self.hand_in(name, parts.participation, number)
                    call("POST", "/mine/withdraw", joined[0])
                parts.store.note_deposits(numbers["costs_open"], [0, 1, 4])
                number = numbers["bits_served"]
                call("POST", f"/campaigns/{number}/settle", olga, 202, json={"confirm": True})
                while (job := call("GET", f"/campaigns/{number}/jobs/settle", olga))["state"] not in ("done", "failed"):
                    time.sleep(0.05)
                assert job["state"] == "done", job
                pack = call("GET", f"/campaigns/{number}/pack.zip")
        if self.kept:
            (self.folder / "packs" / "bits_served.zip").write_bytes(pack)
            with scratch() as place, zipfile.ZipFile(io.BytesIO(pack)) as archive:
                archive.extractall(place)
                it = self.campaign("bits_served")
                for identity in OWN:
                    self.keep_own(it, place, identity, record_of(it, identity, self.home))

    def hand_in(self, name: str, taking: Any, number: int) -> None:
        """Everybody hands in what her device draws; to the campaign that stays open, every second person."""
        from made_up_people import answers_of, concerns_of

        from confide.service.access import Participant

        it, rows = self.campaign(name), []
        count = it.file.config.people.count
        for slot, (yes, concern) in enumerate(zip(answers_of(name, count), concerns_of(count), strict=True)):
            typed = {"fear": str(concern)} if name == "mean_open" else {"answer": "yes" if yes else "no"}
            typed |= {"worth": "0.2"} if name == "costs_open" else {}
            row = dict(it.submit(slot + 1, typed, total=1e3, home=self.home))
            rows.append(row)
            if name == "bits_served" or slot % 2:
                taking.submit(Participant(number, slot), {key: text for key, text in row.items() if key != "id"})
        if self.kept and name == "bits_served":
            self.write(it, rows)

    # ---- not settled

    def leave_unsettled(self) -> None:
        """One campaign cancelled, one closed with records in the store, one search that waits for answers."""
        from confide.contract import Refused

        it = self.campaign("bits_cancelled")
        for identity in range(1, 9):
            it.hand_in(identity, it.submit(identity, {"answer": "yes"}, total=1e3, home=self.home), store=self.store)
        self.store.cancel(self.store.find(it.file).number)
        it = self.campaign("matching_closed")
        for identity in range(1, it.file.config.people.count + 1):
            it.hand_in(identity, record_of(it, str(identity), self.home), store=self.store)
        it.withdraw(4, store=self.store)
        self.store.close_collection(self.store.find(it.file).number)
        if self.kept:
            it = self.campaign("search_waiting")
            try:
                it.settle(self.folder / "never", store=self.store)
            except Refused as refused:
                print(refused)
            else:
                raise SystemExit("the search did not wait")

    # ---- payouts and withdrawals

    def pay(self) -> None:
        """Payouts in every state: queued, approved, sent, failed, queued again; and one campaign all paid."""
        with scratch() as place:
            for name, until in (("pairs_exam", "approved"), ("pairs_schools", "sent"), ("bits_illness", "answered"),
                                ("regression_rent", "paid")):
                it = self.campaign(name)
                it.approve_payouts(it.payouts(store=self.store).queue.code, store=self.store)
                if until == "approved":
                    continue
                batch, answer = place / f"{name}.csv", place / f"{name}-answer.csv"
                it.export_payouts(batch, store=self.store)
                if until == "sent":
                    continue
                references = [line.partition(",")[0] for line in batch.read_text().splitlines()[1:]]
                answer.write_text("reference,status\n" + "".join(
                    f"{reference},{'failed' if until == 'answered' and k % 3 == 0 else 'paid'}\n"
                    for k, reference in enumerate(references)))
                it.import_confirmations(answer, store=self.store)
            it = self.campaign("bits_illness")
            it.reopen_payouts(store=self.store)

    def withdraw(self) -> None:
        """After the settlement: record and share are erased."""
        self.campaign("histogram_way").withdraw(7, store=self.store)
        self.campaign("matching_rooms").withdraw(6, store=self.store)


def record_of(it: Any, identity: str, home: Any) -> dict[str, str]:
    """What a participant has handed in, as she would type it."""
    config = it.file.config
    with (it.file.folder / config.data.source).open(newline="") as file:
        rows = list(csv.DictReader(file))
    if getattr(config.data, "form", "wide") == "long":
        return {row[config.data.good]: row[config.data.value] for row in rows
                if row["id"] == identity and row[config.data.good] != "kettle"}  # no good of the campaign
    row = rows[int(identity) - 1] if config.people.id == "row" else next(
        each for each in rows if each["id"] == identity)
    found = {name: text for name, text in row.items() if name != "id"}
    return {**found, "contract": it.contract(identity, home=home).token} if it.file.kind.name == "mean" else found


# ---- what is found


def verified(folder: Path, pack: Path) -> dict[str, Any]:
    """What the code that made a pack finds in it, alone and with each portable record."""
    from confide.campaign import verify

    said = verify(pack)
    own = {path.name: verify(pack, own=path).findings[-1].verdict
           for path in sorted((folder / "own").glob(f"{pack.stem}-*.json"))}
    return {"signer": said.signer, "digest": said.digest, "title": said.title, "own": own,
            "findings": {each.check: each.verdict for each in said.findings},
            "details": {each.check: each.detail for each in said.findings if each.verdict != "holds"}}


def named(path: Path) -> dict[str, str]:
    """Under which digest a campaign file stands in stores and packs, and its kind."""
    from confide.campaign import Campaign

    it = Campaign.load(path)
    return {"content": it.file.digest, "kind": it.file.kind.name}


# ---- helpers


@contextmanager
def pictures(wanted: bool) -> Iterator[None]:
    """With the extra [plots], or as where it is not installed."""
    import vl_convert

    from confide.charts.render import available

    available.cache_clear()
    if not wanted:
        sys.modules["vl_convert"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules["vl_convert"] = vl_convert
        available.cache_clear()


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone at the end."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        yield Path(place)


@contextmanager
def tutorial() -> Iterator[None]:
    """The tutorial's kind, `histogram`, is installed."""
    import pytest

    from people.own_packages import installed_module

    with scratch() as site, pytest.MonkeyPatch.context() as patch, installed_module(
        HERE / "made_by_9376621e" / "private_histogram" / "__init__.py", "private_histogram",
        {"histogram": "private_histogram:KIND"}, site / "site", patch,
    ):
        yield


if __name__ == "__main__":
    with tutorial():
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "made_by_9376621e")
