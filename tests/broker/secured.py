"""A broker that trusts nobody: SASL_SSL with passwords, mutual TLS, and an authorizer.

Its PLAINTEXT listener belongs to the administrator of the test; roles come in by the other two.
"""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.acls import ROLES, Acl, list_acls
from infra.broker import Broker, find_port, start_broker

PASSWORD = "only for this test"
_RESOURCES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
}


@dataclass(frozen=True)
class Secured:
    """The broker, its two guarded addresses, and the folder of the certificates."""

    broker: Broker
    passwords: str
    certificates: str
    folder: Path

    def environment(self, role: str, protocol: str) -> dict[str, str]:
        """Return the settings by which a role reaches the broker."""
        named = {"CA_PATH": str(self.folder / "ca.pem"), "PROTOCOL": protocol}
        if protocol == "SASL_SSL":
            named |= {"BOOTSTRAP": self.passwords, "MECHANISM": "PLAIN", "USERNAME": role}
            named |= {"PASSWORD": PASSWORD}
        else:
            named |= {"BOOTSTRAP": self.certificates}
            named |= {"CERTIFICATE_PATH": str(self.folder / f"{role}.pem")}
            named |= {"KEY_PATH": str(self.folder / f"{role}.key")}
        return {f"COMMITMENTS_KAFKA_{name}": value for name, value in named.items()}

    def grant(self, prefix: str, cluster_id: str, *, without: tuple[str, ...] = ()) -> None:
        """Grant every role what infra/acls.py lists; ``without`` one: role, name and operation."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        bindings = [
            _bind(role, acl)
            for role in ROLES
            for acl in list_acls(role, prefix=prefix, cluster_id=cluster_id)
            if (role, acl.name, acl.operation) != without
        ]
        for future in admin.create_acls(bindings).values():
            future.result(20)


@contextmanager
def open_secured(folder: Path) -> Iterator[Secured]:
    """Start the broker with certificates made for it; stop it at the end."""
    folder.mkdir()
    _write_certificates(folder, ("broker", "stranger", *ROLES))
    ports = {"SASL_SSL": find_port(), "SSL": find_port()}
    broker = start_broker(folder=folder / "broker", listeners=ports, properties=_describe(folder))
    try:
        yield Secured(broker, f"127.0.0.1:{ports['SASL_SSL']}", f"127.0.0.1:{ports['SSL']}", folder)
    finally:
        broker.stop()


def _describe(folder: Path) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    users = " ".join(f'user_{role}="{PASSWORD}"' for role in ("stranger", *ROLES))
    return {
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL"
        ),
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{module} required {users};",
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.both.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": "User:ANONYMOUS",
    }


def _write_certificates(folder: Path, names: tuple[str, ...]) -> None:
    """Write an authority of its own, and a key with a certificate under it for each name."""
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
    (folder / "ca.pem").write_bytes(_sign(issuer, authority, issuer, authority, authority=True))
    for name in names:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = _sign(subject, key, issuer, authority, authority=False)
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (folder / f"{name}.pem").write_bytes(certificate)
        (folder / f"{name}.key").write_bytes(secret)
        (folder / f"{name}.both.pem").write_bytes(secret + certificate)


def _sign(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    by: ec.EllipticCurvePrivateKey,
    *,
    authority: bool,
) -> bytes:
    now = datetime.now(UTC)
    place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    told = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=authority, crl_sign=authority,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(told, critical=True)
        .add_extension(place, critical=False)
        .sign(by, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )


def _bind(role: str, acl: Acl) -> AclBinding:
    pattern = ResourcePatternType.PREFIXED if acl.prefixed else ResourcePatternType.LITERAL
    operation = {
        "AlterConfigs": AclOperation.ALTER_CONFIGS,
        "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    }.get(acl.operation) or AclOperation[acl.operation.upper()]
    return AclBinding(
        _RESOURCES[acl.resource], acl.name, pattern, f"User:{role}", "*", operation,
        AclPermissionType.ALLOW,
    )  # fmt: skip
