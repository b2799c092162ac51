"""The explicit engine on a GPU, by NVIDIA Warp (the extra `warp`): the same steps, in float32.

Its kernels are tested against the engine for processors on Warp's own processor device ("warp-cpu"), which is slow. How fast
they are on a GPU has not been measured. Not there: Runge-Kutta and forward Euler, motors, laws of springs, given motions, loads
with signals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import InputError, MissingExtraError
from pliant.motion.explicit import tables
from pliant.motion.explicit._loop_kernels import mix_factors
from pliant.motion.explicit._signal_kernels import evaluate
from pliant.motion.explicit.engine import INTEGRATORS, coefficients
from pliant.motion.explicit.setup import SignalBox, Surroundings, material_weights, node_ids, projectors, signals_table
from pliant.motion.explicit.springs import Array, Ids, Springs


class WarpEngine:
    """The interface of `Engine` on a device of Warp."""

    def __init__(
        self, springs: Springs, around: Surroundings, *, device: str, step: float, integrator: str, dtype: np.dtype[Any]
    ) -> None:
        _require_known(device)
        _require_supported(around, integrator, dtype)
        self._wp, self._kernels = _warp()
        self.device = _device(self._wp, device)
        self.springs, self.step, self.integrator, self.dtype = springs, step, INTEGRATORS[integrator], dtype
        self.number, self.synchronous, self._now = 0, True, 0
        self._weights, self._signals, mix = _mixes(springs, around)
        self._make_springs(mix)
        self._make_nodes(around)
        self._make_world(around)
        self.put(springs.points, np.zeros_like(springs.points))

    def _array(self, values: Any, kind: Any) -> Any:
        return self._wp.array(values, dtype=kind, device=self.device)

    def _make_springs(self, mix: Ids) -> None:
        """Springs of every node, one after the other."""
        n, ends = len(self.springs.points), self.springs.springs
        own, other = ends.ravel(), ends[:, ::-1].ravel()
        order = np.lexsort((other, own))
        self._spring = np.repeat(np.arange(len(ends)), 2)[order]
        start = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n))])
        self._start, self._other = self._array(start, int), self._array(other[order], int)
        self._k = self._array(self.springs.constants[self._spring], float)
        self._length = self._array(self.springs.lengths[self._spring], float)
        self._mix = self._array(mix[self._spring], int)

    def _make_nodes(self, around: Surroundings) -> None:
        n = len(self.springs.points)
        mobile = np.ones(n)
        mobile[self.springs.supports.fixed] = mobile[self.springs.supports.prescribed] = 0.0
        matrices = np.tile(np.eye(3), (n, 1, 1))
        for i, projector in projectors(self.springs.supports, around.lines, n).items():
            matrices[i] = projector
        self._mobile = self._array(mobile, float)
        self._inverse_mass = self._array(mobile / self.springs.masses, float)
        self._projector = self._array(matrices, self._wp.mat33)
        self.change_loads(around)

    def _make_world(self, around: Surroundings) -> None:
        wp, codes = self._wp, [obstacle.encoded() for obstacle in around.obstacles]
        self._gravity = wp.vec3(*[float(g) for g in around.gravity])
        self._kinds = self._array(np.array([kind for kind, _ in codes], np.int32), int)
        self._shapes = self._array(np.array([shape for _, shape in codes]).reshape(-1, 4), wp.vec4)
        touch = [(o.friction, o.damping, o.stiffness or 0.0) for o in around.obstacles]
        self._touch = self._array(np.array(touch).reshape(-1, 3), wp.vec3)
        self._stiffness = self._array(self.springs.node_stiffness, float)

    def change_loads(self, around: Surroundings) -> None:
        """Take other loads, constant ones."""
        total = np.zeros_like(self.springs.points)
        for load in around.loads:
            if load.signal is not None:
                raise InputError("a load with a signal on a Warp device", remedy="use device='cpu'")
            ids = node_ids(load.nodes, len(total), "a load")
            np.add.at(total, ids, np.broadcast_to(np.asarray(load.force, float), (len(ids), 3)))
        self._load = self._array(total, self._wp.vec3)

    def scale_springs(self, on: Array) -> None:
        """Take the constants of all springs times `on` [m]."""
        self._k = self._array((self.springs.constants * on)[self._spring], float)

    def put(self, x: Array, v: Array) -> None:
        """Set positions [n, 3] [m] and velocities [n, 3] [m/s]."""
        moving = v * self._mobile.numpy()[:, None]
        self._x = [self._array(x, self._wp.vec3) for _ in range(2)]
        self._v = self._array(moving, self._wp.vec3)
        self.synchronous = True

    @property
    def x(self) -> Array:
        """Positions now [n, 3] [m]."""
        return np.asarray(self._x[self._now].numpy().astype(float))

    @property
    def v(self) -> Array:
        """Velocities now [n, 3] [m/s]; within a run of Verlet those of half a step before."""
        return np.asarray(self._v.numpy().astype(float))

    @property
    def good(self) -> bool:
        """Whether all numbers are finite."""
        return bool(np.isfinite(self.x).all() and np.isfinite(self.v).all())

    def rewind(self) -> None:
        """Back to rest at time zero."""
        self.put(self.springs.points, np.zeros_like(self.springs.points))
        self.number = 0

    def snapshot(self) -> tuple[Array, Array, int, bool]:
        """State to come back to."""
        return self.x, self.v, self.number, self.synchronous

    def restore(self, state: tuple[Array, Array, int, bool]) -> None:
        """Come back to a state."""
        self.put(state[0], state[1])
        self.number, self.synchronous = state[2], state[3]

    def record_table(self, ids: Ids, every: int, samples: int) -> tables.Record:
        """Where samples of nodes go."""
        shape = (samples, len(ids), 3)
        x, v = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        none = np.zeros(1, np.int64)
        return tables.Record(ids, np.arange(len(ids)), none, every, x, v, np.zeros((samples, 0)))

    def run(self, steps: int, damping: float, record: tables.Record, origin: int, crew: object) -> None:
        """Advance by so many steps."""
        wp, kernels = self._wp, self._kernels
        factors = self._factors(self.number, steps)
        nodes = self._array(record.node.astype(np.int32), int)
        first = self.number - origin
        every = record.every or steps + 1
        samples = (first + steps - 1) // every - -(-first // every) + 1 if len(record.node) else 0
        places, speeds = (
            wp.zeros((max(samples, 1), max(len(record.node), 1)), dtype=wp.vec3, device=self.device) for _ in range(2)
        )
        taken = 0

        def sample(source: Any, weight: float, into: Any) -> None:
            wp.launch(kernels.sample_nodes, len(record.node), [source, nodes, weight, taken, into], device=self.device)

        for s in range(steps):
            due = samples > 0 and (first + s) % every == 0
            opening = self.integrator == tables.VERLET and self.synchronous
            halves = self.integrator == tables.VERLET and not opening
            if due:
                sample(self._x[self._now], 1.0, places)
                sample(self._v, 0.5 if halves else 1.0, speeds)
            self._launch(
                coefficients(self.integrator, "opening" if opening else "steady", damping, self.step), factors, s
            )
            if due and halves:
                sample(self._v, 0.5, speeds)
            taken += due
            self.number += 1
            self.synchronous = self.integrator != tables.VERLET
        if samples:
            begin = -(-first // every)
            record.x[begin : begin + samples] = places.numpy()[:samples]
            record.v[begin : begin + samples] = speeds.numpy()[:samples]

    def synchronize(self, damping: float, crew: object) -> None:
        """Bring the velocities of Verlet to the time of the positions."""
        if not self.synchronous:
            numbers = coefficients(self.integrator, "closing", damping, self.step)
            self._launch(numbers, self._factors(self.number, 1), 0)
            self.synchronous = True

    def _factors(self, first: int, steps: int) -> Any:
        """Factors of the rest lengths of all mixtures in some steps, [steps, mixes], on the device."""
        table = np.ones((steps, len(self._weights)))
        values = np.zeros(len(self._signals.kind))
        if len(values):
            for s in range(steps):
                evaluate(self._signals, (first + s) * self.step, values)
                mix_factors(self._weights, values, table[s])
        return self._array(table, float)

    def _launch(self, numbers: tuple[float, float, float], factors: Any, row: int) -> None:
        x, out = self._x[self._now], self._x[1 - self._now]
        springs = [self._start, self._other, self._k, self._length, self._mix, factors, row]
        nodes = [self._inverse_mass, self._mobile, self._load, self._projector]
        world = [self._gravity, self._kinds, self._shapes, self._touch, self._stiffness]
        arguments = [x, self._v, out, *springs, *nodes, *world, *numbers]
        self._wp.launch(self._kernels.step_nodes, len(self.springs.points), arguments, device=self.device)
        self._now = 1 - self._now


def _mixes(springs: Springs, around: Surroundings) -> tuple[Array, tables.Signals, Ids]:
    """Weights of the signals in every mixture of materials, the first without any; the signals; the mixture of each spring."""
    box = SignalBox()
    weights, row = material_weights(springs, around, box)
    return weights, signals_table(box), row


def _warp() -> tuple[Any, Any]:
    try:
        import warp as wp
    except ImportError:
        raise MissingExtraError("a Warp device needs warp-lang", remedy="pip install 'pliant[warp]'") from None
    if hasattr(wp, "LOG_WARNING"):
        wp.config.log_level = wp.LOG_WARNING
    else:
        wp.config.quiet = True
    wp.init()
    from pliant.motion.explicit import _warp_kernels

    return wp, _warp_kernels


def _require_known(device: str) -> None:
    if device != "warp-cpu" and not device.startswith("cuda"):
        raise InputError(f"device is {device!r}", remedy="choose 'cpu', 'cuda' or 'warp-cpu'")


def _device(wp: Any, name: str) -> str:
    if name == "warp-cpu":
        return "cpu"
    if not wp.is_cuda_available():
        raise InputError(f"device {name!r} without a GPU that Warp can use", remedy="use device='cpu'")
    return name


def _require_supported(around: Surroundings, integrator: str, dtype: np.dtype[Any]) -> None:
    """No silent fallback: what a Warp device cannot do is refused."""
    missing = {
        "motors": around.motors,
        "laws of springs": around.laws,
        "given motions": around.motions,
        f"integrator {integrator!r}": integrator not in ("verlet", "semi-implicit"),
        "precision 'double'": dtype != np.float32,
    }
    for name, there in missing.items():
        if there:
            raise InputError(f"{name} on a Warp device", remedy="use device='cpu' (Warp: precision='single', verlet)")
