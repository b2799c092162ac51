"""Clay, Wyetzner, Gaudio, Xia, Moshova, Austin, Segan, Lipson: A massively-parallel 3D simulator for soft and hybrid robots
(Cronos, 2021).

Every table and figure of it, made again with pliant's lattices and its explicit engine:

    cronos_beams        frequency over length, width and height, by eigenvalue (fig. 5)
    cronos_vibration    the same of recorded motions (fig. 5), and of beams that hang (fig. 8)
    cronos_energy       energy with four integrators (fig. 7)
    truth_cylinder      a measured cylinder (Table 1, fig. 6)
    cronos_speed        springs per second (Table 2, fig. 9), 8,000 masses (Table 3)
    cronos_lattices     lattices of a bone (fig. 4)
    cronos_applications the three robots of fig. 1

The paper leaves the spring constants open; ours follow from Young's modulus. Its GPUs are cited, not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pliant.paper import cronos_beams as beams
from pliant.paper import cronos_energy as energy
from pliant.paper import cronos_plots as plots
from pliant.paper import cronos_speed as speed
from pliant.paper import cronos_vibration as vibration
from pliant.paper import truth_cylinder as cylinder
from pliant.paper.cronos_applications import applications
from pliant.paper.cronos_beams import Beam, Frequencies
from pliant.paper.cronos_lattices import lattices
from pliant.paper.cronos_vibration import Sagging, Swing
from pliant.paper.paper import Paper, Reproduction
from pliant.view import Figure
from pliant.view.figures import bounded

PAPERS_LARGE = 0.56
"""Percent between FFT and eigenvalue of the paper's beam under a large deformation."""
SMALL_LOAD = 0.05
"""w L^3 / (E I) of the beam of fig. 8 that is bent a little."""
THREE_INTEGRATORS_TO, ONE_TO = 2_000.0, 8_000.0
"""The work of a run grows with (L/H)^3 W/H: up to the first number all three integrators run, up to the second Verlet."""


def reproduce(out: Path | None, data: Path | None = None) -> Reproduction:
    """All of it; Table 1 needs the folder `data` with truth_cylinder/ in it."""
    measured = None if data is None else cylinder.Measurement.read(data)  # first: what is missing is said at once
    parts = [
        _frequencies(out), _large(out), _energy(out), _truth(out, measured), _speed(out), _lattices(out), applications(out)
    ]  # fmt: skip
    return Reproduction(
        [figure for part in parts for figure in part.figures],
        [line for part in parts for line in part.lines],
        [plot for part in parts for plot in part.plots],
    )


def swings_of(shapes: tuple[Beam, ...]) -> dict[tuple[Beam, str], Swing]:
    """Those beams let go whose runs are not too long, by integrator."""
    limits = {name: ONE_TO if name == "verlet" else THREE_INTEGRATORS_TO for name in vibration.INTEGRATORS}
    return {
        (beam, integrator): vibration.let_go(beam, integrator)
        for beam in shapes
        for integrator in vibration.INTEGRATORS
        if beam.slenderness**3 * beam.width <= limits[integrator] * (1 + 1e-9)
    }


@dataclass(frozen=True)
class Agreement:
    """Largest differences of many small swings [%]: FFT from the eigenvalue of the same lattice, crossings from the FFT."""

    fft: float
    crossings: float


def agreement(swings: list[Swing]) -> Agreement:
    """Over all of them."""
    return Agreement(
        100 * max(abs(s.fft / s.eigenvalue - 1) for s in swings),
        100 * max(abs(s.crossings / s.fft - 1) for s in swings),
    )


