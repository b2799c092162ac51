"""Rods beside their peers: PyElastica for a rod that swings, a Cosserat boundary value problem by scipy for statics.

python benchmarks/peers_rods.py [--json FILE]        (needs: pip install pyelastica)

1. A rod of rubber, 1 m long and 40 mm thick, is clamped level and let go; its tip is followed for a second. Both codes run at
   several resolutions. Their finest runs tell whether they compute the same motion; then the error of every run against
   pliant's finest one (largest distance of the tips at a hundred times, over the length) and its time tell how long each takes
   for the same error, 2 %. PyElastica's error falls with the length of its elements, so its two finest runs extrapolated say
   what it tends to. Compilation is not counted: a short run comes first.
2. The same rod in balance under its weight and a force across its tip, beside scipy.integrate.solve_bvp.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version

import numpy as np
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.view.figures import Figure, bounded, write_figures

LENGTH, DIAMETER, E, NU, DENSITY, G = 1.0, 0.04, 1e7, 0.5, 1000.0, 9.81
SAMPLES = np.linspace(0.01, 1.0, 100)
"""When the tip is looked at [s]."""
OURS = ((8, 0.02), (8, 0.01), (8, 0.005), (16, 0.0025), (40, 0.0005))
"""Elements and steps [s], the finest last."""
THEIRS = ((20, 2e-4), (40, 1e-4), (80, 5e-5), (160, 2.5e-5))
"""The same for PyElastica, whose explicit steps must go with the elements."""
WANTED = 0.02
"""The error at which times are compared, over the length."""
PUSH = (0.0, 4.0, 0.0)
"""Across the tip, in statics [N]."""


def rod(elements: int) -> pl.RodBody:
    """The rod along x, clamped at its beginning."""
    line = pl.Curve([(0, 0, 0), (LENGTH, 0, 0)])
    return pl.RodBody(line, pl.Section.circle(DIAMETER), E, NU, DENSITY, count=elements, fixed="start")


def swing_by_pliant(elements: int, h: float, until: float = SAMPLES[-1]) -> tuple[np.ndarray, float]:
    """Places of the tip (k, 3) [m] at the samples, and seconds."""
    robot = pl.Robot(rod(elements), gravity=(0, 0, -G))
    motion, state, tips = pl.Dynamics(robot, h, method="newton"), robot.rest(), [robot.rest().x[-4]]
    begin = time.perf_counter()
    for _ in range(round(until / h)):
        state = motion.step(state).require().state
        tips.append(state.x[-4])
    seconds = time.perf_counter() - begin
    return _sampled(h * np.arange(len(tips)), np.array(tips)), seconds


def swing_by_pyelastica(elements: int, h: float, until: float = SAMPLES[-1]) -> tuple[np.ndarray, float]:
    """The same."""
    import elastica as ea

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.CallBacks):
        pass

    times, tips = [], []

    class Tip(ea.CallBackBaseClass):
        def __init__(self, step_skip: int) -> None:
            super().__init__()
            self.every = step_skip

        def make_callback(self, system, time, current_step) -> None:
            if current_step % self.every == 0:
                times.append(float(time))
                tips.append(system.position_collection[:, -1].copy())

    simulator = Simulator()
    along, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    body = ea.CosseratRod.straight_rod(
        elements, np.zeros(3), along, up, LENGTH, DIAMETER / 2, DENSITY, youngs_modulus=E,
        shear_modulus=E / (2 * (1 + NU)),
    )  # fmt: skip
    simulator.append(body)
    clamp = {"constrained_position_idx": (0,), "constrained_director_idx": (0,)}
    simulator.constrain(body).using(ea.OneEndFixedBC, **clamp)
    simulator.add_forcing_to(body).using(ea.GravityForces, acc_gravity=np.array([0.0, 0.0, -G]))
    simulator.collect_diagnostics(body).using(Tip, step_skip=max(1, round(5e-3 / h)))
    simulator.finalize()
    begin = time.perf_counter()
    ea.integrate(ea.PositionVerlet(), simulator, until, round(until / h), progress_bar=False)
    return _sampled(np.array(times), np.array(tips)), time.perf_counter() - begin


def _sampled(times: np.ndarray, tips: np.ndarray) -> np.ndarray:
    """At the samples, by a cubic through what there is."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(times, tips)(SAMPLES)


def seconds_for(error: float, runs: list[tuple[float, float]]) -> float:
    """Seconds that an error takes, between runs (error, seconds) on logarithmic scales; that of the coarsest run where even
    that is better."""
    errors, seconds = np.array(sorted(runs)).T
    return float(np.exp(np.interp(np.log(error), np.log(errors), np.log(seconds))))


