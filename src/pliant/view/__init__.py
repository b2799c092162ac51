"""What people see: the page in the browser, pictures, tables of figures beside their references, recorded signals."""

from pliant.view.figures import Figure, print_figures, write_figures
from pliant.view.page import Page
from pliant.view.picture import draw_bodies, film_bodies, film_mode
from pliant.view.replayed import recorded_paths
from pliant.view.signals import draw_signals, print_signals

__all__ = [
    "Figure",
    "Page",
    "draw_bodies",
    "draw_signals",
    "film_bodies",
    "film_mode",
    "print_figures",
    "print_signals",
    "recorded_paths",
    "write_figures",
]
