"""Graph algorithms of the symbolic analysis: elimination tree, supernodes, row structure, places of blocks."""

from __future__ import annotations

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray


@kernel
def elimination_tree(indptr: IntArray, indices: IntArray, order: IntArray, position: IntArray) -> IntArray:
    """Parent of each column of the permuted matrix (Liu 1990): the row of its first entry below the diagonal in L."""
    n = len(order)
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    for j in range(n):
        v = order[j]
        for t in range(indptr[v], indptr[v + 1]):
            i = position[indices[t]]
            while i != -1 and i < j:
                above = ancestor[i]
                ancestor[i] = j
                if above == -1:
                    parent[i] = j
                i = above
    return parent


@kernel
def column_counts(
    indptr: IntArray, indices: IntArray, order: IntArray, position: IntArray, parent: IntArray
) -> IntArray:
    """Number of blocks below the diagonal in each column of L, by walking the row subtrees."""
    n = len(order)
    count = np.zeros(n, np.int64)
    mark = np.full(n, -1, np.int64)
    for i in range(n):
        mark[i] = i
        v = order[i]
        for t in range(indptr[v], indptr[v + 1]):
            k = position[indices[t]]
            while k < i and mark[k] != i:
                mark[k] = i
                count[k] += 1
                k = parent[k]
    return count


@kernel
def postorder(parent: IntArray, by_weight: IntArray) -> IntArray:
    """Postorder of a forest. `by_weight` lists the nodes by increasing weight; the heaviest sibling comes first."""
    n = len(parent)
    head = np.full(n + 1, -1, np.int64)
    following = np.full(n, -1, np.int64)
    for v in by_weight:
        p = parent[v] if parent[v] >= 0 else n
        following[v] = head[p]
        head[p] = v
    order = np.empty(n, np.int64)
    stack = np.empty(n + 1, np.int64)
    stack[0] = n
    top = 1
    done = 0
    while top > 0:
        v = stack[top - 1]
        child = head[v]
        if child == -1:
            top -= 1
            if v < n:
                order[done] = v
                done += 1
        else:
            head[v] = following[child]
            stack[top] = child
            top += 1
    return order


@kernel
def fundamental_supernodes(parent: IntArray, count: IntArray) -> IntArray:
    """Supernode of each column: consecutive columns of a postorder that have the same rows below them."""
    n = len(parent)
    supernode = np.empty(n, np.int64)
    last = -1
    for j in range(n):
        if not (j > 0 and parent[j - 1] == j and count[j - 1] == count[j] + 1):
            last += 1
        supernode[j] = last
    return supernode


@kernel
def front_cost(width: int, below: int, cost: FloatArray) -> float:
    """Estimated nanoseconds to assemble and factor a front of `width` pivot nodes and `below` further nodes.

    cost = (per front, per column, per entry of the panel, per entry of the update, per flop)
    """
    K = 3.0 * width
    R = 3.0 * below
    flops = K * (K * K / 3 + K * R + R * R)
    total: float = cost[0] + cost[1] * K + cost[2] * K * (K + R) + cost[3] * R * R + cost[4] * flops
    return total


@kernel
def merge_supernodes(width: IntArray, below: IntArray, parent: IntArray, cost: FloatArray) -> IntArray:
    """Merge children into parents while the estimated time falls; explicit zeros are the price of fewer, larger fronts.

    The rows of a child are pivots or rows of its parent, so the merged front has the rows of the parent. `width` and
    `parent` are updated in place. Returns the supernode that each one has become part of.
    """
    count = len(width)
    head = np.full(count, -1, np.int64)
    following = np.full(count, -1, np.int64)
    for s in range(count - 1, -1, -1):
        if parent[s] >= 0:
            following[s] = head[parent[s]]
            head[parent[s]] = s
    target = np.arange(count)
    for p in range(count):
        while True:
            best = -1
            before_best = -1
            most = 0.0
            before = -1
            c = head[p]
            apart = front_cost(width[p], below[p], cost)
            while c != -1:
                together = front_cost(width[c] + width[p], below[p], cost)
                gain = apart + front_cost(width[c], below[c], cost) - together
                if gain > most:
                    most = gain
                    best = c
                    before_best = before
                before = c
                c = following[c]
            if best == -1:
                break
            if before_best == -1:
                head[p] = following[best]
            else:
                following[before_best] = following[best]
            width[p] += width[best]
            target[best] = p
            c = head[best]
            while c != -1:
                parent[c] = p
                after = following[c]
                following[c] = head[p]
                head[p] = c
                c = after
    for s in range(count - 1, -1, -1):  # a parent has a larger index and is already resolved
        target[s] = target[target[s]]
    return target


