"""One step of a spring lattice for every node, for NVIDIA Warp: float32, on a GPU or a processor."""

# mypy: ignore-errors

import warp as wp

PLANE = wp.constant(0)
OUTSIDE = wp.constant(1)


@wp.func
def depth_and_normal(kind: int, shape: wp.vec4, x: wp.vec3) -> wp.vec4:
    """How deep x is inside an obstacle, and the normal that leads out: (normal, depth)."""
    if kind == PLANE:
        normal = wp.vec3(shape[0], shape[1], shape[2])
        return wp.vec4(normal[0], normal[1], normal[2], shape[3] - wp.dot(normal, x))
    away = x - wp.vec3(shape[0], shape[1], shape[2])
    r = wp.length(away)
    out = away / wp.max(r, 1.0e-30)
    if kind == OUTSIDE:
        return wp.vec4(out[0], out[1], out[2], shape[3] - r)
    return wp.vec4(-out[0], -out[1], -out[2], r - shape[3])


@wp.kernel
def step_nodes(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    start: wp.array(dtype=int),
    other: wp.array(dtype=int),
    k: wp.array(dtype=float),
    length: wp.array(dtype=float),
    mix: wp.array(dtype=int),
    factors: wp.array2d(dtype=float),
    row: int,
    inverse_mass: wp.array(dtype=float),
    mobile: wp.array(dtype=float),
    load: wp.array(dtype=wp.vec3),
    projector: wp.array(dtype=wp.mat33),
    gravity: wp.vec3,
    kinds: wp.array(dtype=int),
    shapes: wp.array(dtype=wp.vec4),
    touch: wp.array(dtype=wp.vec3),
    stiffness: wp.array(dtype=float),
    keep: float,
    push: float,
    drift: float,
):
    """v <- keep v + push (f / m + g), friction, x <- x + drift v; the order of the springs of a node is fixed."""
    i = wp.tid()
    here, speed = x[i], v[i]
    force = load[i]
    for s in range(start[i], start[i + 1]):
        d = x[other[s]] - here
        rest = length[s] * factors[row, mix[s]]
        force += d * (k[s] - k[s] * rest / wp.sqrt(wp.dot(d, d) + 1.0e-30))
    m = inverse_mass[i]
    pressed = wp.vec3(0.0, 0.0, 0.0)
    for o in range(kinds.shape[0]):
        contact = depth_and_normal(kinds[o], shapes[o], here)
        if contact[3] > 0.0 and m > 0.0:
            normal = wp.vec3(contact[0], contact[1], contact[2])
            own = wp.where(touch[o][2] > 0.0, touch[o][2], stiffness[i])
            rate = 2.0 * touch[o][1] * wp.sqrt(own / m)
            pressed += normal * wp.max(own * contact[3] - rate * wp.dot(normal, speed), 0.0)
    moved = speed * keep + ((force + pressed) * m + gravity * mobile[i]) * push
    for o in range(kinds.shape[0]):
        contact = depth_and_normal(kinds[o], shapes[o], here)
        if contact[3] > 0.0 and m > 0.0:
            normal = wp.vec3(contact[0], contact[1], contact[2])
            own = wp.where(touch[o][2] > 0.0, touch[o][2], stiffness[i])
            rate = 2.0 * touch[o][1] * wp.sqrt(own / m)
            most = touch[o][0] * wp.max(own * contact[3] - rate * wp.dot(normal, speed), 0.0) * push * m
            sliding = moved - normal * wp.dot(normal, moved)
            fast = wp.length(sliding)
            moved -= sliding * wp.where(fast > most, most / wp.max(fast, 1.0e-30), 1.0)
    moved = projector[i] * moved
    v[i] = moved
    out[i] = here + moved * drift


@wp.kernel
def sample_nodes(
    source: wp.array(dtype=wp.vec3),
    nodes: wp.array(dtype=int),
    weight: float,
    sample: int,
    into: wp.array2d(dtype=wp.vec3),
):
    """into[sample] += weight * source[nodes]."""
    e = wp.tid()
    into[sample, e] = into[sample, e] + source[nodes[e]] * weight
