"""Anything at all as frames, recordings, guard values, wirings and addresses: an error of pliant's own, or the right answer."""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter

from pliant import Cable, Corotational, Point, Robot, TetBody, make
from pliant.control import Correction, HeldTarget
from pliant.control.pace import Pace
from pliant.control.targets import as_targets
from pliant.device import (
    Audit,
    BusAddress,
    BusDrive,
    Channel,
    DriveStatus,
    Feed,
    Guard,
    PlantProcess,
    PlantServer,
    Recorder,
    SimulatedDrive,
    SimulatedPlant,
    Wiring,
    drive_address,
    opened_drive,
    read_recording,
    repair,
)
from pliant.device.frames import COMMAND, MEASUREMENT, RESUME, STOP, CanAssembler, Message, SerialParser, checksum
from pliant.device.link import Link
from pliant.device.mcap_file import MAGIC
from pliant.device.recording import Writer
from pliant.errors import FileError, InputError, PliantError
from pliant.exchange import Flags, Mailbox, Ring

pytestmark = pytest.mark.thorough

fuzzed = functools.partial(
    settings, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.booleans()
ODD = st.one_of(
    NUMBERS,
    st.none(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.complex_numbers(),
    st.just(object()),
    st.just(len),
    st.just(np.datetime64("2020-01-01")),
    st.just(np.array(["a", "b"])),
    st.just(np.zeros((2, 0, 3))),
    st.just({"low": 1.0}),
    st.just({1.0, 2.0}),
)
ANY = ODD | st.lists(ODD, max_size=4) | st.lists(st.lists(NUMBERS, max_size=3), max_size=3)


# guards ---------------------------------------------------------------------------------------------------------------


LIMITS = ANY | st.just([0.0, 1.0]) | st.just(5.0)
TIMES = st.fixed_dictionaries({}, optional=dict.fromkeys(("stale", "hold", "ramp", "longest", "start"), ANY))


@fuzzed(max_examples=150)
@given(st.tuples(LIMITS, LIMITS, LIMITS, LIMITS), TIMES)
def test_a_guard_guards_or_is_not_made(limits, options):
    """Whatever it is made of: what it lets through is finite and within its limits."""
    with contextlib.suppress(InputError):
        guard = Guard(*limits, **options)
        for now in (0.0, 0.1, 5.0):
            guard.check(np.full(len(guard.low), 1e9), now, 0.0)
            assert np.isfinite(guard.command).all()
            assert (guard.low <= guard.command).all()
            assert (guard.command <= guard.high).all()


@fuzzed(max_examples=100)
@given(st.lists(st.tuples(ANY, ANY, ANY), max_size=10))
def test_a_guard_takes_anything(calls):
    """Commands, clocks and ages of any kind: nothing raises, nothing leaves its bounds, nothing jumps."""
    guard = Guard([0.0, -2.0], [10.0, 3.0], rate=1.0, safe=1.0)
    for wanted, now, age in calls:
        before = guard.command.copy()
        guard.check(wanted, now, age)
        assert np.isfinite(guard.command).all()
        assert (np.abs(guard.command - before) <= 0.1 + 1e-12).all()


@fuzzed(max_examples=60)
@given(ANY, ANY, ANY)
def test_an_audit_judges_or_is_not_made(low, high, rate):
    """What it calls clean is within finite limits."""
    with contextlib.suppress(InputError):
        audit = Audit(low, high, rate)
        command = np.full(len(audit.low), 1e7)
        allowed = 1.001e-6 * np.maximum(np.abs(audit.low), np.abs(audit.high))
        assert not audit.see(command, 0.0) or (command <= audit.high + allowed).all()


# wirings, channels, names, and other things that are made --------------------------------------------------------------

NAMES = ANY | st.lists(st.text(max_size=4), max_size=4) | st.just(("a", "b"))


@fuzzed(max_examples=80)
@given(ANY | st.sampled_from(["effort", "displacement"]), NAMES, NAMES, NAMES, NAMES)
def test_a_wiring_names_every_row_or_is_not_made(kind, commands, units, measurements, measurement_units):
    """Texts in tuples, a unit each, no name twice."""
    with contextlib.suppress(InputError):
        wiring = Wiring(kind, commands, units, measurements, measurement_units)
        for names, own in ((wiring.commands, wiring.command_units), (wiring.measurements, wiring.measurement_units)):
            assert isinstance(names, tuple)
            assert len(set(names)) == len(names) == len(own)
            assert all(isinstance(text, str) for text in (*names, *own))


DTYPES = st.sampled_from(
    [
        np.dtype([("time", "f8")]),
        [("time", "f8"), ("x", "i8"), ("row", "f8", (3,))],
        [("time", "f4")],
        [("time", "f8"), ("o", object)],
        [("time", "f8"), ("deep", "f8", (2, 2))],
        "f8",
        "nonsense",
    ]
)


MEANINGS = st.fixed_dictionaries(
    {},
    optional={
        "units": ANY | st.just({"x": "m"}),
        "rows": ANY | st.just({"row": ("a", "b", "c")}),
        "words": ANY | st.just({"x": {1: "one"}}),
        "capacity": ANY,
    },
)


@fuzzed(max_examples=80)
@given(ANY, DTYPES | ANY, MEANINGS)
def test_a_channel_can_be_recorded_or_is_not_made(name, dtype, options):
    """Its schema, metadata and messages are text."""
    with contextlib.suppress(InputError):
        channel = Channel(name, dtype, **options)
        assert channel.schema()
        assert all(isinstance(text, str) for text in channel.metadata().values())
        assert len(channel.messages(np.zeros(2, channel.dtype))) == 2


def small_robot() -> Robot:
    """As small as one can be."""
    mesh = make.box((0.02, 0.01, 0.01), (2, 1, 1))
    robot = Robot(TetBody(mesh, Corotational(E=1e5, nu=0.3), density=1000, fixed=mesh.where(x_below=0)))
    robot.actuate("pull", Cable([(0.02, 0.005, 0.005)], pull=(-0.01, 0.005, 0.005)), effort=(0, 5), effort_rate=20.0)
    robot.effect("tip", Point(near=(0.02, 0.005, 0.005)))
    return robot


ROBOT = small_robot()
PATHS = st.text(st.characters(exclude_characters="/:\\", exclude_categories=("Cs",)), max_size=12)


BUSES = st.sampled_from(["can", "serial", "simulated", "usb", ""])
COLONS = st.sampled_from([":", "", "::"])
ADDRESSES = st.builds("{}{}{}{}{}".format, BUSES, COLONS, PATHS, COLONS, PATHS)


@fuzzed(max_examples=80)
@given(ADDRESSES | ANY, ANY | st.sampled_from(["effort", "displacement"]))
def test_a_drive_is_opened_by_its_name_or_not_at_all(name, kind):
    """What is no address is told, by the name that was given, before or when it is opened."""
    with contextlib.suppress(PliantError):
        parts = drive_address(name)
        assert parts[0] in ("can", "serial", "simulated")
        opened_drive(name, ROBOT, kind).close()


class Thing:
    """Something that is asked for its numbers, and does not have any."""

    def __array__(self, *_, **__):
        raise RuntimeError("no numbers")

    def __repr__(self):
        raise RuntimeError("no words")


MADE = {
    "correction": lambda junk: Correction(junk, junk, junk),
    "target": HeldTarget,
    "targets": lambda junk: as_targets(junk, ("x", "y", "z"), 100.0),
    "pace": Pace,
    "feed": lambda junk: Feed(junk, junk, rate=junk),
    "drive": SimulatedDrive,
    "plant": lambda junk: SimulatedPlant(ROBOT, junk, settling=junk, noise=junk, seed=junk, start=junk),
    "ports": lambda junk: SimulatedPlant(ROBOT, 0.01, commands=junk, measures=junk),
    "server": lambda junk: PlantServer(junk, junk, junk, junk, junk, interval=junk),
    "process": lambda junk: PlantProcess(junk, junk, junk, junk, junk),
    "address": lambda junk: BusAddress("virtual", junk, junk).link(Wiring("effort", ("a",), ("N",), (), ())),
    "recorder": lambda junk: Recorder(junk, junk),
    "channels": lambda junk: Recorder("never.mcap", [junk], about=junk),
    "of_robot": lambda junk: Guard.of_robot(ROBOT, rate=junk, safe=junk),
    "robot": Guard.of_robot,
    "wiring": Wiring.of_robot,
    "recording": read_recording,
    "repair": repair,
}


@pytest.mark.parametrize("what", MADE)
@fuzzed(max_examples=20)
@given(junk=ANY | st.just(Thing()))
def test_what_makes_no_sense_is_told(what, junk, tmp_path, monkeypatch):
    """Every maker of the room: an error of pliant's own, or something that works."""
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(PliantError):
        made = MADE[what](junk)
        if hasattr(made, "close"):
            made.close()


@fuzzed(max_examples=40)
@given(
    DTYPES | ANY,
    st.sampled_from([1, 3, 0, -1, 2.5, None, "a"]),
    st.text(max_size=6).filter(lambda name: "/" not in name) | st.none(),
)
def test_shared_memory_is_there_or_is_not_made(dtype, capacity, name):
    """Names that nobody has, records that cannot be, rings without room."""
    for make_one in (lambda: Ring(dtype, capacity, name), lambda: Mailbox(dtype, name), lambda: Flags(2, name)):
        with contextlib.suppress(PliantError):  # each by itself: one that is refused must not hide the next
            make_one().close()


# frames ---------------------------------------------------------------------------------------------------------------

COUNTS = {COMMAND: 1, MEASUREMENT: 4, STOP: 0, RESUME: 0}


def frame(kind, values, sequence, seconds=0.0):
    message = Message(kind, len(values))
    message.values[:] = np.array(values, np.float32)
    return message.as_serial(message.seal(sequence, seconds))


FRAMES = st.builds(
    lambda kind, sequence, seconds: frame(kind, [1.0] * COUNTS[kind], sequence, seconds),
    st.sampled_from(list(COUNTS)),
    st.integers(0, 70000),
    st.floats(allow_nan=True, allow_infinity=True),
)


@fuzzed(max_examples=100)
@given(st.lists(FRAMES | st.binary(max_size=40) | st.just(b"\xa5" * 9), max_size=12), st.integers(1, 50))
def test_bytes_of_any_kind_make_only_whole_messages(parts, size):
    """On a serial line: what comes out has the right number of values and the checksum of its bytes."""
    status = DriveStatus()
    parser, stream = SerialParser(COUNTS, status), b"".join(parts)
    for at in range(0, len(stream), size):
        parser.feed(stream[at : at + size])
        while (message := parser.take()) is not None:
            assert len(message.values) == COUNTS[message.kind]
            whole = b"\xa5" + bytes(message.body) + checksum(message.body).to_bytes(2, "little")
            assert whole in stream
    assert status.damaged <= len(stream)


IDENTIFIERS = st.integers(0, 0x1FFFFFFF) | st.sampled_from([0x080, 0x0BF, 0x0FF, 0x100, 0x101, 0x13F, 0x180, 0x1BF])


@fuzzed(max_examples=100)
@given(st.lists(st.tuples(IDENTIFIERS, st.binary(max_size=8) | st.just(bytes(8))), max_size=40))
def test_frames_of_any_kind_make_only_whole_messages(frames):
    """On CAN: identifiers and lengths as they come."""
    assembler = CanAssembler(COUNTS, DriveStatus())
    for identifier, data in frames:
        message = assembler.add(identifier, data)
        if message is not None:
            assert struct.unpack("<HHI", data)[1] == checksum(message.body)


class Line(Link):
    """What a test puts in, comes out."""

    def __init__(self, wiring):
        super().__init__(wiring)
        self.inbox = []

    def send(self, message, sequence, seconds):
        return True

    def receive(self):
        return self.inbox.pop(0) if self.inbox else None

    def close(self):
        pass


@functools.cache
def small_plant():
    return SimulatedPlant(ROBOT, 0.01, settling=0.0)


SENT = st.tuples(
    st.sampled_from([COMMAND] * 6 + [STOP, RESUME, MEASUREMENT]),
    st.integers(0, 65535) | st.integers(0, 20),
    st.floats(0, 4294) | st.floats(0, 1) | st.sampled_from([0.0, 100.0]),
    st.floats(width=32) | st.floats(0, 5, width=32),
    st.integers(1, 3),
)
STEPS = st.floats(0, 0.03) | st.sampled_from([0.0, 0.3, 0.6, 20.0])


@fuzzed(max_examples=80)
@given(st.lists(st.tuples(SENT, STEPS), max_size=40))
def test_no_messages_move_the_far_side_faster_than_it_may(happenings):
    """Any senders, counts, clocks, values, stops and resumes, once or repeated, at any times: what it does is within its bounds
    and rates by its own clock, or at rest."""
    plant = small_plant()
    link = Line(plant.wiring)
    server = PlantServer(plant, link, [0.0], [5.0], [20.0], interval=0.01, timeout=0.5)
    server.plant.advance = lambda command, until: None  # the physics is not in question
    now, before = 0.0, server._command.copy()
    for (kind, sequence, seconds, value, times), step in happenings:
        message = Message(kind, link.counts[kind])
        message.values[:] = value
        message.seal(sequence, seconds)
        link.inbox += [message] * times
        now += step
        server.turn(now)
        after = server._command.copy()
        assert (after >= -1e-5).all()
        assert (after <= 5.0 + 1e-5).all()
        resting = (after == server._resting).all()
        assert resting or (np.abs(after - before) <= 20.0 * min(step, 0.1) + 1e-9).all()
        before = after
    del server.plant.advance


@fuzzed(max_examples=60)
@given(st.lists(st.tuples(ANY, ANY), max_size=8))
def test_a_drive_takes_anything(calls):
    """Commands and times of any kind: nothing raises, and what is no number does not leave."""
    wiring = Wiring("effort", ("a", "b"), ("N", "N"), (), ())
    drives = [BusDrive(Line(wiring))]
    for command, now in calls:
        for drive in drives:
            left = drive.send(command, now)
            assert not left or (np.isfinite(np.asarray(command, float)).all() and np.size(command) in (1, 2))
            drive.read()
            drive.stop()


# recordings -----------------------------------------------------------------------------------------------------------

CONTROL = Channel(
    "control",
    np.dtype([("time", "f8"), ("tick", "i8"), ("command", "f8", (2,))]),
    units={"command": "N"},
    rows={"command": ("a", "b")},
)


@functools.cache
def recording(folder: Path) -> bytes:
    """A small recording of six chunks."""
    file = folder / "good.mcap"
    writer = Writer(str(file), [CONTROL], 0.0, {"robot": "none"}, overwrite=True)
    for part in range(6):
        batch = np.zeros(20, CONTROL.dtype)
        batch["tick"] = np.arange(20 * part, 20 * part + 20)
        batch["time"] = 0.01 * batch["tick"]
        batch["command"] = np.stack([np.sin(batch["tick"]), 3.0 * batch["tick"]], axis=1)
        writer.add("control", batch)
        writer.flush()
    writer.finish()
    return file.read_bytes()


def require_true(log):
    """Every record that is read was written, in its order; none twice."""
    for name, track in log.tracks.items():
        assert name == "control"
        ticks = track["tick"]
        assert (np.diff(ticks) > 0).all()
        assert ((ticks >= 0) & (ticks < 120)).all()
        assert (track["command"] == np.stack([np.sin(ticks), 3.0 * ticks], axis=1)).all()


@fuzzed(max_examples=120)
@given(data=st.data())
def test_a_damaged_recording_is_read_true_or_refused(data, tmp_path_factory):
    """Bytes changed, cut out, put in, doubled, cut off: what is read is what was written, and damage is told."""
    folder = Path(tmp_path_factory.getbasetemp()) / "recordings"
    folder.mkdir(exist_ok=True)
    good = recording(folder)
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(bad)))
        size = data.draw(st.integers(0, 60) | st.integers(0, 3000))
        how = data.draw(st.sampled_from(["flip", "fill", "cut", "put", "end"]))
        if how == "flip":
            bad[at : at + 1] = bytes(byte ^ (1 << size % 8) for byte in bad[at : at + 1])
        elif how == "fill":
            bad[at : at + size] = bytes([data.draw(st.sampled_from([0, 6, 255]))]) * len(bad[at : at + size])
        elif how == "cut":
            del bad[at : at + size]
        elif how == "put":
            bad[at:at] = data.draw(st.binary(max_size=60))
        else:
            del bad[at:]
    file, fixed = folder / f"bad{os.getpid()}.mcap", folder / f"fixed{os.getpid()}.mcap"
    file.write_bytes(bad)
    fixed.unlink(missing_ok=True)
    with contextlib.suppress(FileError):
        log = read_recording(file)
        require_true(log)
        for track in log.tracks.values():
            assert len(track) == 120 or not log.whole or log.damaged or log.missing
        again = repair(file, fixed)
        require_true(again)
        assert {name: len(track) for name, track in again.tracks.items()} == {
            name: len(track) for name, track in log.tracks.items()
        }


