"""The papers: their tables and figures made again, each of their values beside ours.

    largilliere2015     a FEM model at a low rate, decisions at a high one (ICRA 2015)
    koehler2023         a haptic device of bent rods: workspace, sensing, rendering (TRO 2023)
    cronos              lattices of springs by explicit steps (Clay et al. 2021)

`pliant paper NAME` prints the table, draws the plots and writes the figures as JSON. What a paper measured on its own robot
cannot be had here: where ours is a simulated plant, the lines say so.
"""

from pliant.paper.cronos import PAPER as _CRONOS
from pliant.paper.koehler2023 import PAPER as _KOEHLER2023
from pliant.paper.largilliere2015 import PAPER as _LARGILLIERE2015
from pliant.paper.paper import Paper, Reproduction

all_papers: dict[str, Paper] = {"largilliere2015": _LARGILLIERE2015, "koehler2023": _KOEHLER2023, "cronos": _CRONOS}

__all__ = ["Paper", "Reproduction", "all_papers"]
