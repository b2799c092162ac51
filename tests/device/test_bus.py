"""Messages on buses: whole, damaged, lost, late; and a plant in another process behind a real one."""

from __future__ import annotations

import multiprocessing
import os
import pty
import signal
import sys
import time
import tty
import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plants import LIMIT, arm_plant, broken_plant
from wires import wired

from pliant.device import (
    Audit,
    BusAddress,
    BusDrive,
    CanDrive,
    DriveStatus,
    Guard,
    PlantProcess,
    SerialDrive,
    Wiring,
)
from pliant.device.can_link import CanLink
from pliant.device.frames import (
    COMMAND,
    MEASUREMENT,
    RESUME,
    START,
    STOP,
    CanAssembler,
    Message,
    Reception,
    SerialParser,
    checksum,
    stamp_of,
)
from pliant.device.serial_link import SerialLink
from pliant.errors import InputError, MissingExtraError
from waiting import until

WIRING = Wiring("effort", ("a", "b", "c"), ("N",) * 3, ("x", "y", "z", "u", "v"), ("m",) * 5)
COUNTS = {COMMAND: 3, MEASUREMENT: 5, STOP: 0, RESUME: 0}


def sealed(kind, values, sequence, seconds=0.0):
    message = Message(kind, len(values))
    message.values[:] = values
    return message, message.seal(sequence, seconds)


def serial_frame(values, sequence, kind=COMMAND):
    message, crc = sealed(kind, values, sequence)
    return message.as_serial(crc)


def drained(parser):
    out = []
    while (message := parser.take()) is not None:
        out.append((message.sequence, message.values.tolist()))
    return out


def far_measurement(link, values, sequence, seconds):
    message = Message(MEASUREMENT, len(values))
    message.values[:] = values
    assert link.send(message, sequence, seconds)


def test_a_serial_frame_is_as_documented():
    """Byte for byte, against a frame put together by hand."""
    frame = serial_frame([1.0, -2.0], 0x1234)
    body = bytes([COMMAND, 2, 0x34, 0x12, 0, 0, 0, 0]) + np.array([1.0, -2.0], "<f4").tobytes()
    assert frame == bytes([0xA5]) + body + checksum(body).to_bytes(2, "little")
    assert checksum(b"123456789") == 0x29B1


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_frames_are_found_in_any_garbage_and_in_any_pieces(data):
    """Frames with garbage before, between and behind, fed in pieces of any size, come out whole and in order. (Garbage
    that could be the start of a frame may hide a frame only as long as no more bytes come.)"""
    parser = SerialParser(COUNTS, DriveStatus())
    garbage = st.binary(max_size=30)
    stream, expected = b"", []
    for k in range(data.draw(st.integers(1, 5))):
        stream += data.draw(garbage) + serial_frame([k, k + 0.5, -k], k)
        expected.append((k, [k, k + 0.5, -k]))
    stream += data.draw(garbage) + bytes(64)
    got = []
    while stream:
        size = data.draw(st.integers(1, 40))
        parser.feed(stream[:size])
        stream = stream[size:]
        got += drained(parser)
    assert got == expected


def test_a_flipped_bit_is_damage_and_the_next_frame_is_found():
    """For every single bit of a frame: it does not come through as something else, the one behind it does, damage is
    counted."""
    good = serial_frame([1.0, 2.0, 3.0], 7)
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        status = DriveStatus()
        parser = SerialParser(COUNTS, status)
        parser.feed(bytes(bad) + serial_frame([4.0, 5.0, 6.0], 8) + bytes(64))
        assert drained(parser) == [(8, [4.0, 5.0, 6.0])]
        assert status.damaged >= 1


def test_a_start_byte_inside_a_cut_frame_does_not_hide_the_next():
    """A frame cut off in the middle, full of start bytes."""
    parser = SerialParser(COUNTS, DriveStatus())
    parser.feed(
        bytes([START] * 9) + serial_frame([1.0, 2.0, 3.0], 1)[:11] + serial_frame([4.0, 5.0, 6.0], 2) + bytes(64)
    )
    assert drained(parser) == [(2, [4.0, 5.0, 6.0])]


