"""Options that every Kafka command shares, and the settings that they override."""

from typing import Annotated, Any

import typer
from pydantic import ValidationError

from infra.cli.console import CommandError
from infra.kafka_settings import KafkaSettings

BootstrapOption = Annotated[
    str | None, typer.Option("--bootstrap", help="HOST:PORT of the brokers, comma-separated.")
]
PrefixOption = Annotated[
    str | None, typer.Option("--prefix", help="Prefix of all topics of one deployment.")
]


def read_settings(**overrides: Any) -> KafkaSettings:
    """Return the settings of the environment, with the given options laid over them."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = KafkaSettings(**given)
        settings.connect()
        settings.topics()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = "_".join(str(part) for part in first["loc"])
        raise CommandError(
            f"{field}: {first['msg']}", f"set COMMITMENTS_KAFKA_{field.upper()} or its option"
        ) from None
    except ValueError as error:
        raise CommandError(str(error), "see the variables COMMITMENTS_KAFKA_*") from None
    return settings
