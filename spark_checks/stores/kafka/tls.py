"""What a client's settings say about TLS, for the proxy that connects in its place.

The proxy reads requests, so a client speaks to it without TLS, and the proxy speaks TLS
to the brokers, with the client's certificates.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROTOCOL = "security.protocol"
_PLAIN_OF = {"ssl": "plaintext", "sasl_ssl": "sasl_plaintext"}
_MECHANISMS = ("sasl.mechanisms", "sasl.mechanism")
_BY_NAME = "GSSAPI"
_VERIFIES = "enable.ssl.certificate.verification"
_NAMES = "ssl.endpoint.identification.algorithm"
_CA, _CA_TEXT, _REVOKED = "ssl.ca.location", "ssl.ca.pem", "ssl.crl.location"
_CERTIFICATE, _CERTIFICATE_TEXT = "ssl.certificate.location", "ssl.certificate.pem"
_KEY, _KEY_TEXT = "ssl.key.location", "ssl.key.pem"
_PASSWORD, _CIPHERS = "ssl.key.password", "ssl.cipher.suites"
_USED = (
    *(_NAMES, _CA, _CA_TEXT, _REVOKED, _CERTIFICATE, _CERTIFICATE_TEXT),
    *(_KEY, _KEY_TEXT, _PASSWORD, _CIPHERS),
)
_TLS = ("ssl.", "enable.ssl.")
_NO = ("false", "f", "0")


def unreadable(settings: Mapping[str, str]) -> str:
    """Say why nobody can stand between a client and its brokers; empty if one can."""
    protocol = _protocol(settings)
    if protocol.startswith("sasl"):
        given = [settings[name] for name in _MECHANISMS if name in settings]
        if _BY_NAME in {one.upper() for one in given or [_BY_NAME]}:
            return (
                "a client with sasl.mechanism GSSAPI, which is the default, makes sure "
                "of the name of the host that it connects to, and Onceproof's is "
                "another one"
            )
    if protocol in _PLAIN_OF:
        known = (*_USED, _VERIFIES)
        others = [n for n in settings if n.startswith(_TLS) and n not in known]
        if others:
            return (
                "Onceproof reads the requests of a Kafka client, so it connects to the "
                f"brokers in place of the client, and it cannot use {others[0]}; "
                f"certificates and keys are read from {_CA}, {_CERTIFICATE} and {_KEY}"
            )
    return ""


def without_tls(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a client that speaks to the proxy: without TLS."""
    plain = _PLAIN_OF.get(_protocol(settings))
    if plain is None:
        return dict(settings)
    kept = {n: v for n, v in settings.items() if not n.startswith(_TLS)}
    return {**kept, _PROTOCOL: plain}


def context_of(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return how to speak TLS to the brokers, or None where clients do not.

    Raises ``StoreError`` where a file of the settings cannot be used.
    """
    if _protocol(settings) not in _PLAIN_OF:
        return None
    try:
        return _context(settings)
    except (OSError, ValueError) as error:
        message = f"the TLS settings of the Kafka brokers cannot be used: {error}"
        raise StoreError(message) from None


def _context(settings: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    place = settings.get(_CA, "")
    if place == "probe":  # librdkafka's word for the system's certificates
        place = ""
    if place or _CA_TEXT in settings:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if place:
            named = {"capath" if Path(place).is_dir() else "cafile": place}
            context.load_verify_locations(**named)
        if _CA_TEXT in settings:
            context.load_verify_locations(cadata=settings[_CA_TEXT])
    if _REVOKED in settings:
        context.load_verify_locations(cafile=settings[_REVOKED])
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    verifies = str(settings.get(_VERIFIES, "true")).lower() not in _NO
    named_hosts = settings.get(_NAMES, "https").lower() != "none"
    context.check_hostname = verifies and named_hosts
    if not verifies:
        context.verify_mode = ssl.CERT_NONE
    if _CIPHERS in settings:
        context.set_ciphers(settings[_CIPHERS])
    password = settings.get(_PASSWORD, "")  # never asked for at the terminal
    texts = [settings[n] for n in (_KEY_TEXT, _CERTIFICATE_TEXT) if n in settings]
    if texts:
        _load_texts(context, texts, password)
    elif _CERTIFICATE in settings:
        key = settings.get(_KEY)
        context.load_cert_chain(settings[_CERTIFICATE], key, password)
    return context


def _load_texts(context: ssl.SSLContext, texts: list[str], password: str) -> None:
    """Load a key and a certificate that are no files."""
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "w") as file:
            file.write("\n".join(texts))
        context.load_cert_chain(path, password=password)
    finally:
        Path(path).unlink()


def _protocol(settings: Mapping[str, str]) -> str:
    return str(settings.get(_PROTOCOL, "plaintext")).lower()
