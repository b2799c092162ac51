"""The robot: bodies, ports in roles, environment; its state; its equations.

Robot      what there is: bodies, gravity, named ports and what each is for
State      where it is: pose, velocities, efforts, time
System     the equations at a state: assembled, factorized, condensed to the ports
"""

from pliant.robot.robot import Robot
from pliant.robot.roles import Limits, Role
from pliant.robot.state import State
from pliant.robot.system import System

__all__ = ["Limits", "Robot", "Role", "State", "System"]