def swings() -> list[Figure]:
    """Both at all resolutions."""
    found = {}
    for name, swing, runs in (("pliant", swing_by_pliant, OURS), ("pyelastica", swing_by_pyelastica, THEIRS)):
        swing(*runs[0], until=runs[0][1] * 20 if name == "pliant" else 0.05)
        found[name] = [swing(*run) for run in runs]
    finest = found["pliant"][-1][0]
    way = np.linalg.norm(finest - (LENGTH, 0, 0), axis=1).max()
    print(f"the tip swings by up to {way:.2f} m within {SAMPLES[-1]:g} s")
    speeds = {}
    for name, runs in (("pliant", OURS[:-1]), ("pyelastica", THEIRS)):
        each = []
        for (elements, h), (tips, seconds) in zip(runs, found[name], strict=False):
            error = float(np.linalg.norm(tips - finest, axis=1).max()) / LENGTH
            each.append((error, seconds))
            print(
                f"{name:>10}  {elements:4d} elements  {1e3 * h:8.3f} ms  error {100 * error:7.3f} %  {seconds:8.3f} s"
            )
        speeds[name] = each
    last, before = found["pyelastica"][-1][0], found["pyelastica"][-2][0]
    extrapolated = (
        float(np.linalg.norm(2 * last - before - finest, axis=1).max()) / LENGTH
    )  # its clamp is of first order
    ours, theirs = (seconds_for(WANTED, speeds[name]) for name in ("pliant", "pyelastica"))
    source = f"PyElastica {version('pyelastica')}"
    return [
        bounded("peers.swing_apart", 100 * speeds["pyelastica"][-1][0], "% of L", 2.0, "lower", source),
        Figure("peers.swing_extrapolated_apart", 100 * extrapolated, "% of L", better="lower", source=source),
        Figure("peers.swing_pliant_s", ours, "s", better="lower"),
        Figure("peers.swing_pyelastica_s", theirs, "s", source=source),
        Figure("peers.swing_factor", theirs / ours, "x", better="higher", source=source),
    ]


def balance_by_pliant(elements: int) -> tuple[np.ndarray, float]:
    """The tip in balance, (3,) [m], and seconds."""
    robot = pl.Robot(rod(elements), gravity=(0, 0, -G))
    robot.impose("push", pl.Point((LENGTH, 0, 0)), effort=PUSH)
    statics = pl.Statics(robot)
    statics.solve().require()
    begin = time.perf_counter()
    state = statics.solve().require().state
    return state.x[-4], time.perf_counter() - begin


def balance_by_scipy(tolerance: float) -> tuple[np.ndarray, float]:
    """The same of a Cosserat rod: p' = R (e + n / k), q' = spin by u = m / K, n' = -w, m' = -p' x n in space, with n and m the
    force and the moment across a section, p(0) = 0, q(0) = 1, n(L) = push, m(L) = 0."""
    section = pl.Section.circle(DIAMETER)
    shear = np.array(section.shear_factors(NU)) * section.area * E / (2 * (1 + NU))
    stretch = np.array([E * section.area, *shear])
    bend = np.array([E / (2 * (1 + NU)) * section.J, E * section.Iy, E * section.Iz])
    weight = np.array([0.0, 0.0, -G * DENSITY * section.area])

    def slope(s, y):
        q, n, m = y[3:7].T, y[7:10].T, y[10:].T
        turn = Rotation.from_quat(q)
        along = turn.apply(np.array([1.0, 0, 0]) + turn.apply(n, inverse=True) / stretch)
        w = turn.apply(turn.apply(m, inverse=True) / bend)
        spin = np.concatenate(
            [0.5 * (q[:, 3:] * w + np.cross(w, q[:, :3])), -0.5 * np.einsum("ni,ni->n", w, q[:, :3])[:, None]], axis=1
        )
        return np.concatenate([along, spin, np.tile(-weight, (len(q), 1)), -np.cross(along, n)], axis=1).T

    def ends(a, b):
        return np.concatenate([a[:3], a[3:7] - [0, 0, 0, 1], b[7:10] - PUSH, b[10:]])

    s = np.linspace(0, LENGTH, 11)
    guess = np.zeros((13, len(s)))
    guess[0], guess[6] = s, 1.0
    begin = time.perf_counter()
    found = solve_bvp(slope, ends, s, guess, tol=tolerance, max_nodes=20000)
    if not found.success:
        raise ArithmeticError(f"solve_bvp: {found.message}")
    return found.y[:3, -1], time.perf_counter() - begin


def balances() -> list[Figure]:
    """Tips and times; those of scipy at a tolerance that is as good."""
    true, _ = balance_by_scipy(1e-9)
    print(f"statics: the tip is at {true.round(4).tolist()} m")
    rows = [("pliant", n, *balance_by_pliant(n)) for n in (10, 20, 40)]
    rows += [("solve_bvp", t, *balance_by_scipy(t)) for t in (1e-2, 1e-3, 1e-4)]
    runs: dict[str, list[tuple[float, float]]] = {"pliant": [], "solve_bvp": []}
    for name, size, tip, seconds in rows:
        error = float(np.linalg.norm(tip - true)) / LENGTH
        runs[name].append((error, seconds))
        print(f"{name:>10}  {size:8g}  error {100 * error:9.5f} %  {1e3 * seconds:8.2f} ms")
    ours, theirs = runs["pliant"][1][1], seconds_for(runs["pliant"][1][0], runs["solve_bvp"])
    source = f"scipy {version('scipy')}, solve_bvp"
    return [
        bounded("peers.statics_apart", 100 * runs["pliant"][1][0], "% of L", 0.5, "lower", source),
        Figure("peers.statics_factor", theirs / ours, "x", better="higher", source=source),
    ]


def main() -> int:
    """Print, and write figures where asked for."""
    figures = balances()
    try:
        figures += swings()
    except ModuleNotFoundError as error:
        print(f"{error}: pip install pyelastica, to swing beside it")
    for figure in figures:
        print(f"{figure.name:26s} {figure.value:10.4g} {figure.unit:8s} {figure.source}")
    if "--json" in sys.argv:
        write_figures(figures, sys.argv[sys.argv.index("--json") + 1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
