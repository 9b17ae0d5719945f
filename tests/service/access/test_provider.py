"""Logging in by the word of a provider (OpenID Connect): the whole way, and what may go wrong in a browser."""

from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import FastAPI
from joserfc.jwk import ECKey, RSAKey
from sqlalchemy import select

from confide.campaign.store.schema import metadata
from confide.contract import InvalidInput
from confide.service.access import Role
from confide.service.shell import trying
from confide.service.shell.guards import OPERATOR_COOKIE
from confide.service.shell.settings import OIDC_SECRET, OidcSettings
from confide.service.web.log_in import LOGIN_COOKIE
from service.access.identity_provider import (
    CLIENT,
    CURVE,
    OTHER,
    SECRET,
    SIGNING,
    IdentityProvider,
)
from service.access.logging_in import BASE, BEGIN, UNBELIEVED, browser, come_back, refused, sent_back, trusting
from service.clients import serving
from service.parts import PASSWORD

# ---- the whole way


def test_an_operator_comes_in_by_the_word_of_a_provider(app: FastAPI, provider: IdentityProvider) -> None:
    client = browser(app)
    begun = client.get("/login/provider")
    assert begun.status_code == 303
    asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.headers["location"]).query).items()}
    assert begun.headers["location"].startswith(f"{provider.base}/authorize?realm=study&")
    assert {**asked, "state": "", "nonce": "", "code_challenge": ""} == {
        "realm": "study", "response_type": "code", "client_id": CLIENT, "scope": "openid", "state": "", "nonce": "",
        "redirect_uri": f"{BASE}/login/provider/answer", "code_challenge": "", "code_challenge_method": "S256"}
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert all(len(asked[name]) == 43 for name in ("state", "nonce", "code_challenge"))
    cookie = begun.headers["set-cookie"]
    assert re.fullmatch(
        rf"{LOGIN_COOKIE}=[\w-]{{43}}; HttpOnly; Max-Age=600; Path=/; SameSite=lax", cookie)
    secret = client.cookies[LOGIN_COOKIE]
    assert secret not in begun.headers["location"]

    back = httpx2.get(begun.headers["location"]).headers["location"]
    done = client.get(back)
    assert (done.status_code, done.headers["location"]) == (303, "/desk")
    kept = done.headers.get_list("set-cookie")
    assert any(re.search(rf"^{OPERATOR_COOKIE}=.*; HttpOnly; .*SameSite=strict", each) for each in kept)
    assert any(each.startswith(f'{LOGIN_COOKIE}=""; ') and "Max-Age=0" in each for each in kept)
    assert "eve" in client.get("/desk").text
    assert provider.shown[0]["code_verifier"] not in (secret, asked["state"], asked["nonce"])
    token = client.cookies[OPERATOR_COOKIE]
    me = client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).json()
    assert (me["name"], me["role"], me["issuer"]) == ("eve", "operator", provider.base)
    assert app.state.parts.operators.check("eve", "") is None


def test_over_tls_cookies_go_over_tls_alone(tmp_path: Path, provider: IdentityProvider) -> None:
    with trusting(tmp_path, provider.base, base="https://study.example") as app:
        client = browser(app, "https://study.example")
        begun = client.get("/login/provider")
        assert "; Secure" in begun.headers["set-cookie"]
        assert "redirect_uri=https%3A%2F%2Fstudy.example%2Flogin%2Fprovider%2Fanswer" in begun.headers["location"]
        done = client.get(httpx2.get(begun.headers["location"]).headers["location"])
        assert done.headers["location"] == "/desk"
        assert all("Secure" in each for each in done.headers.get_list("set-cookie"))


@pytest.mark.parametrize(("ways", "used"), [
    (None, "client_secret_basic"), (["client_secret_post"], "client_secret_post"),
    (["private_key_jwt", "client_secret_post", "client_secret_basic"], "client_secret_basic")])
def test_the_provider_knows_the_service_by_its_secret(
    ways: list[str] | None, used: str, app: FastAPI, provider: IdentityProvider
) -> None:
    provider.discovery = {} if ways is None else {"token_endpoint_auth_methods_supported": ways}
    assert come_back(browser(app)).headers["location"] == "/desk"
    assert provider.known_by == [used]