def test_can_frames_make_a_message_only_together():
    """A missing part, a wrong bit, a wrong length, frames of others: no message, counted; the next whole one comes through."""
    status = DriveStatus()
    assembler = CanAssembler(COUNTS, status)
    message, crc = sealed(COMMAND, [1.0, 2.0, 3.0], 5)
    parts = [(0x100, bytes(message.body[8:16])), (0x101, bytes(message.body[16:20]) + bytes(4))]
    closing = (0x100 + 63, np.array([5, crc], "<u2").tobytes() + bytes(4))
    assert all(assembler.add(*part) is None for part in parts)
    assert assembler.add(*closing).values.tolist() == [1.0, 2.0, 3.0]
    assert assembler.add(*closing) is None
    assert assembler.add(*parts[0]) is None
    assert assembler.add(*closing) is None
    assert status.damaged == 2
    assembler.add(*parts[0])
    assembler.add(0x101, bytes([1]) + parts[1][1][1:])
    assert assembler.add(*closing) is None
    assembler.add(0x100, b"short")
    assembler.add(0x120, bytes(8))
    assert assembler.add(0x7FF, bytes(8)) is None
    assert status.damaged == 5
    for part in parts:
        assembler.add(*part)
    assert assembler.add(*closing).sequence == 5


def test_the_count_tells_what_is_lost_late_or_begun_anew():
    """Gaps are lost messages, also around 65536; a straggler is late and not taken; a sender that starts anew is followed."""
    status = DriveStatus()
    reception = Reception(status, late_after=0.01)
    for count in (65530, 65531, 65534, 3):
        assert reception.accept(sealed(MEASUREMENT, [], count, 1.0)[0], 2.0)
    assert (status.received, status.lost) == (4, 2 + 4)
    assert reception.count == 65536 + 3
    assert not reception.accept(sealed(MEASUREMENT, [], 1, 1.0)[0], 2.0)
    assert status.late == 1
    assert reception.accept(sealed(MEASUREMENT, [], 20000, 5.0)[0], 6.0)
    assert reception.accept(sealed(MEASUREMENT, [], 0, 0.5)[0], 9.0)
    assert reception.time == pytest.approx(0.5)


def test_a_sender_that_starts_anew_after_a_silence_is_heard_at_once():
    """A count that is a little behind is a straggler; after half a second of silence it is a new beginning."""
    reception = Reception(DriveStatus())
    for k in range(20):
        assert reception.accept(sealed(MEASUREMENT, [], k, 0.01 * k)[0], 1.0 + 0.01 * k)
    assert not reception.accept(sealed(MEASUREMENT, [], 0, 0.0)[0], 1.3)
    assert reception.accept(sealed(MEASUREMENT, [], 0, 0.0)[0], 3.0)
    assert reception.accept(sealed(MEASUREMENT, [], 1, 0.01)[0], 3.01)
    assert reception.count == 1


def test_the_stamp_tells_what_is_late_without_common_clocks():
    """Clocks that differ by a thousand seconds, and one that wraps around: only the message that took 30 ms longer is late."""
    status = DriveStatus()
    reception = Reception(status, late_after=0.02)
    begin = 2**32 * 1e-6 - 0.05
    for k in range(100):
        delay = 0.033 if k == 60 else 0.003
        reception.accept(sealed(MEASUREMENT, [], k, begin + 0.001 * k)[0], 5000.0 + 0.001 * k + delay)
    assert status.late == 1
    assert status.lost == 0
    assert reception.time == pytest.approx(begin + 0.099, abs=2e-6)


@pytest.fixture
def can_pair():
    channel = uuid.uuid4().hex
    drive, far = CanDrive(WIRING, "virtual", channel), CanLink(WIRING, "virtual", channel)
    yield drive, far
    drive.close()
    far.close()


