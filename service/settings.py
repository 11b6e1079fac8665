"""Settings of the service: environment variables PARETOSCOPE_<NAME>, each with default and meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.contract.wire.addresses import is_loopback
from service.contract.wire.log_lines import LogFormat
from service.contract.wire.tokens import SHORTEST, TOO_SHORT


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="PARETOSCOPE_", extra="ignore")

    home: Path = Field(
        Path.home() / ".paretoscope", description="folder of the database, logs, checkpoints and Ray's files"
    )
    data: Path | None = Field(None, description="folder of the data sets, on every node; none: `data` in the home")
    database_url: str | None = Field(
        None,
        repr=False,  # it has a password in it
        description="a PostgreSQL as the store, postgresql://user:password@host/name; none: SQLite in the home",
    )
    open_folders: str = Field(
        "", description="folders besides that of the data sets in which a study's data.path may lie, separated by `:`"
    )
    host: str = Field("127.0.0.1", description="address the service listens on")
    port: int = Field(8000, ge=0, le=65535, description="port the service listens on")
    url: str | None = Field(
        None, description="the service's address as drivers and trials reach it; none: http://host:port"
    )
    fd: int | None = Field(
        None, description="an open socket to listen on, from whoever starts the service; as `up` does"
    )
    hosts: str = Field(
        "",
        description="names, separated by commas, by which browsers may call the service, such as lab.example.org; this "
        "machine's own and bare addresses need none of it, `*` means any",
    )
    token: str | None = Field(
        None,
        description="when set, every /api call needs it, or one made with it, as a bearer token; at least 16 "
        "characters",
    )
    token_path: Path | None = Field(None, description="file with that token; takes precedence over token")
    driver_tokens: Path | None = Field(
        None,
        description="folder that drivers see too, for files with the tokens of their studies; none: drivers get a code "
        "that they exchange for a token, once",
    )
    wrong_tokens_per_minute: int = Field(
        30, ge=1, description="wrong tokens from one address, above which it has to wait (429)"
    )
    submissions_per_minute: int = Field(
        120,
        ge=1,
        description="studies that may be submitted with one token, above which it has to wait (429); code likewise",
    )
    ray_url: str | None = Field(
        None, description="Ray's dashboard address (Jobs REST); none: studies wait in the queue"
    )
    ray_token: str | None = Field(None, description="Ray's authentication token")
    ray_token_path: Path | None = Field(
        None, description="file with Ray's authentication token; takes precedence over ray_token"
    )
    ray_ready_path: Path | None = Field(
        None, description="file that is there once a Ray that starts beside the service takes jobs; as `up` says"
    )
    studies_at_once: int = Field(2, ge=1, description="studies that run together; the others wait in the queue")
    driver_attempts: int = Field(
        3, ge=1, description="starts in a row that report nothing new before a study whose driver dies is failed"
    )
    save_seconds: float = Field(
        120.0, ge=0, description="how often a cohort in training saves its state, at the end of an epoch"
    )
    leave_seconds: float = Field(
        0.0,
        ge=0,
        description="when asked to stop, how long it waits for trials in training to save their states and for drivers "
        "to send their last reports, as Ray ends with it; 0: Ray stays, and they go on. `up` says 10",
    )
    log_format: LogFormat = Field(
        "auto",
        description="of the logs of service and drivers: `json`, an object a line with time, level, logger, message, "
        "study, trial and job; `text`; `auto`: text on a terminal, else json",
    )
    final_states: Literal["checkpoints", "always", "never"] = Field(
        "checkpoints",
        description="whether a cohort's state stays when it has finished, so that more epochs are trained on from it: "
        "in studies that keep checkpoints, always, or never",
    )
    max_state_bytes: int = Field(
        10_000_000_000,
        ge=0,
        description="saved states of cohorts, all studies together; those of finished ones make room, the oldest first",
    )
    max_connections: int = Field(
        1000, ge=10, description="connections at once; whoever comes then is told to try again later (503)"
    )
    header_seconds: float = Field(
        15.0, gt=0, description="how long a header may take to arrive (408), and what is left of an answered request"
    )
    body_seconds: float = Field(30.0, gt=0, description="how long a client may send nothing of a body (408)")
    body_bytes_per_second: int = Field(
        10_000, ge=1, description="how slowly a body may arrive in all, after those seconds (408)"
    )
    answer_seconds: float = Field(
        120.0, gt=0, description="how long a client may take nothing of an answer before it is disconnected"
    )
    max_study_bytes: int = Field(1_000_000, description="largest body of a study")
    max_code_bytes: int = Field(20_000_000, description="largest code of your own, packed and unpacked")
    allow_code: bool = Field(
        False,
        description="whether a service without a token, on loopback, runs code that whoever is on this machine sends",
    )
    code_memory_gb: float | None = Field(
        None,
        gt=0,
        description="GB of memory that a process with code of your own may take; none: three quarters of the "
        "machine's, shared by those that may run at once",
    )
    code_silent_seconds: float = Field(
        1800.0,
        gt=0,
        description="how long a batch of a problem of your own, or its data, may take before its trials fail",
    )
    max_report_bytes: int = Field(16_000_000, description="largest batch of reports, and largest latent map")
    max_artifact_bytes: int = Field(512_000_000, description="largest checkpoint of a trial")
    keep_free_bytes: int = Field(
        2_000_000_000,
        description="trial files (not studies) are refused when they would leave less free on the home's disk",
    )

    @property
    def limits_of_code(self) -> dict[str, str]:
        """What processes with code of your own are told of them."""
        memory = {} if self.code_memory_gb is None else {"PARETOSCOPE_CODE_MEMORY_GB": str(self.code_memory_gb)}
        return {**memory, "PARETOSCOPE_CODE_SILENT_SECONDS": str(self.code_silent_seconds)}

    @property
    def own_url(self) -> str:
        return self.url or f"http://{self.host}:{self.port}"

    @property
    def data_folder(self) -> Path:
        """Absolute, as drivers and trials run in other folders."""
        return (self.data or self.home / "data").expanduser().resolve()

    @property
    def known_hosts(self) -> frozenset[str]:
        """Names that were given: by `hosts`, and in the address that drivers use."""
        given = [name.strip().lower() for name in self.hosts.split(",") if name.strip()]
        return frozenset([*given, urlsplit(self.own_url).netloc.lower()])

    @property
    def is_exposed(self) -> bool:
        """Whether others could reach it, and nothing would ask them who they are."""
        return self.token is None and not is_loopback(self.host)

    @property
    def rule_of_token(self) -> str | None:
        """What the owner's token breaks, if it does."""
        is_short = self.token is not None and len(self.token) < SHORTEST
        return f"the service's token {TOO_SHORT}" if is_short else None

    @model_validator(mode="after")
    def _read_tokens(self) -> Settings:
        if self.ray_token_path is not None:
            self.ray_token = _written_in(self.ray_token_path)
        if self.token_path is not None:
            self.token = _written_in(self.token_path)
        if self.token == "":  # `PARETOSCOPE_TOKEN=` in a shell means none
            self.token = None
        return self

    @model_validator(mode="after")
    def _code_is_of_this_machine(self) -> Settings:
        if self.allow_code and self.is_exposed:
            rule = "PARETOSCOPE_ALLOW_CODE: a service without a token runs code on loopback only"
            raise ValueError(f"{rule}: set PARETOSCOPE_TOKEN, or listen on 127.0.0.1, got host {self.host[:200]!r}")
        return self

    @field_validator("url", "ray_url")
    @classmethod
    def _is_an_address(cls, given: str | None) -> str | None:
        if given is not None and not is_address(given):
            raise ValueError(f"must be an address such as http://127.0.0.1:8000, got {given[:200]!r}")
        return given


def is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _written_in(path: Path) -> str:
    """A token in a file."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ValueError(f"the token in {path} cannot be read: {why}") from None


def in_words(error: ValidationError) -> list[str]:
    """What is wrong, by variable; none of their values that may be secret is quoted."""
    said = []
    for each in error.errors():
        message = each["msg"].removeprefix("Value error, ")
        if not each["loc"]:
            said.append(message)
            continue
        name = str(each["loc"][0])
        is_told = each["type"] != "value_error" and "token" not in name and name != "database_url"
        said.append(
            f"PARETOSCOPE_{name.upper()}: {message}" + (f", got {str(each['input'])[:200]!r}" if is_told else "")
        )
    return said
