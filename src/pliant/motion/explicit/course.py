"""One run: pieces of work with samples, looks at the numbers and questions in between."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.motion.explicit.energy import energies
from pliant.motion.explicit.engine import Crew
from pliant.motion.explicit.progress import Progress, shown
from pliant.motion.explicit.result import Energies, ExplicitRun, RunStatus
from pliant.motion.explicit.springs import Array

if TYPE_CHECKING:
    from pliant.motion.explicit.explicit import Explicit

PATIENCE = 0.2
"""Seconds of work between looks at the clock, at the user and at the numbers."""


class Course:
    """One call of `Explicit.run`: pieces of work with samples, looks at the numbers and questions in between."""

    def __init__(
        self,
        explicit: Explicit,
        steps: int,
        ids: NDArray[np.int64],
        every: int,
        energy_every: int | None,
        stop: Callable[[Explicit], bool] | None,
        pause: int,
    ) -> None:
        self.explicit, self.engine, self.steps, self.ids, self.every = explicit, explicit.engine, steps, ids, every
        self.energy_every, self.stop, self.pause = energy_every, stop, pause
        self.origin = self.engine.number
        self.record = self.engine.record_table(ids, every, steps // every + 1)
        self.samples: list[tuple[float, ...]] = []
        self.status = RunStatus.COMPLETED
        self.failed_node: int | None = None
        self.piece = 16

    @property
    def done(self) -> int:
        """Steps done so far."""
        return int(self.engine.number - self.origin)

    def run(self, progress: Progress) -> ExplicitRun:
        """Work until the end, a stop or a failure."""
        begin = clock.perf_counter()
        good = self.engine.snapshot()
        with Crew(self.explicit.threads) as crew, shown(progress, self.steps) as advance:
            while self.done < self.steps and self.status is RunStatus.COMPLETED:
                started, before = clock.perf_counter(), self.done
                self._piece(crew)
                advance(self.done - before)
                if not self.engine.good:
                    self._fail(good)
                    break
                good = self.engine.snapshot()
                self._pace(clock.perf_counter() - started, self.done - before)
                asked = self.stop is not None and self.done % self.pause == 0 and self.done < self.steps
                if asked and self._stops(crew):
                    self.status = RunStatus.STOPPED
            if self.status.ok:
                self.engine.synchronize(self.explicit.damping, crew)
        return self._result(clock.perf_counter() - begin)

    def _stops(self, crew: Crew) -> bool:
        """The user's answer, who is shown velocities of the same time as positions; asking does not change the course."""
        engine, between = self.engine, self.engine.snapshot()
        engine.synchronize(self.explicit.damping, crew)
        x, v = engine.x, engine.v
        answer = self.stop is not None and bool(self.stop(self.explicit))
        if np.array_equal(engine.x, x) and np.array_equal(engine.v, v):
            engine.restore(between)
        return answer

    def _pace(self, seconds: float, steps: int) -> None:
        """Choose how many steps take about PATIENCE."""
        if steps >= self.piece:
            self.piece = int(np.clip(steps * PATIENCE / max(seconds, 1e-6), 1, 8 * self.piece))

    def _piece(self, crew: Crew) -> None:
        """Some steps, up to the next question; one step with its energies where they are due."""
        left = min(self.steps - self.done, self.pause - self.done % self.pause, self.piece)
        if self.energy_every is None:
            self.engine.run(left, self.explicit.damping, self.record, self.origin, crew)
            return
        while left > 0:
            due = self.done % self.energy_every == 0
            count = 1 if due else min(left, self.energy_every - self.done % self.energy_every)
            x, v, time, at_once = self.engine.x, self.engine.v, self.explicit.time, self.engine.synchronous
            self.engine.run(count, self.explicit.damping, self.record, self.origin, crew)
            if due:
                self._sample_energy(time, x, v if at_once else 0.5 * (v + self.engine.v))
            left -= count

    def _sample_energy(self, time: float, x: Array, v: Array) -> None:
        e = self.explicit
        self.samples.append((time, *energies(e.springs, e.on, e.around, x, v, time)))

    def _fail(self, good: Any) -> None:
        self.status = RunStatus.DIVERGED
        wrong = ~np.isfinite(self.engine.x + self.engine.v).all(axis=1)
        self.failed_node = int(np.flatnonzero(wrong)[0]) if wrong.any() else None
        self.engine.restore(good)

    def _result(self, seconds: float) -> ExplicitRun:
        e, engine, done = self.explicit, self.engine, self.done
        complete = self.status.ok and done % self.every == 0
        samples = -(-done // self.every) + complete
        x, v = engine.x, engine.v
        positions, velocities = self.record.x[:samples].astype(float), self.record.v[:samples].astype(float)
        if complete:
            positions[-1], velocities[-1] = x[self.ids], v[self.ids]
            if self.record.torque.size:
                self.record.torque[samples - 1] = engine.torques()
        if self.energy_every is not None and self.status.ok and done % self.energy_every == 0:
            self._sample_energy(e.time, x, v)
        kept = [sample for sample in self.samples if sample[0] <= e.time + 0.5 * e.step]
        table = Energies(*np.array(kept).reshape(-1, 5).T) if self.energy_every is not None else None
        count = len(e.springs.springs) * done
        return ExplicitRun(
            self.status,
            (self.origin + self.every * np.arange(samples)) * e.step,
            self.ids,
            positions,
            velocities,
            self.record.torque[:samples],
            table,
            x,
            v,
            e.time,
            e.step,
            done,
            seconds,
            count / seconds,
            e.layout,
            e.threads,
            self.failed_node,
        )