@pytest.fixture
def serial_pair():
    """Two ends of a line: a pseudo terminal, and a second one joined to it by hand would need a thread; the master side
    is a file."""
    master, slave = pty.openpty()
    tty.setraw(master)
    tty.setraw(slave)
    drive = SerialDrive(WIRING, os.ttyname(slave))
    os.set_blocking(master, False)
    yield drive, master
    drive.close()
    os.close(master)
    os.close(slave)


def test_commands_and_measurements_on_can(can_pair):
    """Values, counts and times go both ways; the newest measurement wins; the status counts."""
    drive, far = can_pair
    assert drive.read() is None
    assert drive.send(np.array([1.0, 0.25, -3.0]), 12.5)
    message = until(far.receive)
    assert (message.kind, message.sequence, message.stamp) == (COMMAND, 0, stamp_of(12.5 + drive.origin))
    assert message.values.tolist() == [1.0, 0.25, -3.0]
    for k in range(3):
        far_measurement(far, [k, 0.1, 0.2, 0.3, 0.4], k, 1.0 + 0.001 * k)
    got = until(drive.read)
    assert got.values == pytest.approx([2.0, 0.1, 0.2, 0.3, 0.4])
    assert (got.sequence, got.time) == (2, pytest.approx(1.002))
    assert drive.read() is None
    far_measurement(far, [9, 0, 0, 0, 0], 7, 1.01)
    assert until(drive.read).sequence == 7
    assert (drive.status.sent, drive.status.received, drive.status.lost) == (1, 4, 4)
    drive.stop()
    drive.resume()
    assert [until(far.receive).kind for _ in range(2)] == [STOP, RESUME]


def test_what_is_not_a_number_does_not_leave(can_pair):
    """NaN, infinity, beyond single precision, a wrong number of rows: False and a fault, nothing on the bus, nothing raised."""
    drive, far = can_pair
    for command in (np.array([np.nan, 0, 0]), np.array([np.inf, 0, 0]), np.array([1e39, 0, 0]), np.zeros(2)):
        assert not drive.send(command, 0.0)
    assert drive.status.faults == 4
    assert far.receive() is None


def test_a_dead_bus_is_a_fault_not_an_exception(can_pair, serial_pair):
    """After the bus has gone, every call returns and is counted."""
    for drive, _ in (can_pair, serial_pair):
        drive.link.close()
        assert not drive.send(np.zeros(3), 0.0)
        assert drive.read() is None
        assert drive.status.faults == 2
        assert drive.status.last_fault


def test_commands_and_measurements_on_a_pseudo_terminal(serial_pair):
    """A real line of the system: frames as documented go out, frames between garbage come in."""
    drive, master = serial_pair
    assert drive.send(np.array([1.0, 2.0, 3.0]), 2.0)
    parser = SerialParser(COUNTS, DriveStatus())
    parser.feed(until(lambda: _read(master)))
    message = parser.take()
    assert (message.kind, message.stamp) == (COMMAND, stamp_of(2.0 + drive.origin))
    assert message.values.tolist() == [1.0, 2.0, 3.0]
    os.write(master, b"noise\xa5\x02" + serial_frame([1, 2, 3, 4, 5], 0, MEASUREMENT) + b"\xa5more")
    assert until(drive.read).values.tolist() == [1, 2, 3, 4, 5]
    os.write(master, serial_frame([5, 4, 3, 2, 1], 3, MEASUREMENT))
    got = until(drive.read)
    assert (got.sequence, got.values.tolist()) == (3, [5, 4, 3, 2, 1])
    assert drive.status.damaged == 2
    assert drive.status.lost == 2


def _read(master):
    try:
        return os.read(master, 4096) or None
    except BlockingIOError:
        return None


