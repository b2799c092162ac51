"""The page in the browser: a robot that deforms while one drags its target, and what its controller thinks.

rows       labels and units of a port's rows, errors of effectors by unit; poses: targets with an orientation
stepping   one step of the robot: following targets by the inverse, or in balance under efforts given by sliders
session    steps at a rate in a thread of its own: start, pause, reset; never raises, holds the last good state
snapshot   what a moment of the session looks like, and the record that the plots show
skin       the drawn surface of a body; bands: the same surface cut along levels of stress
scene      what is drawn of a robot in space; ports: its cables, cavities and forces; grips: its targets
panel      what stands beside it: buttons, sliders, bars; plots: error and time per stage
page       all together
motion_session, motion_page
           the same for free motion by the explicit engine: slices in a thread, and what one sees of them
door       who may come in: Host, Origin and token of a request; helm: who of the visitors steers
guarded    the server behind that door; signs: what each visitor is told about who steers
served     a page served to a browser: opening, drawing, closing

Only `served` starts a server; `rows`, `poses`, `stepping`, `session`, `motion_session`, `snapshot`, `skin`, `bands`, `door`
and `helm` know nothing of one.
"""

from pliant.view.page.motion_page import MotionPage
from pliant.view.page.motion_session import MotionSession, Setting
from pliant.view.page.page import Page
from pliant.view.page.served import ServedPage

__all__ = ["MotionPage", "MotionSession", "Page", "ServedPage", "Setting"]
