"""The command line: `pliant`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Optional

import typer

from pliant.algebra.compile_progress import expect_kernels_of
from pliant.errors import FileError, InputError, PliantError

if TYPE_CHECKING:
    from pliant.device import Log
    from pliant.gallery import Choices, Exhibit
    from pliant.view import Figure

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Soft-robot simulation and real-time model-based control.",
    pretty_exceptions_enable=False,
)  # fmt: skip

JsonPath = Annotated[Optional[Path], typer.Option("--json", help="Write the figures to this file.")]  # noqa: UP045

PagePort = Annotated[
    int, typer.Option(min=1, max=65535, help="Port of the page on this machine; the next free one where taken.")
]
PageHost = Annotated[
    str,
    typer.Option(
        "--host",
        help="Interface to serve the page on: an address of this machine, 0.0.0.0 for all; by default this machine only. "
        "Who has the whole address that is printed, with its token, can steer; it goes over the network in the open.",
    ),
]
MostNodes = Annotated[
    int, typer.Option(min=1, help="Refuse to fill with more nodes than this: mostly a unit is wrong.")
]
OpenBrowser = Annotated[bool, typer.Option("--open/--no-open", help="Show the page in the browser.")]


LONGEST = 7 * 86400.0
"""Seconds that a benchmark may be asked to take."""


def _print_version(wanted: bool) -> None:
    if wanted:
        import pliant

        print(f"pliant {pliant.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Soft-robot simulation and real-time model-based control."""


@app.command()
def run(
    robot: Annotated[
        str,
        typer.Argument(
            help="A robot of the gallery: ball, cantilever, diamond, drop, expander, finger, fingers, flexipod, grasp, "
            "gripper, multigait, pneunet, tendon, tripods, trunk or wheel (`pliant robots` tells more)."
        ),
    ],
    headless: Annotated[bool, typer.Option("--headless", help="No page: run, print a report, save a picture.")] = False,
    trajectory: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="What to follow: a name, or a CSV file with the columns time, x, y, z in seconds and metres; what to roll "
            "on (wheel), or where to (ball)."
        ),
    ] = None,
    mesh: Annotated[Optional[Path], typer.Option(help="Another mesh of this robot, in millimetres.")] = None,  # noqa: UP045
    body: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="What it is made of: tets (default), or springs (the trunk); what is picked up: box or ball (grasp), "
            "beam or box (fingers)."
        ),
    ] = None,
    gait: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="How it moves: walk or undulate (multigait), trot or bound (flexipod)."),
    ] = None,
    json: JsonPath = None,
    out: Annotated[Path, typer.Option(help="Folder for pictures, without a page.")] = Path("pliant-out"),
    port: PagePort = 8080,
    host: PageHost = "127.0.0.1",
    browser: OpenBrowser = True,
    drive: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="What moves with the page: can:INTERFACE:CHANNEL, serial:PORT, or simulated."),
    ] = None,
    command: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="What the drive is told: displacement (default) or effort."),
    ] = None,
    record: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Record all that the drive is told, stops too, to this file (.mcap; pliant replay shows it)."
        ),
    ] = None,
) -> None:
    """Run a robot: on a page in the browser, or (--headless, --json) its figures beside their references and a picture."""
    from pliant.gallery import Choices, find

    exhibit = find(robot)
    without_page = headless or json is not None
    _require_new_or_figures(json)
    _require_folder_for(record)
    _require_page_for_drive(without_page, drive, command, None if exhibit.records and without_page else record)
    choices = Choices(trajectory, mesh, body, gait, drive, command, record)
    expect_kernels_of(f"run {robot} --headless" if without_page else f"run {robot}")
    if without_page:
        _report(robot, exhibit, choices, out, json)
    else:
        exhibit.page(choices).serve(port=port, host=host, browser=browser)


