"""Files that are no recordings of pliant, or were made to do harm: told apart, quickly, in bounded memory."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest
import zstandard
from mcap.writer import CompressionType, Writer

from pliant.device import read_recording, repair
from pliant.device.mcap_file import MAGIC, records_of
from pliant.errors import FileError

pytestmark = pytest.mark.thorough

FIELDS = {"time": ["<f8"], "command": ["<f8", 2], "flags": ["<i8"]}
GOOD = {"time": 0.5, "command": [1.0, 2.0], "flags": 3}


def ros_bag(file, **options):
    """As ROS 2 writes them."""
    with open(file, "wb") as stream:
        writer = Writer(stream, **options)
        writer.start(profile="ros2", library="libmcap 1.1.0")
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"string[] name\nfloat64[] position")
        channel = writer.register_channel("/joint_states", "cdr", schema, {"offered_qos_profiles": ""})
        for k in range(100):
            writer.add_message(channel, k, b"\x00\x01\x00\x00" + bytes(range(40)), k)
        writer.finish()
    return file


def ours(file, messages, metadata=None, encoding="json"):
    """A file that says it is pliant's."""
    with open(file, "wb") as stream:
        writer = Writer(stream, enable_data_crcs=True)
        writer.start(profile="", library="pliant")
        schema = writer.register_schema("pliant.control", "jsonschema", b"{}")
        said = {"fields": json.dumps(FIELDS), "units": "{}", "rows": "{}", "words": "{}", **(metadata or {})}
        channel = writer.register_channel("/control", encoding, schema, said)
        for k, message in enumerate(messages):
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            writer.add_message(channel, k, data, k, k)
        writer.finish()
    return file


def record(opcode, body):
    return struct.pack("<BQ", opcode, len(body)) + body


def chunk(inside, *, declared=None, packed=None, name=b"zstd", crc=None):
    packed = zstandard.compress(inside) if packed is None else packed
    head = struct.pack("<QQQI", 0, 0, len(inside) if declared is None else declared, crc or zlib.crc32(inside))
    return record(6, head + struct.pack("<I", len(name)) + name + struct.pack("<Q", len(packed)) + packed)


@pytest.mark.parametrize(
    "options", [{}, {"enable_crcs": False}, {"use_chunking": False}, {"compression": CompressionType.LZ4}]
)
def test_a_bag_of_ros_is_told_by_name(tmp_path, options):
    """Whole or cut, packed or not: it is not pliant's, and says what it is."""
    file = ros_bag(tmp_path / "bag.mcap", **options)
    for read in (read_recording, repair):
        with pytest.raises(
            FileError, match=r"'joint_states' is not of pliant \(cdr ros2msg\); open it with the program"
        ):
            read(file)
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.raises(FileError, match=r"not of pliant|no recording of pliant|nothing of it can be read"):
        read_recording(file)


def test_the_command_line_says_it_in_one_line(tmp_path):
    """`pliant replay` and `pliant repair`: exit code 2 and a remedy, no traceback."""
    file = ros_bag(tmp_path / "bag.mcap")
    for command in ("replay", "repair"):
        done = subprocess.run(
            [sys.executable, "-m", "pliant.cli", command, str(file)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "is not of pliant" in done.stderr


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x00\x01\x02",
        b"[1, 2]",
        b"3",
        b"{",
        b"[" * 100000,
        b'{"time": ' + b"9" * 5000 + b"}",
        {"time": 0.5},
        {**GOOD, "time": "now"},
        {**GOOD, "command": [1.0]},
        {**GOOD, "command": []},
        {**GOOD, "command": [[1.0, 2.0]]},
        {**GOOD, "command": "1, 2"},
        {**GOOD, "flags": 1.5},
        {**GOOD, "flags": None},
        {**GOOD, "flags": 2**70},
    ],
)
def test_messages_that_are_not_what_they_say_are_told(tmp_path, message):
    """No other error, and no numbers that were never written."""
    file = ours(tmp_path / "bad.mcap", [GOOD, message, GOOD])
    with pytest.raises(FileError, match="channel 'control' does not hold what it says"):
        read_recording(file)


@pytest.mark.parametrize(
    "metadata",
    [
        {"fields": "{}"},
        {"fields": "no json"},
        {"fields": "[]"},
        {"fields": '{"time": "<f8"}'},
        {"fields": '{"time": ["<f8", 3, 4]}'},
        {"fields": '{"time": ["<f8", -3]}'},
        {"fields": '{"time": ["O"]}'},
        {"fields": '{"time": ["no type"]}'},
        {"fields": '{"time": ["<i8"]}'},
        {"words": "3"},
        {"words": '{"flags": {"x": "y"}}'},
        {"rows": '{"command": 3}'},
        {"units": "[[]]"},
    ],
)
def test_metadata_that_makes_no_sense_is_told(tmp_path, metadata):
    """The same for what a channel says of itself."""
    file = ours(tmp_path / "bad.mcap", [GOOD], metadata)
    with pytest.raises(FileError, match="channel 'control' does not hold what it says"):
        read_recording(file)