@kernel
def tree_shape(parent: IntArray, first: IntArray, depth: IntArray) -> None:
    """First descendant and depth of each node of a postordered forest."""
    count = len(parent)
    for s in range(count):
        first[s] = s
        depth[s] = 0
    for s in range(count):
        if parent[s] >= 0:
            first[parent[s]] = min(first[parent[s]], first[s])
    for s in range(count - 1, -1, -1):
        if parent[s] >= 0:
            depth[s] = depth[parent[s]] + 1


@kernel
def row_lists(
    indptr: IntArray, indices: IntArray, order: IntArray, position: IntArray, fronts: RecordArray, rows: IntArray
) -> None:
    """Rows of every front below its pivots, unsorted: those of the matrix and those of the children's updates."""
    count = len(fronts)
    mark = np.full(len(order), -1, np.int64)
    for s in range(count):
        front = fronts[s]
        end = front.column + front.width
        q = front.rows
        for j in range(front.column, end):
            v = order[j]
            for t in range(indptr[v], indptr[v + 1]):
                i = position[indices[t]]
                if i >= end and mark[i] != s:
                    mark[i] = s
                    rows[q] = i
                    q += 1
        c = s - 1
        while c >= front.first:  # the children of s are s - 1, first[s - 1] - 1, ...
            child = fronts[c]
            for t in range(child.rows, child.rows + child.below):
                i = rows[t]
                if i >= end and mark[i] != s:
                    mark[i] = s
                    rows[q] = i
                    q += 1
            c = child.first - 1


@kernel
def positions_in_parent(fronts: RecordArray, rows: IntArray, where: IntArray, place: IntArray) -> None:
    """Position of each row of a front among the pivots and rows of its parent."""
    for s in range(len(fronts)):
        front = fronts[s]
        for j in range(front.width):
            where[front.column + j] = j
        for t in range(front.below):
            where[rows[front.rows + t]] = front.width + t
        c = s - 1
        while c >= front.first:
            start = fronts[c].rows
            for t in range(start, start + fronts[c].below):
                place[t] = where[rows[t]]
            c = fronts[c].first - 1


@kernel
def find_runs(fronts: RecordArray, place: IntArray, runs: IntArray) -> int:
    """Ranges of rows that are neighbours in a front and in its parent: (from, to, length), in scalar rows.

    A run does not cross from the pivots of the parent to the rows below them. Sets the bounds in `fronts` and returns
    the number of runs.
    """
    count = 0
    for s in range(len(fronts)):
        front = fronts[s]
        front.runs = count
        front.runs_split = count
        width = fronts[front.parent].width if front.parent >= 0 else 0
        for t in range(front.below):
            now = place[front.rows + t]
            if t > 0 and now == place[front.rows + t - 1] + 1 and now != width:
                runs[count - 1, 2] += 3
            else:
                runs[count, 0] = 3 * t
                runs[count, 1] = 3 * now
                runs[count, 2] = 3
                count += 1
            if now < width:
                front.runs_split = count
        front.runs_end = count
    return count


@kernel
def block_places(
    block_rows: IntArray,
    block_cols: IntArray,
    position: IntArray,
    member: IntArray,
    fronts: RecordArray,
    rows: IntArray,
    front_of: IntArray,
    place: IntArray,
    flipped: IntArray,
) -> None:
    """Front of each block, its place within the panel of that front, and whether it goes there transposed."""
    for t in range(len(block_rows)):
        i = position[block_rows[t]]
        j = position[block_cols[t]]
        flipped[t] = 1 if i < j else 0
        if i < j:
            i, j = j, i
        s = member[j]
        front = fronts[s]
        front_of[t] = s
        if i < front.column + front.width:
            row = i - front.column
        else:
            low = front.rows
            high = front.rows + front.below
            while high - low > 1:
                middle = (low + high) // 2
                if rows[middle] <= i:
                    low = middle
                else:
                    high = middle
            row = front.width + low - front.rows
        place[t] = 3 * row + front.stride * 3 * (j - front.column)


@kernel
def stack_places(fronts: RecordArray, depth: IntArray, region: IntArray, regions: int, place: IntArray) -> IntArray:
    """Static place of every update matrix, and the size of each stack, shape [regions, 2].

    Each region (a thread) has two stacks, used alternately by tree depth: the update of a front never overlaps those of
    its children, and nothing has to be moved.
    """
    top = np.zeros((regions, 2), np.int64)
    high = np.zeros((regions, 2), np.int64)
    for s in range(len(fronts)):
        g = region[s]
        d = depth[s] % 2
        place[s] = top[g, d]
        top[g, d] += 3 * fronts[s].below * fronts[s].update_stride
        high[g, d] = max(high[g, d], top[g, d])
        c = s - 1
        while c >= fronts[s].first:
            if region[c] == g:
                top[g, 1 - d] -= 3 * fronts[c].below * fronts[c].update_stride
            c = fronts[c].first - 1
    return high
