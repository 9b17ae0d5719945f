"""Ed25519 signatures over canonical JSON. A signature proves something only to a reader who knew the key before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confide.contract.digests import canonical, digest
from confide.contract.files import MANIFEST

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["fingerprint", "sign", "signed_by", "statement"]


_WEAK = {bytes.fromhex(text) for text in (
    f"{'00' * 32}", f"01{'00' * 31}", f"ec{'ff' * 30}7f", f"ed{'ff' * 30}7f", f"ee{'ff' * 30}7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
)}
"""Encodings, without the sign bit, of curve points of small order. If a public key is a curve point of small order,
anybody can make a valid signature.
"""


def fingerprint(key: Ed25519PublicKey) -> str:
    """The first 160 bits of the key's SHA-256, as five groups of eight hexadecimal digits."""
    text = digest(key.public_bytes_raw())[:40]
    return "-".join(text[start : start + 8] for start in range(0, 40, 8))


def statement(kind: str, title: str, content: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The statement on a pack that the operator signs.

    Args:
        kind: the kind of the campaign.
        title: the title of the campaign.
        content: the digest of the campaign file.
        files: the files of the pack, as a mapping from path to bytes.
    """
    from confide.contract.outcome import FORMAT  # outcomes come with numpy, which keys do without

    return {"format": FORMAT, "kind": kind, "title": title, "content": content, "manifest": digest(files[MANIFEST]),
            "files": {path: digest(data) for path, data in sorted(files.items())}}


def sign(statement: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The statement together with the public key and the signature, both in hexadecimal digits.

    Example:
        >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
        >>> signed = sign({"title": "sleep"}, key)
        >>> signed_by(signed) == fingerprint(key.public_key()), signed_by({**signed, "title": "slept"})
        (True, None)
    """
    full = {**statement, "key": key.public_key().public_bytes_raw().hex()}
    return {**full, "signature": key.sign(canonical(full)).hex()}


def signed_by(signed: Mapping[str, Any]) -> str | None:
    """The fingerprint of the key that signed a statement. The result is None if the signature is wrong, or if anybody
    could have made the signature.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    statement = {name: value for name, value in signed.items() if name != "signature"}
    try:
        point = bytes.fromhex(str(statement["key"]))
        if (point[:-1] + bytes([point[-1] & 0x7F])) in _WEAK:
            return None
        key = Ed25519PublicKey.from_public_bytes(point)
        key.verify(bytes.fromhex(str(signed["signature"])), canonical(statement))
    except (InvalidSignature, LookupError, ValueError):
        return None
    return fingerprint(key)