def _report(name: str, exhibit: Exhibit, choices: Choices, out: Path, json: Path | None) -> None:
    """Figures to the terminal and to a file, a picture to a folder."""
    from pliant.view import print_figures

    before = _files_in(out)
    showing = exhibit.show(choices)
    print_figures(showing.figures, exhibit.title)
    for remark in showing.remarks:
        print(remark)
    picture = out / f"{name}.png"
    showing.draw(picture)
    _tell_written("picture", picture, before)
    _write(showing.figures, json)


@app.command()
def robots() -> None:
    """List the robots of the gallery."""
    from pliant.gallery import all_robots

    for name, exhibit in all_robots.items():
        print(f"{name:<14}{exhibit.title}")


OutFolder = Annotated[Path, typer.Option(help="Folder for tables, pictures and the journal.")]
Workers = Annotated[Optional[int], typer.Option(min=1, help="Processes; by default one per core.")]  # noqa: UP045
Scheduler = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, in place of processes of this machine."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a run with the same work and folder ended.")]


@app.command()
def workspace(
    robot: Annotated[str, typer.Argument(help="A robot of the gallery with an effector.")],
    rows: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Rows of the effector and how far each way [m, rad], such as y=0.04,x=0.04,z=0.04."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Places along each row.")] = 13,
    effector: Annotated[Optional[str], typer.Option(help="Which one, where there are several.")] = None,  # noqa: UP045
    tolerance: Annotated[float, typer.Option(help="How close is reached [m].")] = 1e-4,
    out: OutFolder = Path("pliant-out"),
    workers: Workers = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
    json: JsonPath = None,
) -> None:
    """Where a robot's effector gets without load, and the largest force that it can give there in every direction."""
    import time

    from pliant.analysis import Grid
    from pliant.analysis import workspace as explored
    from pliant.analysis.campaign import cluster
    from pliant.gallery import Follower, find
    from pliant.robot import Role
    from pliant.view import Figure, print_figures
    from pliant.view.maps import draw_workspace

    exhibit = find(robot)
    if not isinstance(exhibit, Follower):
        raise InputError(f"{robot} follows no targets", remedy="choose a robot that does (pliant robots)")
    _require_new_or_figures(json)
    built = exhibit.built_from()
    names = built.named(Role.EFFECTOR)
    chosen = (names[0] if names else "") if effector is None else effector
    if chosen not in names:
        raise InputError(f"{robot} has no effector {chosen!r}", remedy=f"choose among: {', '.join(names) or 'none'}")
    half = _halves(rows, built.ports[chosen].port.row_names, 0.15 * built.size)
    before = _files_in(out)
    grid, begin = Grid.around(chosen, half, count), time.perf_counter()
    with cluster(scheduler) as executor:
        table = explored(
            f"pliant.gallery.{robot}:build", grid, tolerance=tolerance, name=f"workspace of {robot}", executor=executor,
            workers=workers, journal=out / f"workspace_{robot}.jsonl", resume=resume,
        )  # fmt: skip
    seconds, reached = time.perf_counter() - begin, table["reached"] == 1
    figures = [
        Figure("workspace.points", len(table), "points"),
        Figure("workspace.reached", int(reached.sum()), "points"),
        Figure("workspace.points_per_s", len(table) / seconds, "1/s", better="higher"),
    ]
    strengths = [(f"workspace.{kind}_max", kind, unit) for kind, unit in (("force", "N"), ("torque", "N m"))]
    figures += [
        Figure(label, float(table[kind][reached].max()), unit, better="higher")
        for label, kind, unit in strengths
        if reached.any() and not all(table[kind][reached] != table[kind][reached])
    ]
    print_figures(figures, f"workspace of {robot}: {', '.join(half)} of {chosen}, no load")
    for file in table.write(out / f"workspace_{robot}"):
        _tell_written("table", file, before)
    if len(half) <= 3:
        picture = out / f"workspace_{robot}.png"
        draw_workspace(table, picture, title=f"{robot}: largest isotropic force, strong sense")
        _tell_written("picture", picture, before)
    _write(figures, json)