def test_a_full_line_neither_waits_nor_cuts_frames(serial_pair):
    """Nobody reads: sends fail quickly once the line is full; what is read later are whole frames only."""
    drive, master = serial_pair
    begin = time.monotonic()
    results = [drive.send(np.array([k, 0.0, 0.0]), 0.0) for k in range(4000)]
    assert time.monotonic() - begin < 5.0
    assert results[0]
    assert not results[-1]
    assert drive.status.faults == results.count(False) > 0
    status = DriveStatus()
    parser, got = SerialParser(COUNTS, status), []
    while (data := _read(master)) is not None:
        parser.feed(data)
        got += drained(parser)
    assert len(got) >= results.count(True) - 1
    assert all(values == [count, 0.0, 0.0] for count, values in got)
    assert status.damaged == 0


def test_the_loop_of_pyserial_brings_back_what_was_sent():
    """A drive does not take its own commands for measurements; a link does see them."""
    wiring = Wiring("effort", ("a",), ("N",), ("x",), ("m",))
    drive = SerialDrive(wiring, "loop://")
    assert drive.send(np.array([2.5]), 1.0)
    assert drive.read() is None
    far_measurement(drive.link, [0.125], 0, 1.0)
    assert drive.read().values.tolist() == [0.125]
    drive.close()
    link = SerialLink(wiring, "loop://")
    message = Message(COMMAND, 1)
    message.values[:] = 2.5
    link.send(message, 4, 1.0)
    assert link.receive().sequence == 4
    link.close()


def test_buses_that_are_not_there_are_named(monkeypatch):
    """A wrong port or interface, too many rows, a missing package: an error with its remedy, when it is made."""
    with pytest.raises(InputError, match="check its name"):
        SerialDrive(WIRING, "/dev/no-such-port")
    with pytest.raises(InputError, match="check the names"):
        CanDrive(WIRING, "no-such-interface", "x")
    rows = tuple(f"r{k}" for k in range(130))
    with pytest.raises(InputError, match="at most 120"):
        SerialDrive(Wiring("effort", rows, ("N",) * 130, (), ()), "loop://")
    for name, make in (
        ("can", lambda: CanDrive(WIRING, "virtual", "x")),
        ("serial", lambda: SerialDrive(WIRING, "loop://")),
    ):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingExtraError, match=r"pliant\[hardware\]"):
            make()


def test_an_audit_sees_every_broken_limit():
    """One of each; what kept the limits is not blamed."""
    audit = Audit([0.0, 0.0], [5.0, 5.0], 10.0)
    assert audit.see(np.array([1.0, 1.0]), 0.0)
    assert audit.see(np.array([1.1, 0.9]), 0.01)
    assert audit.verdict.clean
    assert not audit.see(np.array([1.1, 1.2]), 0.02)
    assert not audit.see(np.array([-0.01, 1.2]), 1.0)
    assert not audit.see(np.array([np.nan, 1.0]), 2.0)
    verdict = audit.verdict
    assert (verdict.commands, verdict.out_of_bounds, verdict.too_fast, verdict.not_numbers) == (5, 1, 1, 1)
    assert verdict.worst_excess == pytest.approx(0.01)
    assert not verdict.clean


def test_a_jump_that_was_refused_is_refused_again():
    """Judged from the last command that was obeyed, by the time since then; a glitch does not lock out what was meant."""
    audit = Audit([0.0], [20.0], 1.0)
    assert audit.see(np.array([0.0]), 0.0)
    assert [audit.see(np.array([10.0]), 0.01 * k) for k in range(1, 50)] == [False] * 49
    assert audit.see(np.array([0.5]), 0.5)
    assert not audit.see(np.array([99.0]), 0.6)
    assert audit.see(np.array([0.7]), 0.7)
    assert audit.verdict.too_fast == 50


def test_a_refused_first_command_is_no_reference():
    """Before anything was obeyed, commands are counted by what was seen, and the first good one is obeyed."""
    audit = Audit([0.0], [5.0], 1.0)
    assert not audit.see(np.array([20.0]), 0.0)
    assert audit.see(np.array([1.0]), 0.01)
    assert not audit.see(np.array([3.0]), 0.02)
    assert audit.verdict.too_fast == 2


