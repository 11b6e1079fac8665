"""Published values beside a kept study: `docs/findings/published/NAME.yaml`, of the study of that name."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from findings.folder import FOLDER
from service.contract.study.parsing import read_body


class Published(BaseModel):
    """A column of somebody's table."""

    model_config = ConfigDict(extra="forbid")

    source: str
    quantity: Literal["hypervolume"]
    decimals: int = Field(ge=0)
    arms: dict[str, tuple[float, float | None]]  # mean and standard deviation

    @property
    def rounding(self) -> float:
        """Standard deviation of what rounding may have taken or added."""
        return float(10**-self.decimals / 12**0.5)


def published(name: str) -> Published:
    path = FOLDER / "published" / f"{name}.yaml"
    if not path.is_file():
        raise ValueError(f"nothing is published beside {name!r}: there is no docs/findings/published/{name}.yaml")
    return Published.model_validate(read_body(path.read_text(), "yaml"))
