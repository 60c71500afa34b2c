"""Laws of the Confluent wire format with a real schema registry and a real broker."""

from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from infra.archive.kafka_source import KafkaSource
from infra.archive.reading import Archive
from infra.broker import Broker
from infra.kafka_settings import KafkaSettings
from infra.outcome_reader import OutcomeReader
from infra.registry import Registry, RegistryRefusedError, list_subjects
from schemas.codec import encode, schema_fingerprint
from schemas.identity import record_key
from schemas.outcome import Commitment, Rejection
from streams.connection import Connection
from streams.core_reducer import CoreReducer
from streams.failures import StoreUnavailableError
from tests.broker.checker import read_partition
from tests.broker.histories import append_history, await_marks, dinner, provision
from tests.broker.threads import running_on
from tests.told_log import begin


def _connect(broker: Broker, registry: str, prefix: str) -> Connection:
    return KafkaSettings(
        bootstrap=broker.bootstrap_servers, prefix=prefix, registry=registry
    ).connect()


def test_registering_again_changes_nothing(registry: str, prefix: str) -> None:
    """Each public record has one subject and one id, which names the very schema of this build."""
    first = Registry(registry, prefix=prefix).register()
    again = Registry(registry, prefix=prefix)

    assert first == again.register()
    assert [subject for subject, _ in list_subjects(prefix)] == list(first)
    for subject, cls in list_subjects(prefix):
        assert first[subject] == again.find_id(schema_fingerprint(cls))
        assert schema_fingerprint(cls) == again.find_fingerprint(first[subject])


def test_unknown_is_an_answer_and_unreachable_a_wait(
    registry: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id without a schema is none; a registry that is away raises what a ledger waits for."""
    monkeypatch.setattr("infra.registry.PAUSE_S", 0.01)

    assert Registry(registry).find_fingerprint(999_999) is None
    with pytest.raises(StoreUnavailableError, match="commitments provision --registry"):
        Registry(registry, prefix=prefix).find_id(bytes(8))
    with pytest.raises(StoreUnavailableError, match="registry"):
        Registry("http://127.0.0.1:1/apis").find_fingerprint(1)
    with pytest.raises(RegistryRefusedError, match="no schema registry"):
        Registry(registry.removesuffix("/apis/ccompat/v7") + "/health").register()


def test_a_log_in_the_confluent_format_folds_exports_and_reads_as_any_other(
    broker: Broker, registry: str, prefix: str, tmp_path: Path
) -> None:
    """Events and outcomes carry ids of the registry; archives and readers see the same bodies."""
    plain = provision(broker, f"{prefix}plain.")
    provision(broker, f"{prefix}reg.")
    ids = Registry(registry, prefix=f"{prefix}reg.").register()
    connection = _connect(broker, registry, f"{prefix}reg.")
    told = [begin(), *dinner("m"), *dinner("n")]
    append_history(broker, f"{prefix}plain.", told)
    number = ids[f"{prefix}reg.events-value"].to_bytes(4, "big")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for event in [*told[:-1], replace(told[-1])]:
        key = record_key(event.tenant, event.user)
        producer.produce(f"{prefix}reg.events", b"\0" + number + encode(event), key, 0)
    strange = b"\0" + (999_999).to_bytes(4, "big") + b"?"
    producer.produce(f"{prefix}reg.events", strange, record_key("t", "m"), 0)
    assert 0 == producer.flush(20)

    for name, at, end in (("plain.", plain, 7), ("reg.", connection, 8)):
        with running_on(at, f"{prefix}{name}", tmp_path / name, CoreReducer) as worker:
            worker.await_folded(end)
        await_marks(broker, f"{prefix}{name}", 1, ["commitments", "rejections"])

    def read(name: str) -> list[bytes]:
        topic = f"{prefix}{name}commitments"
        return [value or b"" for _, value in read_partition(broker.bootstrap_servers, topic, 0)]

    named = ids[f"{prefix}reg.commitments-value"].to_bytes(4, "big")
    assert [b"\0" + named + value[10:] for value in read("plain.")] == read("reg.")
    with OutcomeReader(connection, group=f"{prefix}g", prefix=f"{prefix}reg.") as reader:
        found = [reader.read(20), reader.read(20)]
    assert [("commitments", Commitment)] * 2 == [(o.topic, type(o.record)) for o in found if o]
    KafkaSource(connection, prefix=f"{prefix}reg.").export(tmp_path / "archive")
    outputs = Archive(tmp_path / "archive").outputs("commitments")
    assert read("plain.") == [output.record.value for output in outputs]
    (rejected,) = Archive(tmp_path / "archive").outputs("rejections")
    assert "unknown_schema_id" in str(_decode(rejected.record.value))


def _decode(value: bytes | None) -> Rejection:
    from schemas.codec import unframe

    return unframe(Rejection, value)[0]
