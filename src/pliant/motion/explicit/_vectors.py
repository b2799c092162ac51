"""Vectors of a few numbers, written directly in LLVM: what the force kernels are made of.

A vector has LANES numbers of one type, float32 or float64, each of another node. Addresses are integers (bytes).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

INT32, INT64 = ir.IntType(32), ir.IntType(64)
FAST = ("contract", "reassoc", "nsz", "arcp")
CONTRACT = ("contract",)
LANES = 8
"""Nodes worked on together: one AVX register of float32, one AVX-512 register (or two AVX ones) of float64."""

TINY = 1e-30
"""Added to the square of a length [m^2], so that an empty place (stiffness zero, length zero) gives force zero."""


def constant(value: int) -> Any:
    """A 64-bit integer."""
    return ir.Constant(INT64, value)


def element_of(array: Any) -> Any:
    """LLVM's type of the numbers in a numba array type."""
    return ir.FloatType() if array.dtype == types.float32 else ir.DoubleType()


def bytes_of(element: Any) -> int:
    """Size of a number."""
    return 4 if isinstance(element, ir.FloatType) else 8


def filled(vector: Any, value: float) -> Any:
    """A vector with one number in every lane."""
    return ir.Constant(vector, [value] * vector.count)


def address(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, list[Any]]:
    """Address of the first entry of an array argument, and its strides in bytes."""
    from numba.np.arrayobj import make_array

    array = make_array(kind)(context, builder, value)
    strides = [builder.extract_value(array.strides, axis) for axis in range(kind.ndim)]
    return builder.ptrtoint(array.data, INT64), strides


def length(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Entries of an array argument along its first axis."""
    from numba.np.arrayobj import make_array

    return builder.extract_value(make_array(kind)(context, builder, value).shape, 0)


def load(builder: Any, at: Any, kind: Any, align: int) -> Any:
    """The value at an address."""
    return builder.load(builder.inttoptr(at, kind.as_pointer()), align=align, typ=kind)


def store(builder: Any, value: Any, at: Any, align: int) -> None:
    """Write a value to an address."""
    builder.store(value, builder.inttoptr(at, value.type.as_pointer()), align=align)


def reciprocal_root(builder: Any, x: Any) -> Any:
    """1 / sqrt(x) to rounding: the processor's estimate in float32 with Newton's steps, where it has one.

    In float64 the estimate of float32 is refined by two steps y <- y (3 - x y^2) / 2, which is faster than a root and a
    division.
    """
    vector = x.type
    if isinstance(vector.element, ir.FloatType):
        name = f"llvm.sqrt.v{vector.count}f32"
        root = builder.module.globals.get(name)
        if root is None:
            root = ir.Function(builder.module, ir.FunctionType(vector, [vector]), name)
        return builder.fdiv(filled(vector, 1.0), builder.call(root, [x], fastmath=FAST), flags=FAST)
    single = ir.VectorType(ir.FloatType(), vector.count)
    y = builder.fpext(reciprocal_root(builder, builder.fptrunc(x, single)), vector)
    half = builder.fmul(filled(vector, -0.5), x)
    for _ in range(2):
        product = builder.fmul(half, builder.fmul(y, y), flags=CONTRACT)
        y = builder.fmul(y, builder.fadd(product, filled(vector, 1.5), flags=CONTRACT))
    return y


def tension_factor(builder: Any, difference: list[Any], k: Any, kl: Any) -> Any:
    """c = k - k L / |d|, so that the force of a spring is c d; `kl` is k times the rest length L."""
    square = filled(k.type, TINY)
    for part in difference:
        square = builder.fadd(builder.fmul(part, part, flags=CONTRACT), square, flags=CONTRACT)
    ratio = builder.fmul(kl, reciprocal_root(builder, square), flags=CONTRACT)
    return builder.fsub(k, ratio, flags=CONTRACT)


def plus_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """total + a b in one rounding."""
    return builder.fadd(total, builder.fmul(a, b, flags=CONTRACT), flags=CONTRACT)


def minus_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """total - a b in one rounding."""
    return builder.fsub(total, builder.fmul(a, b, flags=CONTRACT), flags=CONTRACT)


def _shuffled(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, len(places)), places))


def transposed(builder: Any, points: list[Any]) -> tuple[Any, Any, Any]:
    """Vectors x, y, z of LANES numbers from LANES points (x, y, z, unused), each a vector of four."""
    groups = [points[4 * g : 4 * g + 4] for g in range(len(points) // 4)]
    rows = []
    for q in range(4):
        row = groups[0][q]
        for group in groups[1:]:
            row = _joined(builder, row, group[q])
        rows.append(row)
    width = len(points)

    def pick(a: Any, b: Any, within: tuple[int, int, int, int]) -> Any:
        """Lanes of a (0..3) and b (4..7), the same in every group of four."""
        places = [(4 * g + p) if p < 4 else (width + 4 * g + p - 4) for g in range(len(groups)) for p in within]
        return _shuffled(builder, a, b, places)

    if isinstance(points[0].type.element, ir.FloatType):
        low, high = (0, 4, 1, 5), (2, 6, 3, 7)
        xy, xy2 = pick(rows[0], rows[1], low), pick(rows[2], rows[3], low)
        z, z2 = pick(rows[0], rows[1], high), pick(rows[2], rows[3], high)
        return pick(xy, xy2, (0, 1, 4, 5)), pick(xy, xy2, (2, 3, 6, 7)), pick(z, z2, (0, 1, 4, 5))
    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    xz, xz2 = pick(rows[0], rows[1], even), pick(rows[2], rows[3], even)
    y, y2 = pick(rows[0], rows[1], odd), pick(rows[2], rows[3], odd)
    return pick(xz, xz2, (0, 1, 4, 5)), pick(y, y2, (0, 1, 4, 5)), pick(xz, xz2, (2, 3, 6, 7))


def _joined(builder: Any, a: Any, b: Any) -> Any:
    return _shuffled(builder, a, b, list(range(a.type.count + b.type.count)))
