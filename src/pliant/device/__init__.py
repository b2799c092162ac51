"""The edge to hardware: nothing here waits for anything, and nothing that is wrong leaves.

Guard             the last thing before a drive: numbers, bounds, rates, old models, emergency stop
Drive             what takes commands and gives measurements: SimulatedDrive, CanDrive, SerialDrive
Feed              the newest wish of a page or a script through a guard to a drive, at a rate
Wiring            names and units of the rows on the wire
Sensor            what a sensor makes of the truth: Encoder, BendSensor (bent line, play, noise, ADC)
SimulatedPlant    a robot of its own that judges a controller, in this process or behind a bus (PlantServer, PlantProcess)
Recorder          every signal and event to an MCAP file, by a process of its own; read_recording, repair
contact_channel   the contact forces of a robot as a channel of a recording
"""

from pliant.device.audit import Audit, Verdict
from pliant.device.bus_drive import BusDrive, CanDrive, SerialDrive
from pliant.device.channel import Channel
from pliant.device.contact_channel import contact_channel, contact_record
from pliant.device.drive import Drive, DriveStatus, Measurement
from pliant.device.feed import Feed
from pliant.device.guard import EVENT_WORDS, Event, Guard, event_words
from pliant.device.opened import drive_address, opened_drive
from pliant.device.plant import SimulatedPlant
from pliant.device.plant_process import BusAddress, PlantProcess
from pliant.device.plant_report import PlantReport
from pliant.device.record import Recorder, event_channel
from pliant.device.replay import Log, read_recording, repair
from pliant.device.sensor import BendSensor, Encoder, Play, Sensor
from pliant.device.server import PlantServer
from pliant.device.simulated_drive import SimulatedDrive
from pliant.device.track import Track
from pliant.device.wiring import Wiring

__all__ = [
    "EVENT_WORDS",
    "Audit",
    "BendSensor",
    "BusAddress",
    "BusDrive",
    "CanDrive",
    "Channel",
    "Drive",
    "DriveStatus",
    "Encoder",
    "Event",
    "Feed",
    "Guard",
    "Log",
    "Measurement",
    "PlantProcess",
    "PlantReport",
    "PlantServer",
    "Play",
    "Recorder",
    "Sensor",
    "SerialDrive",
    "SimulatedDrive",
    "SimulatedPlant",
    "Track",
    "Verdict",
    "Wiring",
    "contact_channel",
    "contact_record",
    "drive_address",
    "event_channel",
    "event_words",
    "opened_drive",
    "read_recording",
    "repair",
]