def test_what_is_good_is_read(tmp_path):
    """Nulls are no numbers; rows and units come along."""
    more = {"rows": '{"command": ["a", "b"]}', "units": '{"command": "N"}', "words": '{"flags": {"1": "one"}}'}
    log = read_recording(ours(tmp_path / "good.mcap", [GOOD, {**GOOD, "command": [None, 2]}], more))
    assert np.isnan(log["control"]["command"]).tolist() == [[False, False], [True, False]]
    assert log["control"].rows["command"] == ("a", "b")
    assert log.counted("control", "flags") == {"one": 2}


def bomb(size):
    """Zeros, well packed."""
    packer, parts = zstandard.ZstdCompressor(level=1).compressobj(), []
    for _ in range(size >> 24):
        parts.append(packer.compress(bytes(1 << 24)))
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize("declared", [1 << 31, 1000, 1 << 62])
def test_a_chunk_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path, declared):
    """Whatever it declares; what is good beside it is read."""
    data = ours(tmp_path / "good.mcap", [GOOD] * 10).read_bytes()
    bad = chunk(b"", declared=declared, packed=bomb(1 << 31), crc=1)
    assert len(bad) < 300_000
    file = tmp_path / "bomb.mcap"
    begin = time.monotonic()
    file.write_bytes(MAGIC + bad)
    with pytest.raises(FileError, match=r"nothing of it can be read .*(would unpack to|unpacks to more than)"):
        read_recording(file)
    file.write_bytes(MAGIC + bad + data[len(MAGIC) :])
    log = read_recording(file)
    assert (log.damaged, len(log["control"])) == (1, 10)
    assert time.monotonic() - begin < 60.0


def test_a_file_that_unpacks_to_gigabytes_in_all_is_an_error(tmp_path):
    """Chunks that are each in order, of messages that are all the same."""
    data = json.dumps(GOOD).encode()
    message = record(5, struct.pack("<HIQQ", 1, 0, 0, 0) + data)
    many = chunk(message * (50_000_000 // len(message)))
    head = ours(tmp_path / "good.mcap", [GOOD]).read_bytes()[len(MAGIC) :]
    end = head.index(bytes([0x0F, 4, 0, 0, 0, 0, 0, 0, 0]))
    file = tmp_path / "bomb.mcap"
    file.write_bytes(MAGIC + head[:end] + many * 40)
    assert file.stat().st_size < 500_000
    begin = time.monotonic()
    with pytest.raises(
        FileError, match=r"unpacks to more than .* MB, which no recording of its size does; do not trust it"
    ):
        read_recording(file)
    assert time.monotonic() - begin < 60.0


def test_a_file_full_of_beginnings_takes_no_time(tmp_path):
    """A million places where a chunk could begin, none that is one."""
    start = record(6, bytes(28) + struct.pack("<I", 4) + b"zstd" + struct.pack("<Q", 0))[:-8]
    file = tmp_path / "starts.mcap"
    file.write_bytes(MAGIC + b"\xff" + start * 40_000)
    begin = time.monotonic()
    with pytest.raises(FileError, match=r"no recording of pliant|nothing of it can be read"):
        read_recording(file)
    assert time.monotonic() - begin < 60.0


def test_repair_does_not_overwrite(tmp_path):
    """Another file in the place where it should go stays."""
    file = ours(tmp_path / "run.mcap", [GOOD] * 3)
    file.write_bytes(file.read_bytes()[:-50])
    other = tmp_path / "other.mcap"
    other.write_text("precious")
    with pytest.raises(FileError, match=r"other\.mcap already; move it away"):
        repair(file, other)
    assert other.read_text() == "precious"
    assert repair(file).whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.mcap", "run.mcap"]


def test_records_are_those_of_the_library(tmp_path):
    """Ours and mcap's own reader agree on every message."""
    from mcap.reader import make_reader

    file = ours(tmp_path / "run.mcap", [{**GOOD, "time": 0.1 * k} for k in range(500)])
    with open(file, "rb") as stream:
        theirs = [message for _, _, message in make_reader(stream, validate_crcs=True).iter_messages()]
    assert [one for one in records_of(file) if type(one).__name__ == "Message"] == theirs
