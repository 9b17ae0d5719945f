"""Checks of an ID token: the signed statement of an identity provider about a person. No part of a token is used before
the whole token was checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import BadSignatureError, ClaimError, InvalidKeyIdError, JoseError, UnsupportedAlgorithmError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

from confide.contract.errors import ConfideError
from confide.service.access.addresses import is_subject

__all__ = ["ALGORITHMS", "ProviderFailed", "UnknownKey", "checked_subject", "signing_keys"]

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Names of the signature algorithms that a provider may use. Each of them uses a key pair, of which the provider
publishes only the public key.
"""

_LEEWAY = 60  # seconds that two clocks may differ
_MODULUS = 342  # letters of an RSA key of 2048 bits
_CLAIMS = ("iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub", "amr", "auth_time")
_LONGEST = 64 << 10  # letters of a token


class ProviderFailed(ConfideError):
    """Error: another service gave no trustworthy identification of a person.

    Args:
        reason: reason in the words of this service, without any data that the other service sent.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class UnknownKey(ProviderFailed):
    """Error: the signature of the token fits none of the provider's known keys. The provider may have new keys."""


def signing_keys(published: Mapping[str, Any]) -> KeySet:
    """The signing keys among the keys that a provider has published.

    Shared secrets, encryption keys, keys that are too short and unreadable keys are skipped.

    Args:
        published: the provider's JSON Web Key Set (RFC 7517).

    Raises:
        ProviderFailed: no signing key is left.
    """
    found = []
    listed = published.get("keys")
    for each in listed if isinstance(listed, list) else ():
        if not isinstance(each, dict) or each.get("kty") not in ("RSA", "EC") or each.get("use", "sig") != "sig":
            continue
        if each["kty"] == "RSA" and len(str(each.get("n", ""))) < _MODULUS:
            continue
        try:
            found.append(JWKRegistry.import_key(each))
        except (JoseError, ValueError, TypeError):
            continue
    if not found:
        raise ProviderFailed("the provider publishes no key for signatures")
    return KeySet(found)


def checked_subject(
    token: object, keys: KeySet, *, issuer: str, client: str, nonce: str, begun: int, now: int,
    algorithms: Collection[str] = ALGORITHMS
) -> str:
    """The subject that a token names, after its signature and its claims were checked.

    Args:
        token: the provider's ID token.
        keys: keys with which the provider signs.
        issuer: address of the provider.
        client: name under which the provider knows this service.
        nonce: random value of this log-in, which the token must repeat.
        begun: start of the log-in, in seconds since 1970; an older token is refused.
        now: present time, in seconds since 1970.
        algorithms: algorithms with which the provider may sign; algorithms outside `ALGORITHMS` are ignored.

    Raises:
        UnknownKey: the signature fits none of the keys.
        ProviderFailed: any other check fails.
    """
    allowed = [each for each in ALGORITHMS if each in algorithms]
    if not allowed:  # an empty list would allow what the library recommends
        raise ProviderFailed("the provider's way to sign is not accepted")
    if not isinstance(token, str) or not 0 < len(token) <= _LONGEST:
        raise ProviderFailed("the provider's answer has no token")
    try:
        read = jwt.decode(token, keys, registry=JWSRegistry(algorithms=allowed, strict_check_header=False))
    except (InvalidKeyIdError, BadSignatureError):
        raise UnknownKey("the signature of the provider's token fits none of its keys") from None
    except UnsupportedAlgorithmError:
        raise ProviderFailed("the signature of the provider's token has a kind that is not accepted") from None
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProviderFailed("the provider's token cannot be read") from None
    claims = CodeIDToken(
        read.claims, read.header,
        {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client},
         "sub": {"essential": True}, "nonce": {"essential": True, "value": nonce}},
        {"nonce": nonce, "client_id": client})
    try:
        claims.validate(now=now, leeway=_LEEWAY)
    except ClaimError as error:
        claim = f"claim {error.claim}" if error.claim in _CLAIMS else "claim"
        raise ProviderFailed(f"the provider's token is not for this log-in: a wrong {claim}") from None
    if claims["iss"] != issuer:
        raise ProviderFailed("the provider's token is not for this log-in: a wrong claim iss")
    if not claims["iat"] >= begun - _LEEWAY:
        raise ProviderFailed("the provider's token is not for this log-in: a wrong claim iat")
    subject = claims["sub"]
    if not is_subject(subject):
        raise ProviderFailed("the provider's token names nobody")
    return str(subject)