@pytest.mark.parametrize("variant", ["curve", "without a key's name", "audiences", "unnamed issuer", "clocks differ"])
def test_what_a_provider_may_do(variant: str, app: FastAPI, provider: IdentityProvider) -> None:
    now = int(time.time())
    match variant:
        case "curve":
            provider.key, provider.algorithm = CURVE, "ES256"
            provider.published.append(CURVE.as_dict(private=False))
        case "without a key's name":
            provider.key = RSAKey.import_key({name: value for name, value in SIGNING.as_dict(private=True).items()
                                              if name != "kid"})
            provider.published += [{**OTHER.as_dict(private=False), "use": "enc"}, {"kty": "AKP"}, "nothing",
                                   {"kty": "RSA", "n": "?" * 400, "e": "AQAB"}]
        case "audiences":
            provider.claims = {"aud": ["https://api.example", CLIENT], "azp": CLIENT}
        case "unnamed issuer":
            provider.discovery = {"authorization_response_iss_parameter_supported": False}
            provider.back = {"iss": None}
        case "clocks differ":
            provider.claims = {"iat": now + 30, "exp": now - 30}
    assert come_back(browser(app)).headers["location"] == "/desk"


def test_addresses_and_keys_are_kept_and_new_keys_are_found(own: FastAPI, provider: IdentityProvider) -> None:
    reported = own.state.parts.provider
    now = [time.time()]
    reported.clock = lambda: now[0]
    for _ in range(3):
        assert come_back(browser(own)).headers["location"] == "/desk"
    asked = ["/.well-known/openid-configuration", "/keys"]
    assert [path for path in provider.calls if path in asked] == asked
    provider.key = OTHER
    provider.published = [OTHER.as_dict(private=False)]
    refused(come_back(browser(own)), 502, UNBELIEVED)  # the keys were asked for a moment ago
    assert provider.calls.count("/keys") == 1
    now[0] += 31
    assert come_back(browser(own)).headers["location"] == "/desk"
    assert provider.calls.count("/keys") == 2
    now[0] += 3700
    provider.claims = {"iat": int(now[0]), "exp": int(now[0]) + 60}
    begun = own.state.parts.logins
    begun._clock = reported.clock
    assert come_back(browser(own)).headers["location"] == "/desk"
    assert [provider.calls.count(path) for path in asked] == [2, 3]


# ---- who is no operator


def test_a_stranger_receives_their_own_identity(own: FastAPI, provider: IdentityProvider) -> None:
    provider.subject = "<b>18</b>"
    before = len(own.state.parts.operators.all())
    client = browser(own)
    answer = come_back(client)
    refused(answer, 403, "you are not an operator of this service")
    assert f"<code>{provider.base}</code>" in answer.text
    assert "<code>&lt;b&gt;18&lt;/b&gt;</code>" in answer.text
    assert "eve@study.example" not in answer.text
    assert len(own.state.parts.operators.all()) == before
    assert client.get("/desk").headers["location"] == "/login"
    ada = client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).json()["token"]
    added = client.post("/api/v1/operators", headers={"Authorization": f"Bearer {ada}"}, json={
        "name": "mia", "role": "viewer", "issuer": provider.base, "subject": "<b>18</b>"})
    assert (added.status_code, added.json()["issuer"]) == (201, provider.base)
    assert come_back(client).headers["location"] == "/desk"
    assert "mia" in client.get("/desk").text


@pytest.mark.parametrize("body", [
    {}, {"password": PASSWORD, "issuer": "https://id.example", "subject": "17"}, {"issuer": "https://id.example"},
    {"subject": "17"}, {"password": PASSWORD, "subject": "17"}, {"issuer": "http://id.example", "subject": "17"}])
def test_an_operator_is_known_in_one_way(body: dict[str, str], app: FastAPI) -> None:
    client = browser(app)
    ada = client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).json()["token"]
    answer = client.post("/api/v1/operators", headers={"Authorization": f"Bearer {ada}"},
                         json={"name": "mia", "role": "viewer", **body})
    assert answer.status_code == 422
    assert PASSWORD not in answer.text


def test_an_address_that_somebody_has_says_nothing(app: FastAPI, provider: IdentityProvider) -> None:
    """E-mail addresses and names change owners: neither lets anybody in."""
    provider.subject, provider.claims = "18", {"email": "eve", "preferred_username": "eve", "name": "eve"}
    refused(come_back(browser(app)), 403, "you are not an operator of this service")


def test_the_same_subject_of_another_issuer_is_somebody_else(tmp_path: Path, provider: IdentityProvider) -> None:
    with trusting(tmp_path, provider.base) as app:
        app.state.parts.operators.admit("mia", Role.ADMIN, issuer="https://id.example", subject="18")
        provider.subject = "18"
        refused(come_back(browser(app)), 403, "you are not an operator of this service")


