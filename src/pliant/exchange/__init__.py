"""Records between processes, through shared memory, without a lock: nobody ever waits for anybody.

Mailbox         the newest record of one writer, for any number of readers (a model for the controller, a command for the model)
Ring            all records of one writer for one reader (signals and events for the recorder)
Flags           numbers that are told (begin, end, alive)
Watchman        a thread that sleeps until a process ends

stop_signals    Ctrl-C, SIGTERM and SIGHUP, and who hears them; start_shielded, stay_shielded: processes that do not
usable_cores    which cores there are to share; taken_by_host: what of them a virtual machine was not given

A record is anything with a fixed numpy dtype. What is dead, late or stuck on one side never stops the other.
"""

from pliant.exchange.cores import taken_by_host, usable_cores
from pliant.exchange.flags import Flags
from pliant.exchange.mailbox import Mailbox
from pliant.exchange.ring import Ring
from pliant.exchange.stop_signals import start_shielded, stay_shielded, stop_signals
from pliant.exchange.watchman import Watchman

__all__ = [
    "Flags",
    "Mailbox",
    "Ring",
    "Watchman",
    "start_shielded",
    "stay_shielded",
    "stop_signals",
    "taken_by_host",
    "usable_cores",
]