def _frequencies(out: Path | None) -> Reproduction:
    shapes = beams.all_shapes()
    found = {beam: beams.frequencies(beam) for beam in shapes}
    swept = tuple(dict.fromkeys((*beams.LENGTHS, *beams.WIDTHS, *beams.HEIGHTS)))
    swings = swings_of(swept)
    worst = max(found.values(), key=lambda f: abs(f.error))
    agreed = agreement(list(swings.values()))
    narrow, wide = found[Beam(10.0, 1.0)], found[Beam(10.0, 4.0)]
    figures = [
        bounded(
            "cronos.frequency_error_percent", 100 * abs(worst.error), "%", 3.0, "lower",
            f"bound; worst of {len(shapes)} beams, ten-node tets"
        ),
        bounded("cronos.fft_vs_eigen_percent", agreed.fft, "%", 0.5, "lower", f"bound; worst of {len(swings)} runs"),
        bounded("cronos.crossings_vs_fft_percent", agreed.crossings, "%", 0.5, "lower", "bound; the same runs"),
        Figure(
            "cronos.wide_beam_percent", 100 * (wide.springs / narrow.springs - 1), "%",
            100 * (wide.tets / narrow.tets - 1), "ten-node tets; Euler-Bernoulli 0"
        ),
    ]  # fmt: skip
    figures += [
        Figure(f"cronos.beam_L{b.slenderness:g}_W{b.width:g}_hz_over_euler", f.springs / f.euler, "x", f.tets / f.euler,
               f"ten-node tets, nu 1/4; Timoshenko {f.timoshenko / f.euler:.4f}")
        for b, f in found.items()
    ]  # fmt: skip
    drawn = [] if out is None else [plots.draw_frequencies(out, found, swings)]
    return Reproduction(figures, _frequency_lines(found, swings), drawn)


def _frequency_lines(found: dict[Beam, Frequencies], swings: dict[tuple[Beam, str], Swing]) -> list[str]:
    lines = [
        "fig. 5: first bending frequency over Euler-Bernoulli's. springs 8: eigenvalue, 8 cells through the height; tets:",
        f"  order 2, nu 1/4, {beams.TETS} through the height; FFT: explicit runs, tip pulled by L / 1000 (-: not run);",
        f"  their {vibration.COARSE} cells bend stiffer by 1 + 1/n^2, so their judge is the eigenvalue of the same lattice.",
        "  The paper's wide beams were faster than Euler-Bernoulli's, unexplained: so are tets (a plate cannot curl sideways).",
        "   L/H   W/H  springs 8    tets  Timoshenko   FFT: semi-implicit  verlet     rk4",
    ]
    for beam, f in found.items():
        ffts = [
            f"{swings[beam, i].fft / f.euler:.4f}" if (beam, i) in swings else "     -" for i in vibration.INTEGRATORS
        ]
        lines.append(
            f"  {beam.slenderness:4.1f}  {beam.width:4.2f}  {f.springs / f.euler:9.4f}  {f.tets / f.euler:.4f}  "
            f"{f.timoshenko / f.euler:10.4f}   {ffts[0]:>18}  {ffts[1]}  {ffts[2]}"
        )
    return lines


def _large(out: Path | None) -> Reproduction:
    small = vibration.sagging(SMALL_LOAD)
    load = vibration.load_that_shifts(PAPERS_LARGE / 100)
    cases = {load: vibration.sagging(load), **{more: vibration.sagging(more) for more in (2.0, 4.0)}}
    far = vibration.sagging(load, from_straight=True)
    large = cases[load]
    figures = [
        bounded("cronos.small_fft_vs_eigen_percent", 100 * abs(small.error_hanging), "%", 0.5, "lower", "bound"),
        Figure("cronos.large_fft_vs_straight_percent", 100 * large.error_at_rest, "%", PAPERS_LARGE, "the paper"),
        bounded(
            "cronos.large_fft_vs_hanging_percent", 100 * abs(large.error_hanging), "%", PAPERS_LARGE / 10, "lower",
            "a tenth of the paper's difference"
        ),
        Figure("cronos.large_sag_percent", 100 * large.sag, "% of L"),
        Figure("cronos.large_swing_vs_hanging_percent", 100 * abs(far.error_hanging), "%", better="lower"),
    ]  # fmt: skip
    lines = [
        "fig. 8: a 10 m beam hanging under its own weight swings about where it hangs; FFT against eigenvalues.",
        *(_sag_line(case) for case in (small, *cases.values())),
        "  The paper's 0.56 % has that size where the tip hangs down by a tenth of L: the eigenvalue of the straight beam is",
        f"  not that of the bent one. Let go when straight, swinging as far as it sags: {100 * far.error_hanging:+.3f} %.",
        "  (The paper gives neither modulus nor load: the load here is the one with its difference.)",
    ]
    return Reproduction(figures, lines, [] if out is None else [plots.draw_spectra(out, small, large)])


def _sag_line(case: Sagging) -> str:
    return (
        f"  tip down {100 * case.sag:5.2f} % of L: against the eigenvalue when straight {100 * case.error_at_rest:+7.3f} %, "
        f"about the equilibrium {100 * case.error_hanging:+.3f} %"
    )