def test_who_is_not_active_stays_outside(own: FastAPI) -> None:
    parts = own.state.parts
    client = browser(own)
    assert come_back(client).headers["location"] == "/desk"
    parts.operators.change(parts.operators.named("eve").number, active=False)
    assert client.get("/desk").headers["location"] == "/login"
    refused(come_back(client), 403, "not an operator of this service any more")


def test_an_operator_of_a_provider_has_no_password(app: FastAPI) -> None:
    client = browser(app)
    for password in ("", "None", PASSWORD):
        assert client.post("/login", data={"name": "eve", "password": password}).status_code == 401


# ---- answers that belong to no log-in of this browser


def test_an_answer_counts_once(app: FastAPI) -> None:
    client = browser(app)
    back = sent_back(client)
    kept = {"Cookie": f"{LOGIN_COOKIE}={client.cookies[LOGIN_COOKIE]}"}
    assert client.get(back).headers["location"] == "/desk"
    client.cookies.clear()
    refused(client.get(back, headers=kept), 400, BEGIN)


def test_an_answer_counts_in_its_browser_alone(app: FastAPI, provider: IdentityProvider) -> None:
    """Otherwise somebody could be logged in as a stranger, or her code be used by one."""
    one, other = browser(app), browser(app)
    back = sent_back(one)
    refused(other.get(back), 400, BEGIN)
    sent_back(other)
    refused(other.get(back), 400, BEGIN)
    assert not provider.shown  # no code was shown to the provider
    assert one.get(back).headers["location"] == "/desk"  # nothing of hers was used up


@pytest.mark.parametrize("changed", ["", "state=", "state=%00&code=a", "code=a", "state=STATE", "state=STATE&code=",
                                     "state=STATE&state=STATE&code=a", "state=STATE&code=a&code=b"])
def test_an_answer_that_lacks_something(changed: str, app: FastAPI, provider: IdentityProvider) -> None:
    client = browser(app)
    state = parse_qs(urlsplit(sent_back(client)).query)["state"][0]
    refused(client.get(f"/login/provider/answer?{changed.replace('STATE', state)}"), 400, BEGIN)
    assert not provider.shown


def test_an_answer_that_comes_too_late(own: FastAPI) -> None:
    logins, now = own.state.parts.logins, time.time()
    logins._clock = lambda: now - 600
    client = browser(own)
    back = sent_back(client)
    logins._clock = lambda: now
    refused(client.get(back), 400, BEGIN)


def test_nobody_is_sent_elsewhere_afterwards(app: FastAPI) -> None:
    client = browser(app)
    for more in ("next=https://evil.example", "redirect_uri=//evil.example", "return_to=https://evil.example"):
        begun = client.get(f"/login/provider?{more}")
        assert "evil" not in begun.headers["location"]
        back = httpx2.get(begun.headers["location"]).headers["location"]
        assert client.get(f"{back}&{more}").headers["location"] == "/desk"


