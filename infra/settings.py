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