FIELDS = st.sampled_from(['{"time": ["<f8"]}', "{}", '{"time": ["<f8"], "x": ["<f8", 2]}'])
SAID = st.sampled_from([b'{"time": 1}', b'{"time": null, "x": [1, 2]}', b"{}", b"[" * 5000])


@fuzzed(max_examples=60)
@given(
    library=st.text(max_size=5) | st.just("pliant"),
    encoding=st.sampled_from(["json", "cdr", "protobuf", ""]),
    schema=st.sampled_from(["jsonschema", "ros2msg", ""]),
    metadata=st.dictionaries(
        st.sampled_from(["fields", "units", "rows", "words", "x"]), st.text(max_size=20) | FIELDS, max_size=5
    ),
    messages=st.lists(st.binary(max_size=30) | SAID, max_size=6),
    options=st.sampled_from(
        [{}, {"use_chunking": False}, {"enable_crcs": False}, {"compression": CompressionType.LZ4}]
    ),
)
def test_recordings_of_others_are_told(library, encoding, schema, metadata, messages, options, tmp_path_factory):
    """Any MCAP file: pliant's own error, or as many records as there are messages."""
    file = Path(tmp_path_factory.getbasetemp()) / f"other{os.getpid()}.mcap"
    with open(file, "wb") as stream:
        writer = McapWriter(stream, **options)
        writer.start(profile="", library=library)
        channel = writer.register_channel("/a", encoding, writer.register_schema("s", schema, b""), metadata)
        for k, message in enumerate(messages):
            writer.add_message(channel, k, message, k, k)
        writer.finish()
    with contextlib.suppress(FileError):
        log = read_recording(file)
        assert all(len(track) == len(messages) for track in log.tracks.values()) or log.damaged
    file.with_name(file.name + ".damaged").unlink(missing_ok=True)
    with contextlib.suppress(FileError):
        assert repair(file).whole


RECORDS = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=80), st.integers(-3, 3)), max_size=20)


@fuzzed(max_examples=60)
@given(RECORDS, st.binary(max_size=40))
def test_records_of_any_kind_are_survived(records, tail):
    """Opcodes, lengths and bytes as they come behind the right beginning; chunks whose insides are any of that."""
    inside = b"".join(struct.pack("<BQ", opcode, max(0, len(body) + off)) + body for opcode, body, off in records)
    head = struct.pack("<QQQI", 0, 0, len(inside), zlib.crc32(inside) or 1)
    chunk = head + struct.pack("<I", 0) + struct.pack("<Q", len(inside)) + inside
    file = Path(os.environ.get("TMPDIR", "/tmp")) / f"pliant-fuzz-{os.getpid()}.mcap"
    try:
        for body in (inside, struct.pack("<BQ", 6, len(chunk)) + chunk):
            file.write_bytes(MAGIC + body + tail)
            with contextlib.suppress(FileError):
                read_recording(file)
    finally:
        file.unlink()