def test_another_site_begins_nothing(app: FastAPI, provider: IdentityProvider) -> None:
    answer = browser(app).get("/login/provider", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert not provider.calls


def test_a_visitor_from_another_site_is_sent_on_by_a_page(app: FastAPI) -> None:
    """A browser shows no strict cookie to what it reaches from the provider's page, but does so to what we lead to."""
    client = browser(app)
    cross = {"Sec-Fetch-Site": "cross-site"}
    arrived = client.get("/desk", headers=cross)
    assert (arrived.status_code, client.get("/desk").headers["location"]) == (200, "/login")
    assert '<meta http-equiv="refresh" content="0;url=/desk">' in arrived.text
    assert come_back(client).headers["location"] == "/desk"
    assert "eve" in client.get("/desk", headers=cross).text


# ---- a provider that says no, or something else than it should


def test_a_declined_sign_in(app: FastAPI, provider: IdentityProvider) -> None:
    provider.back = {"code": None, "error": "access_denied", "error_description": "<script>"}
    answer = come_back(browser(app))
    refused(answer, 403, "not to confirm your identity")
    assert "&lt;script" not in answer.text


def test_a_provider_that_answers_with_an_error(app: FastAPI, provider: IdentityProvider) -> None:
    provider.back = {"error": "server_error"}
    refused(come_back(browser(app)), 502, UNBELIEVED)
    assert not provider.shown


@pytest.mark.parametrize("iss", ["https://other.example", "", None])
def test_a_wrong_issuer(iss: str | None, app: FastAPI, provider: IdentityProvider) -> None:
    """RFC 9207: whoever comes back says from where, where the provider says that it has her say so."""
    provider.back = {"iss": iss}
    refused(come_back(browser(app)), 502, UNBELIEVED)
    assert not provider.shown


# ---- limits, secrets, settings


def test_attempts_by_a_provider_become_slow(
    tmp_path: Path, provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def noted(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(trying, "sleep", noted)
    with trusting(tmp_path, provider.base, attempts_at_ease=3) as app:
        client = browser(app)
        assert [client.get("/login/provider").status_code for _ in range(5)] == [303] * 5
        assert waited == pytest.approx([0.1, 0.2])
        assert client.post("/login", data={"name": "ada", "password": PASSWORD}).status_code == 303  # another door
        assert [client.get("/login/provider/answer?state=a&code=b").status_code for _ in range(5)] == [400] * 5
        assert waited == pytest.approx([0.1, 0.2, 0.1, 0.2])


def test_no_secret_is_reported_or_stored(
    own: FastAPI, provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the service's secret nor codes, states, verifiers and the provider's tokens: in no page, line, table."""
    texts, secrets = [], [SECRET, "a+secret", "access-of-the-provider", "refresh-of-the-provider"]
    with caplog.at_level(logging.DEBUG):
        client = browser(own)
        for wrong in (False, True):
            provider.claims = {"nonce": "other"} if wrong else {}
            back = sent_back(client)
            secrets += [client.cookies[LOGIN_COOKIE], parse_qs(urlsplit(back).query)["state"][0]]
            texts.append(client.get(back).text)
            secrets += [provider.shown[-1]["code_verifier"], provider.shown[-1]["code"], provider.asked[-1]["nonce"]]
        texts += [client.get(path).text for path in ("/login", "/desk", "/metrics", "/api/v1/openapi.json")]
    said = [json.dumps({name: str(value) for name, value in vars(record).items()})
            for record in caplog.records if not record.name.startswith(("asyncio", "uvicorn"))]
    assert any("the provider of log-ins failed: the provider's token is not for this log-in: "
               "a wrong claim nonce" in line for line in said)
    ours = [line for line in said if '"name": "confide' in line]
    with own.state.parts.store.database.reading() as connection:
        stored = [repr(connection.execute(select(table)).all()) for table in metadata.tables.values()]
    settings = own.state.parts.settings
    for text in (*texts, *ours, *stored, repr(settings), settings.model_dump_json(), repr(own.state.parts.provider),
                 repr(vars(own.state.parts.logins))):
        for secret in secrets:
            assert secret not in text
    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert {record.name for record in warned} == {"confide.service"}
    assert not any(secret in line for line in said if "WARNING" in line for secret in secrets)


def test_the_log_in_page_offers_what_there_is(app: FastAPI, tmp_path: Path) -> None:
    with_it = browser(app).get("/login").text
    assert '<a class="button" href="/login/provider">Log in with 127.0.0.1</a>' in with_it
    assert 'name="password"' in with_it
    (tmp_path / "other").mkdir()
    with serving(tmp_path / "other") as (other, _):
        client = browser(other)
        assert "/login/provider" not in client.get("/login").text
        assert client.get("/login/provider").status_code == 404
        assert client.get("/login/provider/answer?state=a&code=b").status_code == 404
    named = tmp_path / "named"
    named.mkdir()
    with trusting(named, "https://id.example", name="Uni & Co") as other:
        assert "Log in with Uni &amp; Co" in browser(other).get("/login").text


def test_the_secret_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OIDC_SECRET, raising=False)
    (tmp_path / "empty").write_text("\nsecond line")
    (tmp_path / "secret").write_text("from a file\nmore")
    issuer = "https://id.example"
    for broken in ({}, {"secret_file": tmp_path / "nowhere"}, {"secret_file": tmp_path / "empty"}):
        with pytest.raises(InvalidInput):
            OidcSettings(issuer=issuer, client="confide", **broken).secret()  # type: ignore[arg-type]
    monkeypatch.setenv(OIDC_SECRET, "from the environment")
    assert OidcSettings(issuer=issuer, client="confide").secret() == "from the environment"
    found = OidcSettings(issuer=issuer, client="confide", secret_file=tmp_path / "secret")
    assert found.secret() == "from a file"
    assert "from a file" not in found.model_dump_json() + repr(found)
    for wrong in ("http://id.example", "id.example", "https://id.example?a=b"):
        with pytest.raises(ValueError, match="must be https"):
            OidcSettings(issuer=wrong, client="confide")


def test_curves_and_names_of_keys_are_the_providers_own() -> None:
    """The control: keys that tests sign with are what the provider publishes, without their private halves."""
    for key in (SIGNING, OTHER, CURVE):
        assert isinstance(key, RSAKey | ECKey)
        assert "d" in key.as_dict(private=True)
        assert "d" not in key.as_dict(private=False)
