"""Ports: places where the world pulls on a robot or looks at it.

A port is a power-conjugate pair: an effort lambda and a displacement delta(q), so that the effort does the work
lambda . delta and the nodes feel H^T lambda with H = d delta / dq. What a port is *for* (actuator, effector, sensor, imposed
load) is said by the robot.

    Force    force [N] along a direction, or between two points     displacement along it [m]
    Point    force on a point or several [N]                        position [m]
    Cable    tension [N] through points                             length taken in [m]
    Capstan  the same with friction at its bends, for plants        and the slip through each bend [m]
    Center   force on a region [N]                                  position of its centre [m]
    Frame    force and moment on a region [N, N m]                  its position and orientation [m, rad]
    Hinge    torque on a region about an axis, or in a joint [N m]  its angle [rad]
    Moment   moment about an axis that follows a part [N m]         its turn since the linearization [rad]
    Flex     none: a sensor                                         sum of rotations of parts [its own unit]
    Slider   force in a sliding joint [N]                           its way [m]
    Cavity   pressure [Pa] in a closed surface                      gain of volume [m^3]
    Stiffness  change of the modulus of a region [Pa]               minus its energy per modulus [m^3]
"""

from pliant.port.cable import Cable
from pliant.port.capstan import Capstan
from pliant.port.cavity import Cavity
from pliant.port.center import Center
from pliant.port.check import check_port
from pliant.port.flex import Flex
from pliant.port.force import Force
from pliant.port.frame import Frame
from pliant.port.hinge import Hinge
from pliant.port.joint import HingeOnJoint, JointPort, Slider
from pliant.port.moment import Moment
from pliant.port.point import Point
from pliant.port.port import Attachment, PlacedPort, Port
from pliant.port.stiffness import Stiffness

all_ports: tuple[type[Port], ...] = (Cable, Capstan, Force, Point, Center, Frame, Hinge, Moment, Cavity, Stiffness)

__all__ = [
    "Attachment",
    "Cable",
    "Capstan",
    "Cavity",
    "Center",
    "Flex",
    "Force",
    "Frame",
    "Hinge",
    "HingeOnJoint",
    "JointPort",
    "Moment",
    "PlacedPort",
    "Point",
    "Port",
    "Slider",
    "Stiffness",
    "all_ports",
    "check_port",
]
