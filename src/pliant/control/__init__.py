"""Decisions: what the actuators must do.

Inverse       efforts that bring the effectors to their targets, within all limits: a small QP on the condensed model
TwoRates      the same with commands at a fixed, high rate and the model in a process of its own
LoopLog       everything that it sees and does, to a recording
simulate      two rates in simulated time, on a plant that is not the model
Observer      where effectors are and what pushes them, by sensors: one more question
Haptics       what a hand feels of a robot: observe, ask a fixture, render, filter, guard; render runs it in simulated time
HapticLoop    the same in real time, with models from another process
Fixture       what is not free: FreeSpace, Point, Wall, Line, Box, Circle, sums of them, and your own
SensingLoop   the model where sensors say that the robot is
Correction    what was measured to be missed, added to the targets
"""

from pliant.control.controller import Controller
from pliant.control.correction import Correction
from pliant.control.coupling import Coupling
from pliant.control.fixtures import Fixture, FreeSpace, Limit
from pliant.control.haptic_loop import HapticLoop
from pliant.control.haptic_run import HapticRun, render
from pliant.control.haptics import Haptics
from pliant.control.inverse import Inverse
from pliant.control.inverse_step import InverseStep
from pliant.control.log import LoopLog
from pliant.control.model_loop import ModelLoop
from pliant.control.observer import Observer, ObserverStatus
from pliant.control.question import Question
from pliant.control.run import Run
from pliant.control.sensing_loop import SensingLoop
from pliant.control.simulated import SimulatedRun, simulate
from pliant.control.status import DecisionStatus
from pliant.control.targets import HeldTarget, PathTargets, Targets
from pliant.control.two_rates import TwoRates

__all__ = [
    "Controller",
    "Correction",
    "Coupling",
    "DecisionStatus",
    "Fixture",
    "FreeSpace",
    "HapticLoop",
    "HapticRun",
    "Haptics",
    "HeldTarget",
    "Inverse",
    "InverseStep",
    "Limit",
    "LoopLog",
    "ModelLoop",
    "Observer",
    "ObserverStatus",
    "PathTargets",
    "Question",
    "Run",
    "SensingLoop",
    "SimulatedRun",
    "Targets",
    "TwoRates",
    "render",
    "simulate",
]
