"""From targets to displacements of rows: how fast a goal may move, and what a pose asks of a frame."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import kernel


@kernel
def approach(target, reach, lever, turns, goal, moved):
    """moved (t,) <- the goal, closer to the target by at most `reach`; False where the target is not a number.

    The way between two targets is the norm of their difference; an angle between two quaternions, which begin at turns (u,),
    counts as a way at the end of a lever [m].
    """
    ways, number = 0.0, True
    for r in range(goal.shape[0]):
        number = number and abs(target[r]) < math.inf
        if not _is_turn(r, turns):
            ways += (target[r] - goal[r]) ** 2
    for k in range(turns.shape[0]):
        first = turns[k]
        size = math.sqrt(_product(target, target, first))
        number = number and abs(size - 1.0) < 0.01
        cosine = min(abs(_product(target, goal, first)) / max(size, 1e-300), 1.0)
        ways += (lever * 2.0 * math.acos(cosine)) ** 2 if cosine == cosine else math.inf
    if not number:
        return False
    distance = math.sqrt(ways)
    known = distance < math.inf  # not for the first one
    share = reach / distance if known and distance > reach else 1.0
    for r in range(goal.shape[0]):
        moved[r] = goal[r] + share * (target[r] - goal[r]) if known and share < 1.0 else target[r]
    for k in range(turns.shape[0]):
        first = turns[k]
        if known and share < 1.0:
            sign = 1.0 if _product(target, goal, first) >= 0.0 else -1.0
            for r in range(first, first + 4):
                moved[r] = goal[r] + share * (sign * target[r] - goal[r])
        size = math.sqrt(_product(moved, moved, first))
        for r in range(first, first + 4):
            moved[r] /= size
    return True


@kernel
def _is_turn(r, turns):
    found = False
    for k in range(turns.shape[0]):
        found = found or turns[k] <= r < turns[k] + 4
    return found


@kernel
def _product(a, b, first):
    total = 0.0
    for r in range(first, first + 4):
        total += a[r] * b[r]
    return total


@kernel
def ask(targets, references, sources, wanted):
    """wanted (e,) <- the displacements that targets (t,) ask of rows; sources (e, 3): see `Wanted`; references: the model's."""
    for r in range(wanted.shape[0]):
        place, reference, axis = sources[r, 0], sources[r, 1], sources[r, 2]
        wanted[r] = targets[place] if reference < 0 else rotation_from(targets, place, references, reference, axis)


@kernel
def rotation_from(targets, first, references, begin, axis):
    """An entry of log(Q R^T): the rotation from a reference R, nine numbers from `begin` on, to the unit quaternion wxyz that
    begins at `first` of the targets, as a vector [rad]."""
    w, x, y, z = targets[first], targets[first + 1], targets[first + 2], targets[first + 3]
    a, b, c, d = _quaternion(references, begin)
    # the product of q and the conjugate of the reference's
    pw = w * a + x * b + y * c + z * d
    px = -w * b + x * a - y * d + z * c
    py = -w * c + x * d + y * a - z * b
    pz = -w * d - x * c + y * b + z * a
    if pw < 0.0:
        pw, px, py, pz = -pw, -px, -py, -pz
    size = math.sqrt(px * px + py * py + pz * pz)
    factor = 2.0 * math.atan2(size, pw) / size if size > 1e-12 else 2.0
    entry = px
    if axis == 1:
        entry = py
    elif axis == 2:
        entry = pz
    return factor * entry


@kernel
def _quaternion(R, begin):
    """wxyz of a rotation matrix, nine numbers from `begin` on, by its largest entry."""
    xx, xy, xz = R[begin], R[begin + 1], R[begin + 2]
    yx, yy, yz = R[begin + 3], R[begin + 4], R[begin + 5]
    zx, zy, zz = R[begin + 6], R[begin + 7], R[begin + 8]
    trace = xx + yy + zz
    if trace >= xx and trace >= yy and trace >= zz:
        w, x, y, z = 1.0 + trace, zy - yz, xz - zx, yx - xy
    elif xx >= yy and xx >= zz:
        w, x, y, z = zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx
    elif yy >= zz:
        w, x, y, z = xz - zx, xy + yx, 1.0 + yy - xx - zz, yz + zy
    else:
        w, x, y, z = yx - xy, xz + zx, yz + zy, 1.0 + zz - xx - yy
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return w / size, x / size, y / size, z / size
