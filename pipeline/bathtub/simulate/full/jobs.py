"""The cluster in time: jobs run, incidents strike them, nodes leave and come back, jobs start again."""

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from bathtub.simulate.full.endings import ENDINGS, blow, ordinary, repaired
from bathtub.simulate.full.events import Attempt, Event, History
from bathtub.simulate.full.lanes import Lane, duration_s, lanes, named
from bathtub.simulate.full.settings import HOUR_S, Settings

FIRST_JOB_ID = 310_440
CALM_S = HOUR_S
SPARE_AFTER_S = 420.0


class Cluster:
    """Takes candidate incidents in any order and decides which happen: a part that is out of use cannot fail."""

    def __init__(self, settings: Settings, candidates: Iterable[Event]) -> None:
        self.settings, self.history = settings, History()
        self.lanes, self.spares = lanes(settings.n_nodes)
        self.lane_of: dict[int, Lane] = {node: lane for lane in self.lanes for node in lane.nodes}
        self.out_until: dict[int, float] = defaultdict(float)
        self.struck_s: dict[int, float] = defaultdict(lambda: -CALM_S)
        self.order, self.runs, self.ids = count(), count(), count(FIRST_JOB_ID)
        self.queue: list[tuple[float, int, str, object]] = []
        for event in candidates:
            self.push(event.at_s, "strike", event)
        for lane in self.lanes:
            self.push(60.0 * lane.number % 3600 + 30, "start", lane)

    def push(self, at_s: float, what: str, about: object) -> None:
        """Puts something on the calendar."""
        heapq.heappush(self.queue, (at_s, next(self.order), what, about))

    def run(self) -> History:
        """Everything up to the end; attempts that run on end after it."""
        while self.queue and self.queue[0][0] < self.settings.end_s:
            at_s, _, what, about = heapq.heappop(self.queue)
            if what == "strike" and isinstance(about, Event):
                self.strike(about)
            elif what == "start" and isinstance(about, Lane):
                self.start(about, at_s)
            elif what == "end" and isinstance(about, tuple):
                self.end(*about)
            elif what == "back" and isinstance(about, int):
                self.back(about)
        self.history.events.sort(key=lambda event: (event.at_s, event.number))
        return self.history

    def back(self, node: int) -> None:
        """A node whose place was taken is a spare from now on."""
        if node not in self.lane_of and node not in self.spares:
            self.spares.append(node)

    def start(self, lane: Lane, at_s: float) -> None:
        """The next attempt of a lane, once all its places are filled."""
        ready_s = max(self.place(lane, place, at_s) for place in range(len(lane.nodes)))
        if ready_s > at_s:
            self.push(ready_s + 30, "start", lane)
            return
        chance = self.settings.rng("jobs", lane.number, int(at_s))
        if lane.left_s <= 0:
            lane.left_s, lane.job_id = duration_s(lane, chance), 0
            user, name = named(lane, chance)
            run = f"run-{next(self.runs):05}"
        else:
            before = lane.attempt
            assert before is not None
            user, name, run = before.user, before.name, before.run
        job_id = lane.job_id or next(self.ids)
        attempt = Attempt(
            job_id=job_id, run=run, lane=lane.number, submitted_s=at_s - float(chance.integers(3, 60)), started_s=at_s,
            ended_s=at_s + lane.left_s, state="COMPLETED", exit_code="0:0", nodes=tuple(sorted(lane.nodes)), user=user, name=name,
            checkpoint_s=float(chance.choice([1800, 3600, 7200])),
        )  # fmt: skip
        lane.attempt, lane.job_id, lane.token = attempt, 0, lane.token + 1
        self.history.attempts.append(attempt)
        for event in lane.waiting:
            event.restarted_s = at_s
        lane.waiting.clear()
        if lane.refused is not None:
            event, lane.refused = lane.refused, None
            event.at_s, event.node, event.nodes = at_s, attempt.nodes[0], (attempt.nodes[0],)
            self.hit(event, lane)
            self.leave(event)
            self.history.events.append(event)
        else:
            self.push(attempt.ended_s, "end", (lane, lane.token))

    def place(self, lane: Lane, place: int, at_s: float) -> float:
        """When a place of a lane is filled: now where its node is there or a spare is, else when its node is back."""
        node = lane.nodes[place]
        if self.out_until[node] <= at_s:
            return at_s
        spare = next((each for each in self.spares if self.out_until[each] <= at_s), None)
        if spare is None:
            return self.out_until[node]
        self.spares.remove(spare)
        lane.nodes[place] = spare
        self.lane_of[spare] = lane
        del self.lane_of[node]
        self.push(self.out_until[node], "back", node)
        return at_s

    def end(self, lane: Lane, token: int) -> None:
        """An attempt ends: by itself, or by what struck it."""
        attempt = lane.attempt
        if token != lane.token or attempt is None:
            return
        event, lane.pending = lane.pending, None
        lane.token += 1
        if event is None:
            lane.left_s = 0.0
            event = ordinary(self.settings, attempt, next(self.order))
            if event is not None:
                self.history.events.append(event)
            self.push(attempt.ended_s + float(self.settings.rng("ending", attempt.job_id).uniform(20, 900)), "start", lane)
            return
        if self.is_requeued(event):
            lane.job_id = attempt.job_id
        lane.waiting.append(event)
        chance = self.settings.rng("ending", attempt.job_id, int(attempt.started_s))
        self.push(attempt.ended_s + SPARE_AFTER_S + float(chance.uniform(0, 900)), "start", lane)

    @staticmethod
    def is_requeued(event: Event) -> bool:
        """Whether the scheduler puts the job back itself."""
        return event.kind.ends in {"node", "launch"}

    def strike(self, event: Event) -> None:
        """An incident happens, unless its part is out of use or its job is dying already."""
        nodes = event.nodes or (event.node,)
        struck = {lane.number: lane for node in nodes if (lane := self.lane_of.get(node))}
        running = [
            lane for lane in struck.values() if lane.attempt and lane.attempt.started_s < event.at_s < lane.attempt.ended_s
        ]
        if event.at_s > self.settings.risk_end_s:
            return
        if any(self.out_until[node] > event.at_s or self.struck_s[node] + CALM_S > event.at_s for node in nodes[:1]):
            return
        if any(lane.pending is not None for lane in running) or (event.kind.needs_job and not running):
            return
        if event.kind.ends == "launch":
            running[0].refused = event
            return
        if event.kind.ends == "hang" and running and max(len(lane.nodes) for lane in running) > MAX_DUMPED_NODES:
            event.kind = replace(event.kind, dumps="")
        for lane in running:
            self.hit(event, lane)
        event.nodes = tuple(node for node in nodes if self.out_until[node] <= event.at_s)
        for node in event.nodes:
            self.struck_s[node] = event.at_s
        self.leave(event)
        self.history.events.append(event)

    def hit(self, event: Event, lane: Lane) -> None:
        """What an incident does to the attempt of a lane."""
        attempt = lane.attempt
        ending = ENDINGS[event.kind.ends]
        if attempt is None or ending is None:
            return
        blow(self.settings, event, attempt)
        lane.left_s = max(
            lane.left_s - (attempt.ended_s - attempt.started_s) // attempt.checkpoint_s * attempt.checkpoint_s, 600.0
        )
        lane.pending, lane.token = event, lane.token + 1
        self.push(attempt.ended_s, "end", (lane, lane.token))

    def leave(self, event: Event) -> None:
        """Nodes that an incident takes out of use, until they are repaired."""
        if not event.kind.repair_h:
            return
        outages, moves = repaired(self.settings, event)
        for outage in outages:
            self.out_until[outage.node] = outage.until_s
        self.history.outages += outages
        self.history.moves += moves


MAX_DUMPED_NODES = 256
"""Beyond this size the site keeps no dumps: a hang is told by its other evidence, or not at all."""
