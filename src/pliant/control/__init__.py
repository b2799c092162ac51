"""Decisions: what the actuators must do.

Inverse   efforts that bring the effectors to their targets, within all limits: a small QP on the condensed model
"""

from pliant.control.inverse import Inverse, InverseStatus, InverseStep

__all__ = ["Inverse", "InverseStatus", "InverseStep"]