def _energy(out: Path | None) -> Reproduction:
    runs = {name: energy.released(*case) for name, case in energy.CASES.items()}
    kinetic = float(runs["verlet"].after.kinetic.max())
    forward = {fraction: energy.forward_gain_time(fraction, kinetic) for fraction in energy.FORWARD}
    verlet, finer = runs["verlet"], runs["verlet_half_step"]
    source = "bound; Verlet at half its limit"
    figures = [
        bounded("cronos.energy_drift_percent", 100 * abs(verlet.drift), "%", 0.1, "lower", source),
        bounded("cronos.energy_ripple_percent", 100 * verlet.ripple, "%", 1.0, "lower", source),
        Figure("cronos.energy_ripple_ratio", verlet.ripple / finer.ripple, "x", 4.0, "second order, half the step"),
    ]
    for name in ("semi_implicit", "rk4"):
        figures += [
            Figure(f"cronos.energy_{name}_drift_percent", 100 * runs[name].drift, "%", better="lower"),
            Figure(f"cronos.energy_{name}_ripple_percent", 100 * runs[name].ripple, "%", better="lower"),
        ]
    figures += [
        Figure(f"cronos.energy_forward_{fraction:g}_gain_ms", 1e3 * seconds, "ms", better="higher",
               source="until it has gained the kinetic energy")
        for fraction, (_, seconds) in forward.items()
    ]  # fmt: skip
    lines = [
        "fig. 7: drift (fitted slope times 1 s) and ripple of the total energy after the beam is let go, relative to its",
        "  largest kinetic energy; steps are half of each limit. The paper's Euler keeps energy, so it must be the semi-",
        "  implicit one; forward Euler (steps relative to Verlet's limit) gains it at any step and diverges.",
    ]
    drawn = [] if out is None else [plots.draw_energy(out, runs, {f: run for f, (run, _) in forward.items()})]
    return Reproduction(figures, lines, drawn)


def _truth(out: Path | None, measured: cylinder.Measurement | None) -> Reproduction:
    if measured is None:
        return Reproduction([], ["Table 1, fig. 6: left out; give the folder that has truth_cylinder/ in it (--data)"])
    rows = [row for name, make in cylinder.models(measured).items() for row in cylinder.compare(measured, name, make)]
    lines = [
        "Table 1: mean of both distances between simulated and scanned surface, E of the data (60 kPa) and fitted; small-",
        "  strain tets (linear) take the rotation for strain, so no modulus fits. The paper tuned its springs by eye.",
    ]
    return Reproduction(cylinder.figures(rows), lines, [] if out is None else [plots.draw_truth(out, rows)])


def _speed(out: Path | None) -> Reproduction:
    found, steps = speed.throughput(), speed.step_times()
    papers = ", ".join(f"{device} {million:g}" for device, million in speed.PAPERS_SPEEDS.items())
    others = ", ".join(f"{name} {time:g}" for name, time in speed.PAPERS_STEPS.items())
    lines = [
        "Table 2, fig. 9: springs per second, float32; a step of RK4 counts each spring once. Peaks are over sizes of 1,000 to",
        "  1,000,000 springs. No GPU was run here. The paper's, million springs/s:",
        f"  {papers}.",
        "Table 3: 8,000 masses that move and 25 held, semi-implicit Euler. The paper's, ms on a GTX 1080 Ti:",
        f"  {others}.",
        f"  (The paper's best size on a V100, 77.19 k springs, is that of this beam of 320 x 4 x 4 cells: {steps[0]:,}.)",
    ]
    return Reproduction(speed.figures(found, steps), lines, [] if out is None else [plots.draw_speed(out, found)])


def _lattices(out: Path | None) -> Reproduction:
    made = lattices()
    figures = [Figure(f"cronos.bone_{one.name}_volume", one.volume, "x", 1.0, "the surface") for one in made]
    lines = [
        "fig. 4: a bone made of balls, a neck and a turned shaft, in place of the paper's femur; springs:",
        "  " + "; ".join(f"{one.title}: {len(one.lattice.springs):,}" for one in made),
    ]
    return Reproduction(figures, lines, [] if out is None else [plots.draw_lattices(out, made)])


PAPER = Paper("Clay et al. 2021: a massively-parallel 3D simulator for soft and hybrid robots (Cronos)", reproduce)
