"""An identity provider: another service that identifies operators by OpenID Connect.

The provider's addresses and keys are read from the provider's published description, and kept for a limited time. The
service uses only the identity that the provider sends. Anything else, such as an access token, is discarded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import quote_plus

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc.jwk import KeySet

from confide.service.access.addresses import is_safe
from confide.service.access.id_tokens import (
    ALGORITHMS,
    ProviderFailed,
    UnknownKey,
    checked_subject,
    signing_keys,
)
from confide.service.access.logins import Begun

__all__ = ["Provider"]

_KEPT = 3600.0  # seconds that addresses and keys are kept
_ANEW = 30.0  # seconds before keys are asked for again because a signature fits none
_LARGEST = 256 << 10  # bytes of an answer
_AT_ONCE = 4  # conversations of a process: a provider that is slow holds up no more than these
_HEADER, _IN_BODY = "client_secret_basic", "client_secret_post"
_SCOPE = "openid"  # the identity, and nothing besides


@dataclass(frozen=True, kw_only=True)
class _Published:
    """The provider's published description of itself."""

    authorization: str
    token: str
    keys: str
    algorithms: tuple[str, ...]
    secret_in_body: bool
    names_itself: bool


class Provider:
    """An identity provider, with the settings of this service for this provider.

    Args:
        issuer: address of the provider. Only operators with this issuer can log in through the provider.
        client: name under which the provider knows this service.
        secret: secret by which the provider recognises this service.
        back: address of this service to which the provider sends people back.
        seconds: time limit for one step of the provider's answer, in seconds; all steps together may take twice as
            long.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, *, issuer: str, client: str, secret: str, back: str, seconds: float = 5.0,
                 clock: Callable[[], float] = time.time) -> None:
        self.issuer, self.seconds, self.clock = issuer, seconds, clock
        self._client, self._secret, self._back = client, secret, back
        self._free = BoundedSemaphore(_AT_ONCE)
        self._kept: dict[str, tuple[float, Any]] = {}

    def address(self, begun: Begun) -> str:
        """The address at the provider to which a person's browser is sent for identification.

        Raises:
            ProviderFailed: the provider does not publish the address.
        """
        with self._talking() as client:
            url, _ = client.create_authorization_url(self._published(client).authorization, state=begun.state,
                                                     nonce=begun.nonce, code_verifier=begun.verifier)
        return str(url)

    def subject(self, begun: Begun, code: str, named: str | None = None) -> str:
        """The provider's identifier of the person who returned with a code.

        Args:
            begun: log-in with which the person returned.
            code: one-time code of the provider with which the person returned.
            named: issuer that the provider named when the person returned (RFC 9207); None if no issuer was named.

        Raises:
            ProviderFailed: the provider does not give the identifier, or a check of its answer fails.
        """
        with self._talking() as client:
            published = self._published(client)
            if named != self.issuer and (named is not None or published.names_itself):
                raise ProviderFailed("the answer to a log-in comes from another issuer")
            token = client.fetch_token(
                published.token, grant_type="authorization_code", code=code, code_verifier=begun.verifier,
                auth=None if published.secret_in_body else self._basic()).get("id_token")

            def named_by(keys: KeySet) -> str:
                return checked_subject(token, keys, issuer=self.issuer, client=self._client, nonce=begun.nonce,
                                       begun=begun.at, now=int(self.clock()), algorithms=published.algorithms)

            try:
                return named_by(self._keys(client, published, _KEPT))
            except UnknownKey:  # it may have new ones
                return named_by(self._keys(client, published, _ANEW))

    def _basic(self) -> httpx2.BasicAuth:
        """Basic authentication by RFC 6749, 2.3.1: name and secret are first encoded as in a form."""
        return httpx2.BasicAuth(quote_plus(self._client), quote_plus(self._secret))

    @contextmanager
    def _talking(self) -> Iterator[Any]:
        """Client for one conversation with the provider. Every error becomes a `ProviderFailed` with a reason in this
        service's own words.
        """
        if not self._free.acquire(blocking=False):
            raise ProviderFailed("the provider gets too many requests at once")
        end = time.monotonic() + 2 * self.seconds
        try:
            with OAuth2Client(
                self._client, self._secret, token_endpoint_auth_method=_IN_BODY, scope=_SCOPE,
                redirect_uri=self._back, code_challenge_method="S256", timeout=self.seconds, follow_redirects=False,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                event_hooks={"response": [lambda answer: _bound(answer, end)]}) as client:
                yield client
        except httpx2.TimeoutException:
            raise ProviderFailed("the provider does not answer in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError):
            raise ProviderFailed("the provider cannot be reached, or answers with an error") from None
        except AuthlibBaseError:
            raise ProviderFailed("the provider does not accept the code, or does not know this service") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ProviderFailed("the provider's answer cannot be read") from None
        finally:
            self._free.release()

    def _published(self, client: Any) -> _Published:
        found: _Published = self._once(
            "published", _KEPT, lambda: self._read(
                _json(client, self.issuer.rstrip("/") + "/.well-known/openid-configuration")))
        return found

    def _read(self, said: dict[str, Any]) -> _Published:
        if said.get("issuer") != self.issuer:
            raise ProviderFailed("the provider has another address for itself than the settings of this service")
        places = {name: said.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        if not all(is_safe(each) for each in places.values()):
            raise ProviderFailed("the provider names an invalid address, or an address without TLS")
        if "S256" not in _texts(said, "code_challenge_methods_supported", "S256"):
            raise ProviderFailed("the provider does not support a challenge with the code (PKCE)")
        ways = _texts(said, "token_endpoint_auth_methods_supported", _HEADER)
        if not {_HEADER, _IN_BODY} & set(ways):
            raise ProviderFailed("the provider accepts no secret of this service")
        return _Published(
            authorization=str(places["authorization_endpoint"]), token=str(places["token_endpoint"]),
            keys=str(places["jwks_uri"]),
            algorithms=tuple(_texts(said, "id_token_signing_alg_values_supported", *ALGORITHMS)),
            secret_in_body=_HEADER not in ways,
            names_itself=said.get("authorization_response_iss_parameter_supported") is True)

    def _keys(self, client: Any, published: _Published, age: float) -> KeySet:
        found: KeySet = self._once("keys", age, lambda: signing_keys(_json(client, published.keys)))
        return found

    def _once(self, what: str, age: float, get: Callable[[], Any]) -> Any:
        """Value that was fetched less than `age` seconds ago; if it is older, it is fetched again."""
        known = self._kept.get(what)
        if known is None or not 0.0 <= self.clock() - known[0] < age:
            known = self._kept[what] = (self.clock(), get())
        return known[1]


class _Bounded(httpx2.SyncByteStream):
    """Bytes of an answer, with limits on their number and on the time that they take."""

    def __init__(self, stream: httpx2.SyncByteStream, end: float) -> None:
        self._stream, self._end = stream, end

    def __iter__(self) -> Iterator[bytes]:
        seen = 0
        for part in self._stream:
            seen += len(part)
            if seen > _LARGEST:
                raise ValueError("too large")
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("too slow")
            yield part

    def close(self) -> None:
        self._stream.close()


def _bound(answer: httpx2.Response, end: float) -> None:
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise ValueError("packed")  # a small answer could become a large one
    if isinstance(answer.stream, httpx2.SyncByteStream):
        answer.stream = _Bounded(answer.stream, end)


def _json(client: Any, url: str) -> dict[str, Any]:
    """JSON object that is published at an address."""
    answer = client.request("GET", url, withhold_token=True, auth=None)
    answer.raise_for_status()
    found = answer.json()
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


def _texts(said: dict[str, Any], name: str, *usual: str) -> list[str]:
    """List of texts under a name; if there is no list, the usual texts."""
    found = said.get(name)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else list(usual)
