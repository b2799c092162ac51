"""What a robot can do, before it does it: how far, how strongly, and which design does it best.

strength               the largest force, or moment, that an effector can give in every direction
Grid, workspace        where effectors get without load, and how strong they are there
sweep                  any function of design parameters over a table of variants
Campaign               many jobs on any executor; what is finished stays finished
calibrate, Calibration what sensors of bending feel, from recorded data of any device; corners: the course to record it on
Table                  what comes out of them, as npz and CSV
"""

from pliant.analysis.calibration import Calibration, Candidates, calibrate, corners
from pliant.analysis.campaign import Campaign
from pliant.analysis.isotropic import Isotropic, largest_isotropic, strength
from pliant.analysis.sweep import Study, sweep
from pliant.analysis.table import Table
from pliant.analysis.workspace import Grid, workspace

__all__ = [
    "Calibration",
    "Campaign",
    "Candidates",
    "Grid",
    "Isotropic",
    "Study",
    "Table",
    "calibrate",
    "corners",
    "largest_isotropic",
    "strength",
    "sweep",
    "workspace",
]
