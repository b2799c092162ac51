"""What pictures show of obstacles."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.contact import Plane, Solid, Sphere
from pliant.robot import Robot
from pliant.view import draw_bodies
from pliant.view.picture import GROUND
from pliant.view.surroundings import grounds_around, surface_of

BOX = pl.make.box((0.04, 0.03, 0.02), (1, 1, 1))
TERRAIN = pl.make.terrain(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81), np.zeros((81, 81)))


def touching(obstacle, **pose):
    """A rigid box that touches it."""
    robot = Robot(pl.RigidBody(BOX.surface(), density=1000))
    robot.touch("it", obstacle)
    if pose:
        robot.move_obstacle("it", **pose)
    return robot


def grey_pixels(robot, path):
    """How many pixels have no colour and are no line, letter or background."""
    draw_bodies(robot, robot.rest(), path)
    r, g, b = np.asarray(Image.open(path).convert("RGB")).astype(int).reshape(-1, 3).T
    warm = (np.abs(r - g) <= 2) & (r > b + 1) & (r < 230)  # as the ground, in any light; rigid bodies are bluish
    return int(warm.sum())


@pytest.mark.parametrize("obstacle", [Plane(offset=-0.001), Sphere((0, 0, -0.05), 0.045), Solid(TERRAIN)])
def test_obstacles_are_in_the_picture(obstacle, tmp_path):
    """A plane, a sphere and a terrain; nothing of their colour is there without."""
    assert GROUND[0] > GROUND[2], "warmer than rigid bodies"
    alone = Robot(pl.RigidBody(BOX.surface(), density=1000))
    assert grey_pixels(alone, tmp_path / "alone.png") < 500
    assert grey_pixels(touching(obstacle), tmp_path / "touching.png") > 5000


def test_a_plane_is_a_patch_under_the_robot():
    """In the plane, around the robot wherever it is, also where the plane was put elsewhere."""
    low, high = np.array([0.4, -0.1, 0.0]), np.array([0.6, 0.1, 0.1])
    for pose in ({}, {"position": (0.1, 0.0, 0.02), "quaternion": (np.cos(0.1), 0.0, np.sin(0.1), 0.0)}):
        robot = touching(Plane(normal=(0, 0, 1), offset=0.003), **pose)
        ((ground, corners),) = grounds_around(robot, low, high)
        side = robot.touches["it"].obstacle
        assert ground
        seen = (corners.reshape(-1, 3) - side.position) @ side.rotation
        np.testing.assert_allclose(seen[:, 2], 0.003, atol=1e-12)
        middle = corners.mean(axis=(0, 1))
        off = 0.5 * (low + high) - middle
        np.testing.assert_allclose(np.cross(off, side.rotation[:, 2]), 0.0, atol=1e-9)


def test_only_what_is_near_is_drawn_of_a_large_terrain():
    """A rectangle with straight edges."""
    ((ground, corners),) = grounds_around(touching(Solid(TERRAIN)), np.zeros(3) - 0.105, np.zeros(3) + 0.105)
    assert ground
    np.testing.assert_allclose(corners.min(axis=(0, 1)), [-0.2, -0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(corners.max(axis=(0, 1)), [0.2, 0.2, 0.0], atol=1e-9)
    assert len(corners) == 2 * 16**2


def test_closed_solids_are_no_ground():
    """They may be in front of a robot."""
    ((ground, _),) = grounds_around(touching(Sphere((0, 0, 0), 0.01)), np.zeros(3) - 0.1, np.zeros(3) + 0.1)
    assert not ground


def test_the_surface_of_a_plane_looks_outwards():
    """All its triangles, of a square of the width that was asked for."""
    normal = np.array([1.0, 2.0, -0.5])
    surface = surface_of(Plane(normal=tuple(normal), offset=0.2), 0.3, 4)
    a, b, c = (surface.nodes[surface.triangles[:, k]] for k in range(3))
    areas = 0.5 * np.cross(b - a, c - a)
    np.testing.assert_allclose(areas.sum(axis=0), 0.36 * normal / np.linalg.norm(normal), atol=1e-12)
    assert (areas @ normal > 0).all()
    np.testing.assert_allclose(surface.nodes @ normal, 0.2, atol=1e-12)