def drive_until(done, drive, *, guarded):
    """Steps of a wild command at 200 Hz over the drive's bus; the last measurement."""
    newest, guard = None, Guard([0.0, 0.0], [LIMIT, LIMIT], 20.0, 0.0)
    begin = time.monotonic()
    while not done():
        now = time.monotonic()
        assert now < begin + 60.0, "it never happened"
        wanted = np.array([20.0 if (now - begin) % 0.4 < 0.2 else 2.0, -3.0])
        if guarded:
            guard.check(wanted, now, 0.0)
        drive.send(guard.command if guarded else wanted, now)
        measurement = drive.read()
        if measurement is not None:
            newest = measurement
        time.sleep(0.005)
    return newest


def can_address():
    port = 20000 + os.getpid() % 20000
    return BusAddress("udp_multicast", "239.74.163.2", (("port", port),))


def test_a_plant_in_another_process_judges_a_guarded_controller():
    """Over CAN frames on a socket: wild wishes behind a guard arrive within all limits; the arm moves; the counts agree."""
    address = can_address()
    with PlantProcess(arm_plant, address, [0.0, 0.0], [LIMIT, LIMIT], [20.0, 20.0], interval=0.01) as process:
        with BusDrive(address.link(process.wiring)) as drive:
            before = until(drive.read).values.copy()
            end = process.report().plant_time + 1.2  # it may have taken long to get here
            newest = drive_until(lambda: process.report().plant_time > end, drive, guarded=True)
            sent = drive.status.sent
        report = process.close()
    assert report.finished
    assert report.verdict.clean
    assert sent * 0.9 <= report.verdict.commands <= sent
    assert report.verdict.commands + report.lost >= sent - 1
    assert report.plant_time > 1.0
    assert report.failures == 0
    assert np.abs(newest.values[:3] - before[:3]).max() > 1e-3


def test_without_commands_a_plant_rests():
    """Commands stay away for longer than the timeout: its motors go back, that is counted once, and commands end it; ones
    that it cannot obey do not."""
    drive, server = wired(timeout=0.2)
    server.turn(0.0)
    server.turn(1.0)
    assert server.timeouts == 0
    for k in range(10):
        drive.send(np.array([2.0, 0.0]), 1.0 + 0.02 * k)
        server.turn(1.0 + 0.02 * k)
    moved = server.plant.motors[0]
    assert moved > 1.5
    for k in range(10):
        server.turn(1.18 + 0.019 * k)
    assert server.timeouts == 0
    assert server.plant.motors[0] > moved
    for k in range(20):
        drive.send(np.array([99.0, 0.0]), 1.4 + 0.02 * k)
        server.turn(1.4 + 0.02 * k)
    assert server.timeouts == 1
    assert server.plant.motors == pytest.approx([0.0, 0.0], abs=1e-3)
    for k in range(10):
        drive.send(np.array([2.0, 0.0]), 1.9 + 0.02 * k)
        server.turn(1.9 + 0.02 * k)
    assert server.timeouts == 1
    assert server.plant.motors[0] > 1.5


def test_a_stop_that_got_lost_is_said_again(monkeypatch):
    """The first two stops and resumes are lost: the plant rests, and follows, all the same, and counts one stop."""
    monkeypatch.setattr("pliant.device.bus_drive.REPEAT", 0.0)
    heard = {STOP: 0, RESUME: 0}

    def loses(kind):
        if kind in heard:
            heard[kind] += 1
        return heard.get(kind, 9) <= 2

    drive, server = wired(loses)
    motors = []
    for k in range(60):
        if k == 20:
            drive.stop()
        if k == 40:
            drive.resume()
        drive.send(np.array([2.0, 0.0]), 0.02 * k)
        server.turn(0.02 * k)
        motors.append(server.plant.motors[0])
    assert motors[19] > 1.5
    assert motors[39] < 0.01
    assert motors[59] > 1.5
    assert server.stops == 1
    assert heard[RESUME] == 6


