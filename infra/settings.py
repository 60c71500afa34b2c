"""Settings from the environment, checked at start; the only place that reads the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every setting is an environment variable ``COMMITMENTS_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="COMMITMENTS_", hide_input_in_errors=True)

    log_format: Literal["console", "json"] = Field(
        default="console", description="How logs are written."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="warning")
    cache_bytes: int = Field(
        default=256 * 2**20, ge=1_000_000, description="Bytes of decoded rows per process."
    )
    keep_rejected_bytes: bool = Field(
        default=True, description="Whether rejections carry the rejected bytes."
    )
    keys_file: Path | None = Field(
        default=None, description="File of signing keys; without keys principals are unverified."
    )
    key_store: Path | None = Field(
        default=None, description="Folder of the keys of encrypted logs."
    )
    keys: SecretStr | None = Field(
        default=None, description="Content of a key file, for development."
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key of the OpenAI-compatible server that generates."
    )


class GeneratorSettings(BaseSettings):
    """How ``serve --role generator`` answers; variables ``COMMITMENTS_GENERATOR_<NAME>``."""

    model_config = SettingsConfigDict(
        env_prefix="COMMITMENTS_GENERATOR_", hide_input_in_errors=True
    )

    backend: str = Field(default="local", description="As generate --backend.")
    model: str = Field(default="", description="The model's id, for servers with several.")
    form: Literal["schema", "tool", "plain", "guidance"] = Field(default="schema")
    record: Path | None = Field(default=None, description="Write every reply here.")
    temperature: float = Field(default=0.2, ge=0, le=2)
    tokens_max: int = Field(default=2_200, ge=1)
    retries_max: int = Field(default=3, ge=0, le=3)
    timeout_s: int = Field(default=180, ge=1)
    seed: int = Field(default=1, ge=0)
    candidates_max: int = Field(default=1, ge=1, le=64)
    calls: int = Field(default=4, ge=1, le=256, description="Calls in flight of one process.")
