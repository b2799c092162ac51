"""Recordings: all that was pushed, by processes that die at any time."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
from mcap.exceptions import McapError
from mcap.reader import make_reader
from numba.core.dispatcher import Dispatcher

from pliant.device import Channel, Event, Recorder, event_channel, read_recording, repair
from pliant.errors import FileError, InputError, PliantWarning
from waiting import until

pytestmark = pytest.mark.thorough

CONTROL = Channel(
    "control",
    np.dtype([("time", "f8"), ("command", "f8", (4,)), ("target", "f8", (3,)), ("age", "f8"), ("tick", "i8")]),
    units={"time": "s", "command": "N", "target": "m", "age": "s"},
    rows={"command": ("east", "north", "west", "south"), "target": ("top.x", "top.y", "top.z")},
)
RATE = 1000


def fill(record, tick, now):
    record["time"], record["tick"] = now, tick
    record["command"] = np.sin(0.001 * tick) * np.arange(1, 5)
    record["target"] = 0.1 * tick
    record["age"] = 0.01


def push_in_time(ring, seconds):
    """Records at 1 kHz, as a control loop would; returns how many were tried."""
    record = ring.blank()
    begin, tick = time.monotonic(), 0
    while (now := time.monotonic()) - begin < seconds:
        while tick < (now - begin) * RATE:
            fill(record, tick, begin + tick / RATE)
            ring.push(record)
            tick += 1
        time.sleep(0.001)
    return tick


def control(file, answer):
    """A controlling process that records until it is killed."""
    recorder = Recorder(file, [CONTROL, event_channel()])
    answer.send(recorder.pid)
    push_in_time(recorder.ring("control"), 60.0)


def forgetful(file):
    """A controlling process that ends without closing its recorder."""
    recorder = Recorder(file, [CONTROL])
    ring = recorder.ring("control")
    record = ring.blank()
    for tick in range(500):
        fill(record, tick, 0.001 * tick)
        ring.push(record)


def wait_until_dead(pid, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)  # a recorder that does not end must not outlive the test
    raise AssertionError(f"process {pid} is still there")


def done_and_told(told, act):
    """What an act gives, when somebody in another thread has warned of it."""
    result = act()
    until(lambda: len(told) > 0)
    return result


def recorded_in_parts(file, parts):
    """A file of that many chunks or more, 250 records each time."""
    with Recorder(file, [CONTROL]) as recorder:
        ring = recorder.ring("control")
        record = ring.blank()
        for part in range(parts):
            size = file.stat().st_size
            for tick in range(250 * part, 250 * (part + 1)):
                fill(record, tick, 0.001 * tick)
                ring.push(record)
            deadline = time.monotonic() + 10.0
            while file.stat().st_size == size and time.monotonic() < deadline:
                time.sleep(0.02)
    return file


def messages_of(file):
    """As any other program reads it."""
    with open(file, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        found = list(reader.iter_messages(topics=["/control"]))
    return summary, found


def test_what_is_pushed_is_read(tmp_path):
    """Every record with all its fields, units and rows; flags as words; numbers that are none; a file that others open."""
    file = tmp_path / "run.mcap"
    with Recorder(file, [CONTROL, event_channel()], origin=0.0, about={"robot": "diamond"}) as recorder:
        ring, events = recorder.ring("control"), recorder.ring("events")
        record, event = ring.blank(), events.blank()
        for tick in range(1500):
            fill(record, tick, 0.001 * tick)
            assert ring.push(record)
        record["command"][2], record["age"] = np.nan, np.inf
        ring.push(record)
        event["time"], event["flags"], event["value"] = 0.7, Event.BOUNDED | Event.RAMPING, 0.25
        events.push(event)
        lost = recorder.close()
    assert lost == {"control": 0, "events": 0}
    log = read_recording(file)
    assert log.whole
    assert log.about["robot"] == "diamond"
    track = log["control"]
    assert track["tick"].tolist() == [*range(1500), 1499]
    assert track["tick"].dtype == np.dtype("i8")
    assert track["command"].shape == (1501, 4)
    assert (track["command"][:1500] == np.sin(0.001 * np.arange(1500))[:, None] * np.arange(1, 5)).all()
    assert np.isnan(track["command"][-1]).tolist() == [False, False, True, False]
    assert np.isnan(track["age"][-1])
    assert track.units["command"] == "N"
    assert track.rows["command"] == ("east", "north", "west", "south")
    assert log.counted("events", "flags") == {"bounded": 1, "ramping": 1}
    assert log.span == (0.0, pytest.approx(1.499))
    summary, found = messages_of(file)
    assert summary.statistics.message_count == 1502
    schema, channel, message = found[700]
    assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
    assert json.loads(schema.data)["properties"]["command"]["description"] == "[N] east, north, west, south"
    assert json.loads(message.data)["tick"] == 700
    assert message.log_time == 700_000_000
    assert json.loads(found[-1][2].data)["command"][2] is None


def first_push(file, answer):
    """How many kernels the first record of a loop finds loaded, and how many it leaves."""
    with Recorder(file, [CONTROL]) as recorder:
        ring = recorder.ring("control")
        record = ring.blank()
        kernels = [item for item in gc.get_objects() if isinstance(item, Dispatcher)]
        before = sum(len(item.overloads) for item in kernels)
        ring.push(record)
        answer.send((before, sum(len(item.overloads) for item in kernels)))


def test_the_first_record_loads_no_kernel(tmp_path):
    """In a fresh process: what is compiled was loaded when the recorder was made, not in the loop."""
    context = multiprocessing.get_context("spawn")
    answer, far = context.Pipe(duplex=False)
    process = context.Process(target=first_push, args=(tmp_path / "run.mcap", far))
    process.start()
    assert answer.poll(60)
    before, behind = answer.recv()
    assert before == behind > 0
    process.join()


def test_a_full_ring_is_counted_in_the_file(tmp_path):
    """The loop does not wait for a recorder that is held up; what was lost is in the file."""
    channel = Channel("control", CONTROL.dtype, capacity=64)
    file = tmp_path / "run.mcap"
    with Recorder(file, [channel]) as recorder:
        ring = recorder.ring("control")
        record = ring.blank()
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            with pytest.warns(
                PliantWarning, match=r"'control' are being lost, .* not keep up \(64 are waiting\)"
            ) as told:
                pushed = done_and_told(told, lambda: sum(ring.push(record) for _ in range(1000)))
        finally:
            os.kill(recorder.pid, signal.SIGCONT)
        lost = recorder.close()
        assert len(told) == 1
    assert pushed == 64
    assert lost == {"control": 936}
    log = read_recording(file)
    assert len(log["control"]) == 64
    assert log.lost == {"control": 936}


@pytest.mark.alone
def test_a_killed_recorder_leaves_all_but_the_last_second(tmp_path):
    """Killed after 5 s in the middle of writing: readable as it is, nothing for other programs; repaired, it opens there
    and has 0.9 of all records, none of them changed."""
    file = tmp_path / "run.mcap"
    recorder = Recorder(file, [CONTROL, event_channel()])
    tried = push_in_time(recorder.ring("control"), 5.0)
    with pytest.warns(PliantWarning, match=r"was ended by signal 9 \(Killed\): nothing is recorded to /") as told:
        done_and_told(told, lambda: os.kill(recorder.pid, signal.SIGKILL))
    tried += push_in_time(recorder.ring("control"), 0.2)
    with pytest.warns(
        PliantWarning, match=r"run\.mcap was not finished, .* was ended by signal 9 .*pliant repair /"
    ) as told:
        lost = recorder.close()
    assert f"these records are lost: control {lost['control']};" in str(told[0].message)
    assert recorder.close() == {}
    with open(file, "rb") as stream, pytest.raises(McapError):
        list(make_reader(stream).iter_messages())
    log = read_recording(file)
    assert not log.whole
    assert len(log["control"]) >= 0.9 * (tried - 200)
    # it may have been killed between the disk and the count of what is there, which is a chunk
    assert tried - lost["control"] <= len(log["control"]) <= tried - lost["control"] + 0.3 * RATE
    repaired = repair(file)
    assert repaired.whole
    assert (repaired["control"]["tick"] == np.arange(len(log["control"]))).all()
    summary, found = messages_of(file)
    assert summary.statistics.channel_message_counts[1] == len(found) == len(log["control"])
    assert json.loads(found[-1][2].data)["tick"] == len(found) - 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.mcap"]


@pytest.mark.alone
def test_the_recorder_outlives_a_killed_controller(tmp_path):
    """The controlling process is killed with everything it has: the recorder writes what waits and finishes the file by
    itself."""
    file = tmp_path / "run.mcap"
    context = multiprocessing.get_context("spawn")
    answer, far = context.Pipe(duplex=False)
    process = context.Process(target=control, args=(file, far))
    process.start()
    assert answer.poll(60)
    pid = answer.recv()
    begin = time.monotonic()
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGKILL)
    lived = time.monotonic() - begin
    process.join()
    wait_until_dead(pid, 60.0)
    log = read_recording(file)
    assert log.whole
    ticks = log["control"]["tick"]
    assert (ticks == np.arange(len(ticks))).all()
    assert len(ticks) >= 0.9 * RATE * lived
    messages_of(file)


def test_forgetting_to_close_is_no_harm(tmp_path):
    """A script that just ends gets its file, and ends."""
    file = tmp_path / "run.mcap"
    process = multiprocessing.get_context("spawn").Process(target=forgetful, args=(file,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    log = read_recording(file)
    assert log.whole
    assert log["control"]["tick"].tolist() == list(range(500))


def test_a_file_cut_anywhere_is_repaired(tmp_path, rng):
    """Cut at any byte behind its head: what comes before the damage is there, in order."""
    file = tmp_path / "run.mcap"
    with Recorder(file, [CONTROL]) as recorder:
        ring = recorder.ring("control")
        for part in range(4):
            record = ring.blank()
            for tick in range(250 * part, 250 * (part + 1)):
                fill(record, tick, 0.001 * tick)
                ring.push(record)
            time.sleep(0.35)
    data = file.read_bytes()
    lengths = []
    for cut in sorted(rng.integers(2000, len(data) - 1, 25)):
        broken = tmp_path / "broken.mcap"
        broken.write_bytes(data[:cut])
        (tmp_path / "fixed.mcap").unlink(missing_ok=True)
        fixed = repair(broken, tmp_path / "fixed.mcap")
        if "control" in fixed.tracks:
            ticks = fixed["control"]["tick"]
            assert (ticks == np.arange(len(ticks))).all()
            lengths.append(len(ticks))
            messages_of(tmp_path / "fixed.mcap")
    assert lengths == sorted(lengths)
    assert lengths[-1] >= 750


def test_damage_costs_what_is_damaged_only(tmp_path, rng):
    """50 bytes changed anywhere in a finished file: counted, all other chunks are there, what is missing is told; repaired,
    the original is kept, and others open what there is."""
    file = recorded_in_parts(tmp_path / "run.mcap", 4)
    data = file.read_bytes()
    end = data.index(bytes([0x0F, 4, 0, 0, 0, 0, 0, 0, 0]))
    assert read_recording(file).damaged == 0
    lengths = set()
    for at in sorted(rng.integers(8, end - 50, 40)):
        changed = bytearray(data)
        changed[at : at + 50] = bytes(byte ^ 0x5A for byte in changed[at : at + 50])
        broken, kept = tmp_path / "broken.mcap", tmp_path / "broken.mcap.damaged"
        broken.write_bytes(changed)
        log = read_recording(broken)
        ticks = log["control"]["tick"]
        assert log.whole
        assert log.damaged >= 1
        assert len(ticks) > 0
        assert np.count_nonzero(np.diff(ticks) != 1) <= log.damaged
        assert sum(log.missing.values()) == 1000 - len(ticks)
        fixed = repair(broken)
        assert (fixed.whole, fixed.damaged) == (True, 0)
        assert (fixed["control"]["tick"] == ticks).all()
        assert kept.read_bytes() == changed
        messages_of(broken)
        kept.unlink()
        lengths.add(len(ticks))
    assert max(lengths) == 1000
    assert min(lengths) < 1000
    broken.write_bytes(changed)
    kept.write_text("an earlier one")
    with pytest.raises(FileError, match=r"broken\.mcap\.damaged already; move it away"):
        repair(broken)
    assert broken.read_bytes() == changed


def test_a_cut_file_with_damage_is_both(tmp_path):
    """Without its end and with a damaged chunk: the other chunks are there."""
    file = recorded_in_parts(tmp_path / "run.mcap", 3)
    data = bytearray(file.read_bytes())
    end = data.index(bytes([0x0F, 4, 0, 0, 0, 0, 0, 0, 0]))
    last = bytes(data).rindex(b"zstd", 0, end)
    second = bytes(data).rindex(b"zstd", 0, last)
    data[second + 200 : second + 250] = bytes(50)
    file.write_bytes(data[:end])
    log = read_recording(file)
    assert (log.whole, log.damaged) == (False, 1)
    ticks = log["control"]["tick"]
    assert (ticks[0], ticks[-1]) == (0, 749)
    assert np.count_nonzero(np.diff(ticks) != 1) == 1
    assert log.missing == {"control": 750 - len(ticks)}
    assert "records of time, command, target, age, tick), without its end, 1 parts damaged>" in repr(log)
    assert len(repr(log)) < 200


def test_a_whole_file_is_left_alone(tmp_path):
    """Repairing it changes nothing."""
    file = tmp_path / "run.mcap"
    with Recorder(file, [CONTROL]) as recorder:
        recorder.ring("control").push(recorder.ring("control").blank())
    before = file.read_bytes()
    repair(file)
    assert file.read_bytes() == before


def test_bad_use_is_named(tmp_path):
    """No channel, a channel twice, a folder that is not there, a file that is none, fields that cannot be."""
    with pytest.raises(InputError, match="at least one"):
        Recorder(tmp_path / "x.mcap", [])
    with pytest.raises(InputError, match="name of its own"):
        Recorder(tmp_path / "x.mcap", [CONTROL, CONTROL])
    with pytest.raises(FileError, match="there is no folder"):
        Recorder(tmp_path / "nowhere" / "x.mcap", [CONTROL])
    with pytest.raises(FileError, match="cannot be recorded"):
        Recorder(tmp_path, [CONTROL])
    (tmp_path / "text.mcap").write_text("no recording")
    (tmp_path / "empty.mcap").touch()
    for read in (read_recording, repair):
        with pytest.raises(FileError, match=r"empty\.mcap is empty; nothing was recorded"):
            read(tmp_path / "empty.mcap")
        with pytest.raises(FileError, match="is no recording"):
            read(tmp_path / "text.mcap")
        with pytest.raises(FileError, match="check the path"):
            read(tmp_path / "nothing.mcap")
    with pytest.raises(InputError, match="field \\('time', 'f8'\\)"):
        Channel("a", np.dtype([("command", "f8")]))
    with pytest.raises(InputError, match="numbers"):
        Channel("a", np.dtype([("time", "f8"), ("text", "U5")]))
    with pytest.raises(InputError, match="units of 'x'"):
        Channel("a", np.dtype([("time", "f8")]), units={"x": "m"})