def _halves(given: str | None, names: Sequence[str], size: float) -> dict[str, float]:
    """What "y=0.04,x=0.04" says; by default the rows of places, slices along the second."""
    if given is None:
        own = [name for name in ("y", "x", "z") if name in names] or list(names)[:3]
        return dict.fromkeys(own, size)
    out = {}
    for part in given.split(","):
        name, _, half = part.partition("=")
        try:
            out[name.strip()] = float(half)
        except ValueError:
            raise InputError(f"--rows has {part!r}", remedy="give NAME=HALF, such as x=0.04,rz=0.5") from None
        if name.strip() not in names or not 0 < out[name.strip()] < float("inf"):
            raise InputError(f"--rows has {part!r}", remedy=f"give positive numbers of some of: {', '.join(names)}")
    return out


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="A Python file with variants and evaluate(**variant).")],
    out: OutFolder = Path("pliant-out"),
    workers: Workers = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
    plot: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Two results to draw against each other, such as force,reached."),
    ] = None,
) -> None:
    """Evaluate every variant of a study on all cores, or on a cluster; a killed run goes on with --resume."""
    from pliant.analysis import Study
    from pliant.analysis import sweep as swept
    from pliant.analysis.campaign import cluster
    from pliant.view.maps import draw_pareto

    study, before = Study(file), _files_in(out)
    stem = out / f"sweep_{study.path.stem}"
    with cluster(scheduler) as executor:
        table = swept(study, executor=executor, workers=workers, journal=stem.with_suffix(".jsonl"), resume=resume)
    print(f"{len(table)} variants of {study.path.name}: {', '.join(table.columns)}")
    for written in table.write(stem):
        _tell_written("table", written, before)
    if plot is not None:
        x, _, y = plot.partition(",")
        draw_pareto(table, stem.with_suffix(".png"), x.strip(), y.strip(), costs=study.costs, title=study.path.name)
        _tell_written("picture", stem.with_suffix(".png"), before)


