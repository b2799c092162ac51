"""Decisions: what the actuators must do.

Inverse       efforts that bring the effectors to their targets, within all limits: a small QP on the condensed model
TwoRates      the same with commands at a fixed, high rate and the model in a process of its own
LoopLog       everything that it sees and does, to a recording
simulate      two rates in simulated time, on a plant that is not the model
Correction    what was measured to be missed, added to the targets
"""

from pliant.control.controller import Controller
from pliant.control.correction import Correction
from pliant.control.inverse import Inverse
from pliant.control.inverse_step import InverseStep
from pliant.control.log import LoopLog
from pliant.control.model_loop import ModelLoop
from pliant.control.question import Question
from pliant.control.run import Run
from pliant.control.simulated import SimulatedRun, simulate
from pliant.control.status import DecisionStatus
from pliant.control.targets import HeldTarget, PathTargets, Targets
from pliant.control.two_rates import TwoRates

__all__ = [
    "Controller",
    "Correction",
    "DecisionStatus",
    "HeldTarget",
    "Inverse",
    "InverseStep",
    "LoopLog",
    "ModelLoop",
    "PathTargets",
    "Question",
    "Run",
    "SimulatedRun",
    "Targets",
    "TwoRates",
    "simulate",
]
