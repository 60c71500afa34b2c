"""Kafka settings from environment and options, as a Connection and a TopicSet."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from infra.provision import TopicSet
from infra.registry import REGISTERED_TOPICS, Registry
from schemas.topics import PARTITIONS_DEFAULT
from streams.clients import Clients, KafkaClients
from streams.connection import Connection, Secret
from streams.registered import RegisteredClients


class KafkaSettings(BaseSettings):
    """Every setting is an environment variable ``COMMITMENTS_KAFKA_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="COMMITMENTS_KAFKA_", hide_input_in_errors=True)

    bootstrap: str = Field(default="127.0.0.1:9092", description="HOST:PORT, comma-separated.")
    protocol: str = Field(default="PLAINTEXT", description="PLAINTEXT, SSL, SASL_SSL, ...")
    mechanism: str | None = Field(default=None, description="PLAIN or SCRAM-SHA-256/512.")
    username: str | None = Field(default=None)
    password: SecretStr | None = Field(default=None)
    ca_path: str | None = Field(default=None, description="CA file of the brokers.")
    certificate_path: str | None = Field(default=None, description="Own certificate (mTLS).")
    key_path: str | None = Field(default=None, description="Own key (mTLS).")
    registry: str | None = Field(
        default=None, description="Schema registry, http://HOST:PORT/PATH: Confluent wire format."
    )
    prefix: str = Field(default="", description="Prefix of all topics, groups and producers.")
    partitions: int = Field(default=PARTITIONS_DEFAULT, ge=1, le=10_000)
    replication: int = Field(default=3, ge=1, le=100)
    insync_min: int = Field(default=2, ge=1, le=100)
    folder: Path = Field(default=Path("commitments-rows"), description="Local rows of a worker.")
    instance_id: str | None = Field(default=None, description="Static member id; must be unique.")
    session_timeout_s: float = Field(default=10.0, gt=0, le=600)
    metrics_port: int | None = Field(default=None, ge=1, le=65_535)
    metrics_host: str = Field(default="127.0.0.1")

    def connect(self) -> Connection:
        """Return how to reach the cluster.

        Raises:
            ValueError: settings that contradict each other, the field named.

        """
        return Connection(
            bootstrap_servers=self.bootstrap,
            protocol=self.protocol,
            mechanism=self.mechanism,
            username=self.username,
            password=None if self.password is None else Secret(self.password.get_secret_value()),
            ca_path=self.ca_path,
            certificate_path=self.certificate_path,
            key_path=self.key_path,
            clients=self._choose_clients(),
        )

    def _choose_clients(self) -> Clients:
        if self.registry is None:
            return KafkaClients()
        registry = Registry(self.registry, prefix=self.prefix)
        return RegisteredClients(KafkaClients(), registry, topics=REGISTERED_TOPICS)

    def topics(self) -> TopicSet:
        """Return the wanted set of topics."""
        return TopicSet(
            prefix=self.prefix,
            partitions=self.partitions,
            replication=self.replication,
            insync_min=self.insync_min,
        )
