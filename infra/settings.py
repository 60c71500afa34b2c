"""Settings from the environment, checked at start; the only place that reads the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every setting is an environment variable ``COMMITMENTS_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="COMMITMENTS_", hide_input_in_errors=True)

    log: Path = Field(Path("commitments-log"), description="Folder of the embedded log.")
    log_format: Literal["console", "json"] = Field("console", description="How logs are written.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("warning")
    cache_bytes: int = Field(256 * 2**20, ge=1_000_000, description="Decoded rows per process.")
    keep_rejected_bytes: bool = Field(
        default=True, description="Whether rejections carry the rejected bytes."
    )
