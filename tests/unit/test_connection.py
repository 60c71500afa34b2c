"""Laws of the connection settings: one statement, three clients, no secret shown."""

import pytest

from streams.connection import (
    Connection,
    Secret,
    describe_for_admin,
    describe_for_faust,
    describe_for_ledger,
)

SASL = Connection(
    bootstrap_servers="a:1,b:2",
    protocol="SASL_SSL",
    mechanism="SCRAM-SHA-512",
    username="ledger",
    password=Secret("canary"),
)


def test_a_password_is_never_shown() -> None:
    """Neither the connection nor its password can be printed into a log."""
    assert "canary" not in repr(SASL)


def test_all_three_clients_get_the_same_security() -> None:
    """Protocol, mechanism and user name reach each client in its own words."""
    addresses, credentials = describe_for_faust(SASL)

    assert ["kafka://a:1", "kafka://b:2"] == addresses
    assert credentials is not None
    assert "SASL_SSL" == credentials.protocol.value
    assert "SASL_SSL" == describe_for_ledger(SASL)["security.protocol"]
    assert "SASL_SSL" == describe_for_admin(SASL)["security_protocol"]
    assert "canary" == describe_for_ledger(SASL)["sasl.password"]
    assert "canary" == describe_for_admin(SASL)["sasl_plain_password"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"protocol": "TLS"}, "protocol"),
        ({"protocol": "SASL_SSL"}, "mechanism"),
        ({"protocol": "SASL_SSL", "mechanism": "PLAIN"}, "username"),
        ({"username": "ledger"}, "takes no"),
        ({"protocol": "SSL", "certificate_path": "c.pem"}, "key_path"),
        ({"bootstrap_servers": " "}, "bootstrap_servers"),
    ],
)
def test_contradicting_settings_are_refused(fields: dict[str, str], named: str) -> None:
    """A connection that no client could use is refused with the field's name."""
    given = {"bootstrap_servers": "a:1", **fields}

    with pytest.raises(ValueError, match=named):
        Connection(**given)  # type: ignore[arg-type]
