"""The proxy speaks TLS as a client's settings say, or refuses settings at once."""

from __future__ import annotations

import ssl
import subprocess

import pytest

from onceproof.spark_checks import Kafka, Unreliable
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.kafka.tls import context_of, without_tls
from tests.spark_checks.stores.kafka.own_brokers import certificate

TLS = {"security.protocol": "SSL"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Make the files of a key and its certificate."""
    key, made, _ = certificate(tmp_path_factory.mktemp("tls"), "client")
    return key, made


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (TLS | {"ssl.keystore.location": "k.p12"}, r"cannot use ssl\.keystore\.loca"),
        (TLS | {"ssl.engine.id": "x"}, r"cannot use ssl\.engine\.id"),
        ({"security.protocol": "SASL_SSL"}, "GSSAPI, which is the default"),
        (
            {"security.protocol": "sasl_plaintext", "sasl.mechanisms": "gssapi"},
            "makes sure of the name of the host",
        ),
    ],
)
def test_what_the_proxy_cannot_do_in_place_of_a_client_is_refused(settings, text):
    """In one sentence, with what to do."""
    with pytest.raises(StoreError, match=rf"is refused: .*{text}.*; help: test the "):
        Unreliable(Kafka("k1:9092", settings))


@pytest.mark.parametrize(
    ("protocol", "plain"), [("SSL", "plaintext"), ("sasl_ssl", "sasl_plaintext")]
)
def test_a_client_speaks_to_the_proxy_without_tls(protocol, plain):
    """All that is not about TLS stays."""
    settings = {
        "security.protocol": protocol,
        "ssl.ca.location": "ca.pem",
        "enable.ssl.certificate.verification": "true",
        "sasl.mechanism": "PLAIN",
    }

    found = without_tls(settings)

    assert found == {"security.protocol": plain, "sasl.mechanism": "PLAIN"}
    assert without_tls({"client.id": "a"}) == {"client.id": "a"}


def test_a_client_without_tls_has_no_context():
    """Its bytes need none."""
    assert context_of({}) is None
    assert context_of({"security.protocol": "SASL_PLAINTEXT"}) is None


def test_certificates_are_verified_unless_the_settings_say_otherwise(files):
    """As librdkafka does: the name of the host, too."""
    key, made = files
    strict = context_of(TLS | {"ssl.ca.location": str(made)})
    nameless = context_of(TLS | {"ssl.endpoint.identification.algorithm": "none"})
    blind = context_of(TLS | {"enable.ssl.certificate.verification": "false"})

    assert (strict.check_hostname, strict.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert strict.cert_store_stats()["x509"] == 1
    assert (nameless.check_hostname, nameless.verify_mode) == (False, ssl.CERT_REQUIRED)
    assert (blind.check_hostname, blind.verify_mode) == (False, ssl.CERT_NONE)
    texts = {"ssl.certificate.pem": made.read_text(), "ssl.key.pem": key.read_text()}
    assert context_of(TLS | texts | {"ssl.ca.pem": made.read_text()}) is not None


def test_a_file_that_cannot_be_used_is_named_and_its_password_is_not(files, tmp_path):
    """Nobody is asked for a password at the terminal."""
    key, made = files
    locked = tmp_path / "locked.key"
    command = ["openssl", "rsa", "-aes128", "-passout", "pass:s3cret"]
    subprocess.run(
        [*command, "-in", key, "-out", locked], check=True, capture_output=True
    )
    client = {"ssl.certificate.location": str(made), "ssl.key.location": str(locked)}

    with pytest.raises(StoreError, match="TLS settings of the Kafka brokers cannot"):
        context_of(TLS | {"ssl.ca.location": str(tmp_path / "none.pem")})
    with pytest.raises(StoreError, match="cannot be used: ") as caught:
        context_of(TLS | client | {"ssl.key.password": "wr0ng"})

    assert "wr0ng" not in str(caught.value)
    with pytest.raises(StoreError, match="cannot be used: "):
        context_of(TLS | client)
    assert context_of(TLS | client | {"ssl.key.password": "s3cret"}) is not None