@app.command()
def zwidth(
    robot: Annotated[str, typer.Argument(help="A haptic robot of the gallery: tripods.")],
    rates: Annotated[str, typer.Option(help="Rates of commands [Hz].")] = "125,250,500",
    delays: Annotated[str, typer.Option(help="Delays of measurements [s].")] = "0,0.01,0.02",
    out: OutFolder = Path("pliant-out"),
    workers: Workers = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> None:
    """The softest and the stiffest wall that a haptic device renders without trembling, over rate and delay."""
    from pliant.analysis.campaign import cluster
    from pliant.analysis.zwidth import zwidth as ranged
    from pliant.view.maps import draw_zwidth

    if robot != "tripods":
        raise InputError(f"{robot!r} is no haptic device", remedy="choose tripods")
    from pliant.gallery import tripods_wall

    before, stem = _files_in(out), out / f"zwidth_{robot}"
    numbers = [_numbers_of(text, name) for text, name in ((rates, "--rates"), (delays, "--delays"))]
    with cluster(scheduler) as executor:
        table = ranged(
            tripods_wall.width, numbers[0], numbers[1], executor=executor, workers=workers,
            journal=stem.with_suffix(".jsonl"), resume=resume,
        )  # fmt: skip
    for k in range(len(table)):
        row = {name: table[name][k] for name in table.columns}
        print(
            f"{row['rate']:6.0f} Hz, {1e3 * row['delay']:4.0f} ms late: {row['softest']:.3g} to {row['stiffest']:.3g} N/m"
        )
    for written in table.write(stem):
        _tell_written("table", written, before)
    draw_zwidth(table, stem.with_suffix(".png"), title=f"{robot}: stable walls, looked for from 20 to 200,000 N/m")
    _tell_written("picture", stem.with_suffix(".png"), before)


def _numbers_of(text: str, name: str) -> list[float]:
    """What "125,250" says."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{name} is {text!r}", remedy="give numbers with commas in between") from None


@app.command()
def calibrate(
    robot: Annotated[str, typer.Argument(help="A robot of the gallery with sensors of bending: tripods.")],
    table: Annotated[
        Path,
        typer.Argument(
            help="Recorded data, .csv or .npz: columns of the motors' angles [rad] and of what sensors said."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The model file to write (.json).")] = Path("calibration.json"),
    method: Annotated[str, typer.Option(help="best (exact, default) or l1 (the paper's).")] = "best",
    unit: Annotated[str, typer.Option(help="Of what the sensors said.")] = "counts",
    json: JsonPath = None,
) -> None:
    """What sensors of bending feel, from a table of recorded data: a model file for `tripods.build(sensors=...)`."""
    import importlib

    from pliant.analysis import Table
    from pliant.analysis import calibrate as calibrated
    from pliant.view import Figure, print_figures

    if robot != "tripods":
        raise InputError(
            f"{robot!r} has no sensors of bending", remedy="choose tripods, or call pliant.analysis.calibrate"
        )
    _require_new_or_figures(json)
    gallery = importlib.import_module("pliant.gallery.tripods")
    device = importlib.import_module("pliant.gallery.tripods_device")
    model, before = gallery.build(), _files_in(out.parent)
    found = calibrated(model, Table.read(table), device.candidates(model), method=method, unit=unit)  # type: ignore[arg-type]
    figures = [
        Figure(f"calibration.{name}_error_percent", 100 * strip.share, "%", better="lower")
        for name, strip in found.strips.items()
    ]
    print_figures(figures, f"calibration of {robot}: mean absolute error over the sensor's range")
    out.parent.mkdir(parents=True, exist_ok=True)
    _tell_written("model file", found.save(out), before)
    _write(figures, json)


@app.command()
def mesh(
    file: Annotated[Path, typer.Argument(help="STL, OBJ, PLY, VTK, VTU or GMSH file.")],
    unit: Annotated[str, typer.Option(help="Unit of the file: m, cm, mm, um, in.")] = "m",
    fill: Annotated[Optional[float], typer.Option(help="Fill with tets of this size, in metres.")] = None,  # noqa: UP045
    most_nodes: MostNodes = 100_000,
    method: Annotated[str, typer.Option(help="Filler: stuffing, tetwild or gmsh.")] = "stuffing",
    out: Annotated[Optional[Path], typer.Option(help="Write the mesh here.")] = None,  # noqa: UP045
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --out where there is one.")
    ] = False,
) -> None:
    """Inspect a mesh; fill a closed surface with tets."""
    from pliant.shape import TetMesh, read
    from pliant.shape.files import FORMATS

    if out is not None and out.suffix.lower() not in FORMATS:
        raise FileError(f"{out} has an unknown ending", remedy=f"use one of {', '.join(FORMATS)}", path=out)
    _require_folder_for(out)
    if out is not None and out.exists() and not overwrite:
        raise FileError(f"{out} already exists", remedy="give another name, or --overwrite", path=out)
    expect_kernels_of("mesh --fill")
    shape = read(file, unit)
    print(shape)
    if fill is not None:
        shape = shape.filled(fill, method, most_nodes=most_nodes)
        print(f"filled: {shape}")
    if isinstance(shape, TetMesh):
        print(f"volume {shape.volume * 1e6:.4g} cm^3, {len(set(shape.components().tolist()))} part(s)")
        print(shape.quality())
    else:
        closed = "closed" if shape.is_closed else "open"
        print(f"{closed} surface, area {shape.area * 1e4:.4g} cm^2, volume {shape.volume * 1e6:.4g} cm^3")
    if out is not None:
        shape.write(out)
        print(f"written: {out}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A mesh file with tets, or a closed surface together with --fill.")],
    unit: Annotated[str, typer.Option(help="Unit of the file: m, cm, mm, um, in.")] = "m",
    fill: Annotated[Optional[float], typer.Option(help="First fill with tets of this size, in metres.")] = None,  # noqa: UP045
    most_nodes: MostNodes = 100_000,
    young: Annotated[float, typer.Option(help="Young's modulus in pascals.")] = 150e3,
    nu: Annotated[float, typer.Option(help="Poisson's ratio.")] = 0.45,
) -> None:
    """Tell how good a mesh is for simulation: quality, and how much too stiff four-node tets are on it."""
    from pliant.body import TetBody
    from pliant.material import Corotational
    from pliant.shape import HalfSpace, TetMesh, read

    expect_kernels_of("check --fill")
    law = Corotational(E=young, nu=nu)
    shape = read(file, unit)
    shape = shape.filled(fill, most_nodes=most_nodes) if fill is not None else shape
    if not isinstance(shape, TetMesh):
        raise InputError(f"{file} holds a surface", remedy="give the size of the tets, such as --fill 0.004")
    print(shape)
    print(shape.quality())
    axis = int(shape.size.argmax())
    normal = [float(k == axis) for k in range(3)]
    held = shape.where(HalfSpace(shape.bounds[0] + 0.05 * shape.size, normal))
    body = TetBody(shape, law, fixed=held)
    print(f"held at its low end along {'xyz'[axis]} ({len(held)} nodes), under its own weight:")
    print(body.discretization_error())


@app.command()
def repair(
    file: Annotated[Path, typer.Argument(help="A recording (.mcap) that was never finished, or is damaged.")],
    out: Annotated[Optional[Path], typer.Option(help="Write it here instead of in its place.")] = None,  # noqa: UP045
) -> None:
    """Make a recording whole that a killed process left behind, or that is damaged (the original is kept: FILE.damaged)."""
    from pliant.device import read_recording
    from pliant.device import repair as repaired

    _require_folder_for(out)
    if out is not None and out.exists():
        raise FileError(f"{out} already exists", remedy="give another name", path=out)
    before = read_recording(file)
    if before.whole and not before.damaged and out is None:
        print(f"{file} is whole")
        return
    log = repaired(file, out)
    _print_damage(before)
    if before.damaged and out is None:
        print(f"the original is kept: {file}.damaged")
    begin, end = log.span
    records = sum(len(track) for track in log.tracks.values())
    print(f"repaired: {out or file}, {records} records, {end - begin:.3f} s")


def _print_damage(log: Log) -> None:
    """What is wrong with a file, and what that costs."""
    if not log.whole:
        print("the file was never finished, or its end is gone: all up to there was read")
    if log.damaged:
        print(f"{log.damaged} damaged part{'s' if log.damaged > 1 else ''} of the file skipped")
    if log.missing:
        which = ", ".join(f"{name} {count}" for name, count in log.missing.items())
        print(f"{sum(log.missing.values())} records that were written are missing: {which}")


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A recording (.mcap), finished or not.")],
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("pliant-out"),
    page: Annotated[
        bool, typer.Option("--page", help="Run it again on a page: the same targets at the same times.")
    ] = False,
    robot: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="With --page: of the gallery; by default the one recorded."),
    ] = None,
    port: PagePort = 8080,
    host: PageHost = "127.0.0.1",
    browser: OpenBrowser = True,
) -> None:
    """Show what was recorded: a table of all signals and events, and a picture of them over time; or run it again."""
    from pliant.device import read_recording
    from pliant.view import draw_signals, print_signals

    log = read_recording(file)
    print_signals(log)
    _print_damage(log)
    if log.damaged or not log.whole:
        print(f"pliant repair {file} makes it whole for other programs")
    before = _files_in(out)
    picture = out / f"{file.stem}.png"
    draw_signals(log, picture, title=file.name)
    _tell_written("picture", picture, before)
    if page:
        _rerun(log, file.name, robot, port, host, browser)


def _rerun(log: Log, title: str, robot: str | None, port: int, host: str, browser: bool) -> None:
    """The recorded targets once more, on a page."""
    from pliant.gallery import Follower, all_robots, find
    from pliant.view import Page, recorded_paths

    made_by = log.about.get("robot", "")
    name = robot or next((known for known in all_robots if made_by == f"pliant.gallery.{known}.build"), None)
    if name is None:
        raise InputError(
            f"the recording is of {made_by or 'an unknown robot'}, which is not in the gallery",
            remedy="name one with --robot, or open a Page of your own with view.recorded_paths(log, robot)",
        )
    exhibit = find(name)
    if not isinstance(exhibit, Follower):
        raise InputError(f"{name} follows no targets", remedy="choose a robot that does with --robot")
    built = exhibit.built_from()
    paths = {"recording": recorded_paths(log, built)}
    Page(built, paths=paths, rate=exhibit.rate, title=title, start="recording").serve(
        port=port, host=host, browser=browser
    )


@app.command()
def doctor() -> None:
    """Tell what is installed, what is missing, how many cores and which real-time rights there are."""
    from pliant.doctor import examine

    examine()


@app.command()
def bench(
    what: Annotated[
        str,
        typer.Argument(help="What to measure: contact, fem, haptics, held, inverse, qp, realtime, rods or springs."),
    ],
    json: JsonPath = None,
    mesh: Annotated[Optional[Path], typer.Option(help="Also measure on this tet mesh (in mm).")] = None,  # noqa: UP045
    large: Annotated[bool, typer.Option(help="Include the meshes of 5,000 and 20,000 nodes.")] = True,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long realtime runs, in seconds.")] = 60.0,
    repeats: Annotated[int, typer.Option(min=1, help="Runs: the median is shown, and the worst of bounds.")] = 1,
) -> None:
    """Measure speed, as milliseconds and as ratios within one run."""
    from pliant.bench import fem, inverse, qp
    from pliant.bench.repeat import repeated
    from pliant.shape import read
    from pliant.view import print_figures

    _require_new_or_figures(json)
    if not seconds * repeats <= LONGEST:
        raise InputError(f"{repeats} runs of {seconds:g} s would take weeks", remedy="give fewer or shorter ones")
    if mesh is not None:
        if what not in ("contact", "fem", "held", "inverse"):
            raise InputError(f"{what} is not measured on a mesh", remedy="leave out --mesh")
        read(mesh, "mm")
    expect_kernels_of(f"bench {what}")
    lines: list[str] = []
    if what == "fem":
        figures = repeated(lambda: fem.measure(mesh, large=large), repeats)
        title = "finite elements, one thread, beside scipy's splu of the same matrix in the same run"
    elif what == "held":
        from pliant.bench import held

        figures = repeated(lambda: held.measure(mesh), repeats)
        title = "rows that are held and rows that come and go, one thread, beside the same without"
    elif what == "inverse":
        figures, title = (
            repeated(lambda: inverse.measure(mesh), repeats),
            "the inverse on the diamond robot, one thread",
        )
    elif what == "qp":
        figures, title = repeated(qp.measure, repeats), "decisions with bounds and courses"
    elif what == "realtime":
        from pliant.bench import realtime, recovery

        def measured() -> list[Figure]:
            found, said = realtime.measure(seconds)
            lines.extend(said)
            return found + recovery.measure()

        figures = repeated(measured, repeats)
        title = f"the diamond robot at two rates for {seconds:.0f} s, beside a bare loop; then its model's process is killed"
    elif what == "haptics":
        from pliant.bench import haptics

        def rendered() -> list[Figure]:
            found, said = haptics.measure(seconds)
            lines.extend(said)
            return found

        figures = repeated(rendered, repeats)
        title = f"the haptic device for {seconds:.0f} s with measurements replayed, beside a bare loop"
    elif what == "contact":
        from pliant.bench import contact

        figures, title = repeated(lambda: contact.measure(mesh), repeats), "contact, one thread"
    elif what == "rods":
        from pliant.bench import rods

        figures, title = repeated(rods.measure, repeats), "rods and rigid parts, one thread"
    elif what == "springs":
        from pliant.bench import springs

        figures, title = repeated(springs.measure, repeats), "explicit steps of spring lattices, Verlet, no contact"
    else:
        raise InputError(
            f"there is no benchmark {what!r}",
            remedy="choose: contact, fem, haptics, held, inverse, qp, realtime, rods or springs",
        )
    print_figures(figures, title)
    print("\n".join(lines))
    _write(figures, json)


@app.command()
def paper(
    name: Annotated[str, typer.Argument(help="Which one: largilliere2015, koehler2023, cronos.")],
    out: Annotated[Path, typer.Option(help="Folder for the plots.")] = Path("pliant-out"),
    json: JsonPath = None,
    data: Annotated[Optional[Path], typer.Option(help="Folder with measurements of others, where needed.")] = None,  # noqa: UP045
) -> None:
    """Reproduce a paper's tables and figures, each value beside the paper's."""
    from pliant.paper import all_papers
    from pliant.view import print_figures

    if name not in all_papers:
        raise InputError(f"there is no paper {name!r}", remedy=f"choose: {', '.join(all_papers)}")
    _require_new_or_figures(json)
    before = _files_in(out)
    chosen = all_papers[name]
    result = chosen.reproduce(out, data)
    print_figures(result.figures, chosen.title)
    print("\n".join(result.lines))
    for path in result.plots:
        _tell_written("drawn", path, before)
    _write(result.figures, json)


def main() -> None:
    """Entry point: what is wrong with the arguments, the files or the robot is one line on stderr, with exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="pliant", standalone_mode=False)
    except PliantError as error:
        _end(f"{type(error).__name__}: {error}")
    except OSError as error:
        _end(f"{error.strerror or error}: {error.filename or ''}; check the path and its rights")
    except Exception as error:
        said = getattr(error, "format_message", None)  # of typer, about arguments; the class depends on its version
        if said is not None:
            where = getattr(getattr(error, "ctx", None), "command_path", "pliant")
            _end(f"{said().rstrip('.')}; see {where} --help")
        if type(error).__name__ == "Abort":  # Ctrl-C
            sys.exit(130)
        raise
    sys.exit(code or 0)


