"""The robot: bodies, ports in roles, environment; its state; its equations.

Robot          what there is: bodies, gravity, named ports and what each is for (`Mounted`)
State          where it is: pose, velocities, efforts, time
Linearization  what belongs to one state: the condensed model, the way back to the nodes
ExtraRows      rows that come and go

Inside: `equations` assembles, `factored` is what came out of it at one pose, `diagnosis` says what went wrong.
"""

from pliant.robot.extra import ExtraRows
from pliant.robot.linearization import Linearization
from pliant.robot.mounted import Mounted
from pliant.robot.robot import Robot
from pliant.robot.roles import Limits, Role
from pliant.robot.state import State

__all__ = ["ExtraRows", "Limits", "Linearization", "Mounted", "Robot", "Role", "State"]
