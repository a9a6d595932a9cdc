"""Brokers as a user has them: several, by their names, with TLS and passwords."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from contextlib import ExitStack, contextmanager

import pytest

from onceproof.spark_checks.stores.jars.connectors import server_jars
from onceproof.spark_checks.stores.jars.maven import fetched
from onceproof.spark_checks.stores.kafka import server as kafka_server

CLUSTER = "b25jZXByb29mLXRlc3RzMQ"
SECONDS = 60.0
LISTENERS = ("PLAINTEXT", "SSL", "SASL_SSL")
USER = 'username="shop" password="s3cret" user_shop="s3cret"'
JAAS = f"org.apache.kafka.common.security.plain.PlainLoginModule required {USER};"


def certificate(folder, name):
    """Make a key, and a certificate for localhost that vouches for itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is missing: apt-get install openssl")
    key, made = folder / f"{name}.key", folder / f"{name}.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        [*command, "-keyout", key, "-out", made], check=True, capture_output=True
    )
    both = folder / f"{name}.both"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return key, made, both


@contextmanager
def own_brokers(folder, count=2):
    """Run brokers; give their addresses by listener, and the settings of a client."""
    _, trusted, server = certificate(folder, "server")
    key, client, _ = certificate(folder, "client")
    ports = free_ports(1 + count * len(LISTENERS))
    controller = ports.pop()
    servers = []
    with ExitStack() as stack:
        for number in range(1, count + 1):
            mine = {name: ports.pop() for name in LISTENERS}
            own = folder / f"broker-{number}"
            own.mkdir()
            settings = {
                **kafka_server._SETTINGS,
                **roles(number, controller, mine),
                **secured(server, client),
                "log.dirs": str(own / "data"),
            }
            lines = "".join(f"{name}={value}\n" for name, value in settings.items())
            (own / "server.properties").write_text(lines)
            stack.callback(started(own, mine["PLAINTEXT"]).stop)
            found = {name: f"localhost:{port}" for name, port in mine.items()}
            servers.append(found)
        yield (
            {name: ",".join(one[name] for one in servers) for name in LISTENERS},
            {
                "security.protocol": "SSL",
                "ssl.ca.location": str(trusted),
                "ssl.certificate.location": str(client),
                "ssl.key.location": str(key),
            },
        )


def free_ports(count):
    """Find ports that nobody uses."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


def roles(number, controller, ports):
    """Let the first broker be the controller, too; clients know all as localhost."""
    bound = [f"{name}://127.0.0.1:{port}" for name, port in ports.items()]
    named = [f"{name}://localhost:{port}" for name, port in ports.items()]
    first = [f"CONTROLLER://127.0.0.1:{controller}"] if number == 1 else []
    protocols = [f"{name}:{name}" for name in LISTENERS]
    return {
        "process.roles": "broker,controller" if number == 1 else "broker",
        "node.id": str(number),
        "listeners": ",".join([*bound, *first]),
        "advertised.listeners": ",".join(named),
        "listener.security.protocol.map": ",".join(
            [*protocols, "CONTROLLER:PLAINTEXT"]
        ),
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
    }


def secured(server, client):
    """Let clients show a certificate, and a password on one of the listeners."""
    listener = "listener.name.sasl_ssl"
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(client),
        "ssl.client.auth": "required",
        f"{listener}.sasl.enabled.mechanisms": "PLAIN",
        f"{listener}.plain.sasl.jaas.config": JAAS,
    }


def started(folder, port):
    """Start a broker whose settings are in a folder; return what ends it."""
    classes = os.pathsep.join(map(str, fetched(server_jars("kafka", "broker"))))
    java = [kafka_server._java(), *kafka_server._JAVA, "-cp", classes]
    tool = ["kafka.tools.StorageTool", "format", f"--cluster-id={CLUSTER}"]
    subprocess.run(
        [*java, *tool, "--config=server.properties"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    kept = kafka_server.KeptBrokers(folder)
    try:
        command = [*java, "kafka.Kafka", "server.properties"]
        kept.ask("start", command=command, folder=str(folder))
        client = {"bootstrap.servers": f"127.0.0.1:{port}"}
        kept.ask("connect", client=client, seconds=SECONDS)
    except BaseException:
        kept.stop()
        raise
    return kept