def _end(what: str) -> NoReturn:
    print("pliant: " + " ".join(what.split()), file=sys.stderr)
    sys.exit(2)


def _require_page_for_drive(without: bool, drive: str | None, command: str | None, record: Path | None) -> None:
    """Refuse what would have no effect: a drive moves with a page, and the others are about a drive."""
    if drive is not None and without:
        raise InputError("--drive needs a page", remedy="leave out --headless and --json, or --drive")
    for option, given in (("--command", command), ("--record", record)):
        if given is not None and drive is None:
            raise InputError(f"{option} is about a drive", remedy=f"give one with --drive, or leave out {option}")


def _require_folder_for(file: Path | None) -> None:
    """Refuse an output file that cannot be, before the work is done and not after."""
    if file is None:
        return
    folder = file.absolute().parent
    if not folder.is_dir():
        raise FileError(f"there is no folder {folder}", remedy="make it first, or give another path")
    if file.is_dir():
        raise FileError(f"{file} is a folder", remedy="give the name of a file")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise FileError(f"{file} cannot be written", remedy="check the rights, or give another path")


def _require_new_or_figures(json: Path | None) -> None:
    """Figures replace older figures, since they are measured again and again; never anything else."""
    from pliant.view.figures import are_figures

    _require_folder_for(json)
    if json is not None and json.is_file() and not are_figures(json):  # a pipe or a terminal is not replaced
        raise FileError(f"{json} exists, and holds no figures", remedy="give another name", path=json)


def _write(figures: Sequence[Figure], json: Path | None) -> None:
    """Figures to a file, if one is wanted."""
    from pliant.view import write_figures

    if json is not None:
        before = {json} if json.exists() else set()
        write_figures(figures, json)
        _tell_written("figures", json, before)


def _files_in(out: Path) -> set[Path]:
    """What is in a folder for pictures, which is made where there is none."""
    out.mkdir(parents=True, exist_ok=True)
    return set(out.iterdir())


def _tell_written(what: str, file: Path, before: set[Path]) -> None:
    """Say what was written, and whether something of that name was there before."""
    print(f"{what}: {file}{' (replaced)' if file in before else ''}")


if __name__ == "__main__":
    main()
