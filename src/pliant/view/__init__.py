"""What people see: the page in the browser, pictures, tables of figures beside their references, recorded signals."""

from pliant.view.figures import Figure, print_figures, write_figures
from pliant.view.moving import Moving
from pliant.view.page import MotionPage, Page
from pliant.view.picture import draw_bodies, film_bodies, film_mode
from pliant.view.replayed import recorded_paths
from pliant.view.signals import draw_signals, print_signals
from pliant.view.stills import draw_stills

__all__ = [
    "Figure",
    "MotionPage",
    "Moving",
    "Page",
    "draw_bodies",
    "draw_signals",
    "draw_stills",
    "film_bodies",
    "film_mode",
    "print_figures",
    "print_signals",
    "recorded_paths",
    "write_figures",
]
