"""Settings of the service: environment variables PARETOSCOPE_<NAME>, each with default and meaning."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="PARETOSCOPE_", extra="ignore")

    home: Path = Field(
        Path.home() / ".paretoscope", description="folder of the database, logs, checkpoints and Ray's files"
    )
    data: Path | None = Field(None, description="folder of the data sets, on every node; none: `data` in the home")
    host: str = Field("127.0.0.1", description="address the service listens on")
    port: int = Field(8000, description="port the service listens on")
    url: str | None = Field(
        None, description="the service's address as drivers and trials reach it; none: http://host:port"
    )
    token: str | None = Field(None, description="when set, every /api call needs it as a bearer token")
    ray_url: str | None = Field(
        None, description="Ray's dashboard address (Jobs REST); none: studies wait in the queue"
    )
    ray_token: str | None = Field(None, description="Ray's authentication token")
    ray_token_path: Path | None = Field(
        None, description="file with Ray's authentication token; takes precedence over ray_token"
    )
    studies_at_once: int = Field(2, ge=1, description="studies that run together; the others wait in the queue")
    driver_attempts: int = Field(
        3, ge=1, description="starts in a row that finish no trial before a study whose driver dies is failed"
    )
    max_study_bytes: int = Field(1_000_000, description="largest body of a study")
    max_report_bytes: int = Field(16_000_000, description="largest batch of reports, and largest latent map")
    max_artifact_bytes: int = Field(512_000_000, description="largest checkpoint of a trial")
    keep_free_bytes: int = Field(
        2_000_000_000,
        description="trial files (not studies) are refused when they would leave less free on the home's disk",
    )

    @property
    def own_url(self) -> str:
        return self.url or f"http://{self.host}:{self.port}"

    @property
    def data_folder(self) -> Path:
        """Absolute, as drivers and trials run in other folders."""
        return (self.data or self.home / "data").expanduser().resolve()

    @model_validator(mode="after")
    def _read_ray_token(self) -> Settings:
        if self.ray_token_path is not None:
            self.ray_token = self.ray_token_path.read_text().strip()
        return self