def test_repeated_stops_leave_room_for_commands():
    """At 1 kHz and faster a stop is repeated every 50 ms, not with every command."""
    drive, server = wired()
    drive.stop()
    begin = time.monotonic()
    for _ in range(2000):
        drive.send(np.zeros(2), 0.0)
    stops = sum(message.kind == STOP for message in server.link.inbox)
    assert stops <= 2 + (time.monotonic() - begin) / 0.05


def commanding(address, wiring):
    """A controlling process that goes on until it is killed."""
    with BusDrive(address.link(wiring)) as drive:
        while True:
            drive.send(np.array([4.0, 0.0]), time.monotonic())
            time.sleep(0.01)


def test_a_plant_whose_controller_is_killed_rests():
    """The process that commands is killed: the arm goes back to where it was, and the plant counts that. An interrupt from
    the keyboard, which goes to the plant, too, does not end it."""
    address = can_address()
    with PlantProcess(
        arm_plant, address, [0.0, 0.0], [LIMIT, LIMIT], [20.0, 20.0], interval=0.01, timeout=0.3
    ) as process:
        with BusDrive(address.link(process.wiring)) as drive:
            before = until(drive.read).values.copy()

            def away():
                return np.abs(until(drive.read).values[:3] - before[:3]).max()

            context = multiprocessing.get_context("spawn")
            controller = context.Process(target=commanding, args=(address, process.wiring), daemon=True)
            controller.start()
            until(lambda: away() > 3e-3)
            os.kill(process.pid, signal.SIGINT)
            os.kill(controller.pid, signal.SIGKILL)
            controller.join()
            before_it = process.report().timeouts
            until(lambda: away() < 5e-4)
        report = process.close()
    assert report.finished
    assert report.timeouts == before_it + 1


def test_a_plant_reports_an_unguarded_controller(tmp_path):
    """Over a serial line: the same wishes without a guard are seen as out of bounds and too fast, and not obeyed; a stop is
    obeyed."""
    ends = [pty.openpty() for _ in range(2)]
    for pair in ends:
        for end in pair:
            tty.setraw(end)
        os.set_blocking(pair[0], False)
    names = [os.ttyname(pair[1]) for pair in ends]
    running = [True]
    join = _joined(ends[0][0], ends[1][0], running)
    try:
        far = BusAddress("serial", names[1])
        with PlantProcess(arm_plant, far, [0.0, 0.0], [LIMIT, LIMIT], [20.0, 20.0], interval=0.01) as process:
            with SerialDrive(process.wiring, names[0]) as drive:
                before = until(drive.read).values.copy()
                end = process.report().plant_time + 0.8
                newest = drive_until(
                    lambda: process.report().plant_time > end and process.report().verdict.out_of_bounds > 50,
                    drive,
                    guarded=False,
                )
                drive.stop()
                until(lambda: process.report().stops)
            report = process.close()
    finally:
        running[0] = False
        join.join()
        for pair in ends:
            for end in pair:
                os.close(end)
    assert report.verdict.out_of_bounds > 50
    assert report.verdict.too_fast >= 1
    assert report.verdict.worst_excess == pytest.approx(20.0 - LIMIT)
    assert report.stops == 1
    assert np.abs(newest.values[:3] - before[:3]).max() < 5e-4


def _joined(a, b, running):
    """Carries bytes between the masters of two pseudo terminals: a null-modem cable."""
    import select
    import threading

    def carry():
        while running[0]:
            for end in select.select([a, b], [], [], 0.01)[0]:
                data = _read(end)
                if data:
                    os.write(b if end is a else a, data)

    thread = threading.Thread(target=carry, daemon=True)
    thread.start()
    return thread


def test_a_plant_that_cannot_be_made_is_told_here():
    """What went wrong in the other process is an error in this one."""
    with pytest.raises(InputError, match=r"settling is -1\.0 s"):
        PlantProcess(broken_plant, can_address(), [0.0, 0.0], [1.0, 1.0], 1.0)
