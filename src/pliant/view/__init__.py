"""What people see: the page in the browser, pictures, and tables of figures beside their references."""

from pliant.view.figures import Figure, print_figures, write_figures
from pliant.view.page import Page
from pliant.view.picture import draw_bodies, film_bodies

__all__ = ["Figure", "Page", "draw_bodies", "film_bodies", "print_figures", "write_figures"]
