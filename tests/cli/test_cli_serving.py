"""`confide serve` and `confide operators`: one command on SQLite, several processes, a graceful end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cli.commands import Run
from confide.contract import InvalidInput, Refused, kind
from confide.service.serving import listen
from service.parts import PASSWORD


@pytest.fixture
def password(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text(PASSWORD + "\n")
    return path


def test_operators_are_named(run: Run, password: Path) -> None:
    first = run("operators", "add", "ada", "--role", "admin", "--password-file", password)
    assert (first.code, first.out) == (0, "ada is an admin\n")
    assert run("operators", "add", "vera", "--role", "viewer", "--password-file", password).out == "vera is a viewer\n"
    taken = run("operators", "add", "ada", "--password-file", password)
    assert taken.code == 2
    assert "name: 'ada' is taken" in taken.err
    assert run("operators", "change", "vera", "--no-active").out == "vera: viewer, not active\n"
    assert run("operators", "list").out == "ada  admin\nvera  viewer  (not active)\n"
    last = run("operators", "change", "ada", "--role", "viewer")
    assert last.code == 3
    assert "without this admin, nobody could manage operators" in last.err
    assert run("operators", "change", "nobody", "--active").code == 2


def test_a_password_is_not_taken_from_a_pipe(run: Run) -> None:
    found = run("operators", "add", "ada")
    assert found.code == 2
    assert "--password-file" in found.err


def test_what_cannot_be_served(run: Run, tmp_path: Path) -> None:
    assert "data" in run("serve", "--data", tmp_path / "nowhere").err
    wrong = run("serve", "--base-url", "study.example/path")
    assert (wrong.code, "must be http://HOST" in wrong.err) == (2, True)
    (tmp_path / "token").write_text("short\n")
    short = run("serve", "--metrics-token", tmp_path / "token")
    assert (short.code, "too short" in short.err, "short\n" in short.err) == (2, True, False)


def test_operators_of_a_provider_are_named(run: Run, password: Path) -> None:
    issuer = "https://id.example/realms/study"
    run("operators", "add", "ada", "--role", "admin", "--password-file", password)
    added = run("operators", "add", "eve", "--role", "viewer", "--issuer", issuer, "--subject", "17")
    assert (added.code, added.out) == (0, "eve is a viewer\n")
    assert run("operators", "list").out == f"ada  admin\neve  viewer  by {issuer}\n"
    for wrong in (("--issuer", issuer), ("--subject", "17"),
                  ("--issuer", issuer, "--subject", "18", "--password-file", password),
                  ("--issuer", "http://id.example", "--subject", "18"), ("--issuer", issuer, "--subject", "17")):
        found = run("operators", "add", "mia", *wrong)
        assert found.code == 2, wrong
        assert re.search("issuer:|subject:", found.err)
    no_password = run("operators", "change", "eve", "--password-file", password)
    assert (no_password.code, "has no password in this service" in no_password.err) == (3, True)
    assert run("operators", "change", "eve", "--role", "operator").out == "eve: operator\n"


@pytest.mark.parametrize(("options", "said"), [
    (("--oidc-client", "confide"), "oidc-issuer"),
    (("--oidc-issuer", "http://id.example", "--oidc-client", "confide"), "must be https"),
    (("--oidc-issuer", "https://id.example"), "oidc-client"),
    (("--oidc-issuer", "https://id.example", "--oidc-client", "confide"), "CONFIDE_OIDC_SECRET"),
    (("--oidc-issuer", "https://id.example", "--oidc-client", "confide", "--oidc-secret-file", "nowhere"),
     "oidc-secret-file")])
def test_a_provider_that_cannot_be_set(
    options: tuple[str, ...], said: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONFIDE_OIDC_SECRET", raising=False)
    found = run("serve", *options)
    assert (found.code, said in found.err) == (2, True), found.err


@pytest.mark.slow
def test_a_provider_is_set_without_telling_its_secret(password: Path, run: Run, tmp_path: Path) -> None:
    """Neither the command line nor what processes are told has it; each reads the file."""
    secret = tmp_path / "secret"
    secret.write_text("a-secret-of-the-provider\n")
    run("operators", "add", "ada", "--role", "admin", "--password-file", password)
    with served("--oidc-issuer", "https://id.example", "--oidc-client", "confide", "--oidc-secret-file", str(secret),
                "--oidc-name", "the university") as (child, base):
        assert "Log in with the university" in httpx2.get(f"{base}/login").text
        for reported in ("cmdline", "environ"):
            assert b"a-secret-of" not in Path(f"/proc/{child.pid}/{reported}").read_bytes()
        child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        assert "a-secret-of" not in child.stderr.read()


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The service in processes of its own, once it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    child = subprocess.Popen([sys.executable, "-m", "confide", "serve", "--port", str(port), *arguments],
                             stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                if httpx2.get(f"{base}/health/ready").status_code == 200:
                    break
            except httpx2.TransportError:
                assert child.poll() is None
            time.sleep(0.05)
        yield child, base
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
        child.wait(60)
        assert child.stderr is not None
        child.stderr.close()


@pytest.mark.parametrize("workers", ["1", pytest.param("3", marks=pytest.mark.slow)])
def test_one_command_serves_and_ends_gracefully(workers: str, run: Run, password: Path, tmp_path: Path) -> None:
    run("operators", "add", "ada", "--role", "admin", "--password-file", password)
    counts = tmp_path / "token"
    counts.write_text("a token of twenty letters or more\n")
    with served("--workers", workers, "--metrics-token", str(counts)) as (child, base):
        with httpx2.Client(base_url=base, timeout=60.0) as client:
            token = client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).json()["token"]
            head = {"Authorization": f"Bearer {token}"}
            draft = client.post("/api/v1/drafts", json={"text": kind("bits").template}, headers=head).json()
            number = client.post(f"/api/v1/drafts/{draft['number']}/open", headers=head).json()["number"]
            client.post(f"/api/v1/campaigns/{number}/settle", json={"confirm": True}, headers=head)
            job: dict[str, Any] = {}
            for _ in range(600):
                job = client.get(f"/api/v1/campaigns/{number}/jobs/settle", headers=head).json()
                if job["state"] == "done":
                    break
                time.sleep(0.05)
            assert job["state"] == "done"
            assert client.get("/metrics").status_code == 401
            for _ in range(20):  # whichever process answers, it tells of all of them
                client.get("/api/v1/me", headers=head)
            metrics = client.get("/metrics", headers={"Authorization": f"Bearer {counts.read_text().strip()}"}).text
            assert 'confide_requests_total{method="GET",route="/me",status="200"} 20.0' in metrics
            with socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2])), timeout=60) as raw:
                raw.sendall(b"no HTTP at all\r\n\r\n")
                answer = b"".join(iter(lambda: raw.recv(4096), b"")).decode()
            assert answer.startswith("HTTP/1.1 400 ")
            for name in ("content-security-policy: default-src 'none'", "x-content-type-options: nosniff",
                         "cache-control: no-store"):
                assert name in answer.lower()
            part = b'--abc\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
            for body in (part + b"SECRET\r\n--abX", b"SECRET=1", b"--abc\r\nSECRET VALUE: 1\r\n\r\n",
                         part + b"1\r\n--abc--SECRET"):
                broken = client.post("/join", content=body, headers={
                    "Content-Type": "multipart/form-data; boundary=abc"})
                assert broken.status_code in (400, 401)
        child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        said = child.stderr.read()
        assert child.wait(60) in (0, -signal.SIGTERM)
    (first, *rest) = said.splitlines()
    assert first.startswith("confide serves http://")
    lines = [json.loads(line) for line in rest]  # and nothing else, from whatever library
    routes = {line.get("route") for line in lines}
    assert "SECRET" not in said
    assert not re.search("%[a-z]", said)  # where a library's message takes something
    assert routes.isdisjoint({"/join", "participants"})
    assert "/campaigns/{number}/settle" in routes
    assert token not in said
    assert not re.search(r"127\.0\.0\.1:\d+ ", said)  # nobody's address


def test_a_port_that_is_taken_is_one_plain_error(run: Run, password: Path) -> None:
    """Before anything says that the service is there; whoever has the port is left alone."""
    run("operators", "add", "ada", "--role", "admin", "--password-file", password)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for workers in ("1", "2"):
            found = run("serve", "--port", port, "--workers", workers)
            assert (found.code, found.out) == (3, "")
            assert found.err == (f"confide: port {port} of 127.0.0.1 is in use (end the process that uses this port, "
                                 "or choose another port with --port)\n")
    nowhere = run("serve", "--host", "192.0.2.7", "--port", port)
    assert (nowhere.code, "'192.0.2.7' is not an address of this machine" in nowhere.err) == (2, True)
    assert "serves" not in nowhere.err


def test_every_address_of_a_host_is_listened_on() -> None:
    """And what has to be given back is, where one of them is taken."""
    sockets = listen("localhost", 0)
    try:
        assert {each.getsockname()[0] for each in sockets} <= {"127.0.0.1", "::1"}
        with socket.create_connection(sockets[0].getsockname()[:2], timeout=5):
            pass
        with pytest.raises(Refused, match="is in use"):
            listen("localhost", sockets[0].getsockname()[1])
    finally:
        for each in sockets:
            each.close()
    with pytest.raises(InvalidInput, match="is not an address"):
        listen("no such host", 8000)


@pytest.mark.slow
def test_who_cannot_log_in_is_reported_how(run: Run) -> None:
    with served() as (child, _):
        child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        assert "confide operators add NAME --role admin" in child.stderr.read()
