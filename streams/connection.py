"""How to reach a Kafka cluster, said once and translated for each of the three clients.

The ledger uses confluent-kafka, administration kafka-python, and Faust aiokafka; each names the
same security settings differently. No client is made here, and no environment is read.
"""

import ssl
from dataclasses import dataclass, field
from typing import Final

from faust.auth import SASLCredentials, SSLCredentials
from faust.types.auth import CredentialsT

from streams.clients import Clients, KafkaClients

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Address and security of one cluster; PLAINTEXT unless said otherwise.

    `certificate_path` and `key_path` together mean mutual TLS; `username` and `password` mean SASL.
    `clients` reach the cluster; a test gives those of a simulated one.
    The password never shows in the representation, so that no log or traceback can carry it.
    """

    bootstrap_servers: str
    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: "Secret | None" = None
    ca_path: str | None = None
    certificate_path: str | None = None
    key_path: str | None = None
    clients: Clients = field(default_factory=KafkaClients, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other, naming the field."""
        if not self.bootstrap_servers.strip():
            raise ValueError("bootstrap_servers: name at least one HOST:PORT")
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"protocol {self.protocol!r}: use one of {', '.join(PROTOCOLS)}")
        sasl = self.protocol.startswith("SASL")
        if sasl and self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism {self.mechanism!r}: use one of {', '.join(MECHANISMS)}")
        if sasl and (self.username is None or self.password is None):
            raise ValueError(f"protocol {self.protocol} needs username and password")
        if not sasl and (self.mechanism or self.username or self.password):
            raise ValueError(f"protocol {self.protocol} takes no mechanism, username or password")
        if (self.certificate_path is None) != (self.key_path is None):
            raise ValueError("certificate_path and key_path: give both, or neither")


@dataclass(frozen=True)
class Secret:
    """A value that is passed on and never shown."""

    value: str

    def __repr__(self) -> str:
        """Hide the value."""
        return "Secret(***)"


def describe_for_ledger(connection: Connection) -> dict[str, str]:
    """Return the connection in the words of confluent-kafka (librdkafka)."""
    given = {
        "bootstrap.servers": connection.bootstrap_servers,
        "security.protocol": connection.protocol,
        "sasl.mechanism": connection.mechanism,
        "sasl.username": connection.username,
        "sasl.password": connection.password.value if connection.password else None,
        "ssl.ca.location": connection.ca_path,
        "ssl.certificate.location": connection.certificate_path,
        "ssl.key.location": connection.key_path,
    }
    return {name: value for name, value in given.items() if value is not None}


def describe_for_admin(connection: Connection) -> dict[str, object]:
    """Return the connection in the words of kafka-python."""
    given = {
        "bootstrap_servers": connection.bootstrap_servers.split(","),
        "security_protocol": connection.protocol,
        "sasl_mechanism": connection.mechanism,
        "sasl_plain_username": connection.username,
        "sasl_plain_password": connection.password.value if connection.password else None,
        "ssl_cafile": connection.ca_path,
        "ssl_certfile": connection.certificate_path,
        "ssl_keyfile": connection.key_path,
    }
    return {name: value for name, value in given.items() if value is not None}


def describe_for_faust(connection: Connection) -> tuple[list[str], CredentialsT | None]:
    """Return broker addresses and credentials in the words of Faust."""
    addresses = [
        f"kafka://{address.strip()}" for address in connection.bootstrap_servers.split(",")
    ]
    tls = _open_tls(connection) if connection.protocol.endswith("SSL") else None
    if connection.protocol.startswith("SASL"):
        assert connection.password is not None  # __post_init__ saw to it
        # Without a context Faust speaks SASL_PLAINTEXT, with one SASL_SSL.
        return addresses, SASLCredentials(
            username=connection.username,
            password=connection.password.value,
            mechanism=connection.mechanism,
            ssl_context=tls,
        )
    return addresses, SSLCredentials(context=tls) if tls is not None else None


def _open_tls(connection: Connection) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=connection.ca_path)
    if connection.certificate_path is not None:
        context.load_cert_chain(connection.certificate_path, connection.key_path)
    return context
