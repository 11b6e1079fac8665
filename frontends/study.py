"""One study on the service: its state, results, figures, exports and events."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from frontends.connection import TRY_AGAIN_SECONDS, Answer, ClientError, Connection, Parameter, Patience, json_of

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from frontends.trial import Trial
    from workers.trained import Network


def whole_events(lines: Iterator[str]) -> Iterator[Answer]:
    """The events of a stream. A blank line ends one: what is cut off before it will be sent again."""
    data = ""
    for line in lines:
        if line.startswith("data: "):
            data = line.removeprefix("data: ")
        elif not line and data:
            yield json.loads(data)
            data = ""


def has_ended(study: Answer) -> bool:
    """By its state; whoever only submits does not wait until the contract and pydantic are imported."""
    from service.contract.wire.events import StudyState

    return StudyState(study["state"]).is_ended()


class Study:
    """The handle of a study: it keeps the id and asks the service anew each time."""

    def __init__(self, client: Connection, study_id: str) -> None:
        self._client, self.id = client, study_id
        self._path = f"/api/studies/{quote(study_id, safe='')}"

    @property
    def page(self) -> str:
        """The address of its page in the dashboard."""
        return f"{self._client.url}/studies/{self.id}"

    def _get(self, path: str = "", **params: Parameter) -> Answer:
        return self._client.request("GET", self._path + path, params)

    def read(self) -> Answer:
        """Its spec, state, counts and progress now."""
        return self._get()

    def follow(self, every: float = 0.5, timeout: float | None = None) -> Iterator[Answer]:
        """Its state again and again until it has ended. Waits two minutes for a service that is away, and says so."""
        begun, patience = time.monotonic(), Patience()
        while True:
            try:
                state = self.read()
            except ClientError as error:
                patience.bear(error)
            else:
                patience.answered()
                yield state
                if has_ended(state):
                    return
            if timeout is not None and time.monotonic() - begun > timeout:
                raise TimeoutError(f"study {self.id} has not ended after {timeout} s")
            time.sleep(every)

    def wait(self, timeout: float | None = None) -> Study:
        """Until it has ended; raises ClientError when it failed."""
        for state in self.follow(timeout=timeout):
            if state["state"] == "failed":
                raise ClientError(f"study {self.id} failed: {state['reason']}")
        return self

    def events(self, after: int = 0) -> Iterator[Answer]:
        """Its events after this number, live, until it has ended; a broken stream goes on where it broke."""
        patience = Patience()
        while True:
            try:
                with self._client.stream(self._path + "/events", {"Last-Event-ID": str(after)}) as lines:
                    patience.answered()
                    for event in whole_events(lines):
                        after = event["seq"]
                        yield event
                state = self.read()
                if has_ended(state) and state["last_seq"] <= after:
                    return
            except ClientError as error:
                patience.bear(error)
            time.sleep(TRY_AGAIN_SECONDS)

    def front(self, x: str | None = None, y: str | None = None) -> Answer:
        """The non-dominated trials, per arm and over all, by the study's objectives or two metrics of your choice."""
        return self._get("/front", x=x, y=y)

    def comparison(self) -> Answer:
        """The arms side by side, and the verdict in words."""
        return self._get("/comparison")

    def pick(self, by: str = "knee", **params: Parameter) -> Answer:
        """One point, with its settings, metrics and a study of it alone in `yaml`: at the `knee` of the front, by
        `weights="metric:1,metric:2"` of objectives, by a `constraint` (`at_least="metric:0.95"`, `at_most`, `then`), or
        at the largest `gap`; `arm` asks one arm alone."""
        return self._get("/pick", by=by, **params)

    def trials(self, limit: int | None = None, **params: Parameter) -> list[Answer]:
        """All trials that match, page by page, or the first of them."""
        return self._client.entries(self._path + "/trials", "trials", limit, **params)

    def trial(self, trial_id: str) -> Answer:
        """One trial with all its reports."""
        return self._get(f"/trials/{trial_id}")

    def ask(self, arm: str | None = None, lease_seconds: float | None = None, wait: float = 0.0) -> Trial:
        """A trial of an arm with `run: elsewhere`, for this process to train: `with study.ask() as trial: …`.

        Others get it when nothing was reported for `lease_seconds`. NoTrialNow when none is free, after asking again
        for `wait` seconds; NoTrialLeft when none will be.
        """
        from frontends.trial import asked

        return asked(self._client, self._path, arm, lease_seconds, wait)

    def checkpoint(self, trial_id: str) -> bytes:
        """A trial's trained weights: `safetensors.torch.load(study.checkpoint(trial_id))`."""
        return self._client.send("GET", f"{self._path}/trials/{trial_id}/checkpoint").content

    def model(self, trial_id: str, beta: float | None = None, preference: Mapping[str, float] | None = None) -> Network:
        """A trial's trained network, a torch.nn.Module: `model(x)` are logits, `model.predict(x)` probabilities.

        A trial that was trained for every β, or every preference (a share of each task), takes one here, or with each
        call: `model(x, beta=0.01)`.
        """
        try:
            from workers.trained import load
        except ImportError as error:
            raise ClientError("model needs torch and safetensors: install them, or use checkpoint()") from error
        return load(self.checkpoint(trial_id), beta, preference)

    def figure(self, name: str, **params: Parameter) -> go.Figure:
        """A Plotly figure for a notebook, by its name or by any beginning of it that fits one figure only."""
        from frontends.notebook import chosen, notebook_figure

        figure = chosen(name, self._client.request("GET", "/api/figures")["figures"])
        return notebook_figure(self._get(f"/figures/{figure['name']}", **params), figure["title"])

    def export(self, format: str = "csv", table: str = "trials") -> bytes:
        """The trials, their points or the reports as csv or parquet, the comparison as latex, or everything as json."""
        return self._client.send("GET", self._path + "/export", {"format": format, "table": table}).content

    def trials_frame(self, table: str = "trials") -> pd.DataFrame:
        """A row per trial (or per point, or per report), typed; needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ClientError("trials_frame needs pandas: install it, or use export('csv')") from error
        return pandas.read_parquet(io.BytesIO(self.export("parquet", table)))

    def report(self) -> str:
        """One self-contained HTML file."""
        return self._client.send("GET", self._path + "/report").text

    def methods(self) -> Answer:
        """A methods paragraph, its BibTeX, and what each paper is for."""
        return self._get("/methods")

    def note(
        self,
        name: str | None = None,
        notes: str | None = None,
        tags: Sequence[str] | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Answer:
        """Another name, notes in Markdown, tags (all of them); what is left out stays as it is."""
        wish = {"name": name, "notes": notes, "tags": tags, "pinned": pinned, "archived": archived}
        return self._patch("", wish)

    def note_trial(self, trial_id: str, notes: str | None = None, tags: Sequence[str] | None = None) -> Answer:
        """Notes and tags of one of its trials."""
        return self._patch(f"/trials/{quote(trial_id, safe='')}", {"notes": notes, "tags": tags})

    def _patch(self, path: str, wish: Mapping[str, object]) -> Answer:
        given = json.dumps({key: value for key, value in wish.items() if value is not None}, default=list).encode()
        headers = {"Content-Type": "application/json"}
        return json_of(self._client.send("PATCH", self._path + path, content=given, headers=headers))

    def pause(self) -> Answer:
        """No new trials; those in training save their state and leave."""
        return self._client.request("POST", self._path + "/pause")

    def resume(self) -> Answer:
        """A paused or failed study goes on where it was."""
        return self._client.request("POST", self._path + "/resume")

    def retry(self) -> Answer:
        """Failed trials once more, from the beginning."""
        return self._client.request("POST", self._path + "/retry")

    def extend(
        self,
        seeds: Sequence[int] = (),
        epochs: int | None = None,
        grid: Mapping[str, Mapping[str, Sequence[object]]] | None = None,
    ) -> Answer:
        """More seeds, epochs, or grid points, as {arm: {"weighting.beta": [0.5]}}; what has finished stays."""
        wish = {"seeds": list(seeds), "epochs": epochs, "grid": dict(grid or {})}
        kind, body = {"Content-Type": "application/json"}, json.dumps(wish).encode()
        return json_of(self._client.send("POST", self._path + "/extend", content=body, headers=kind))

    def cancel(self) -> Answer:
        """End it now; its results stay."""
        return self._client.request("POST", self._path + "/cancel")

    def delete(self) -> None:
        """Remove it for good; refused while it runs."""
        self._client.send("DELETE", self._path)
