"""Effects that are easily misread: writes that read each other, whole families.

All act on one small state, about which the same claims are made, true ones and false.
Which of them hold of an effect is for plain Python to say.
"""

from __future__ import annotations

from typing import Any

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    count,
    fault,
    if_else,
    implies,
    not_,
    one_of,
    state,
    step,
    when,
)

HIGH = 3


def toggle(m: Any, x: Any, o: Any) -> None:
    m.on = not_(m.on)


def toggle_two(m: Any, x: Any, o: Any) -> None:
    m.on = not_(m.a)
    m.a = not_(m.on)


def swap(m: Any, x: Any, o: Any) -> None:
    m.a, m.b = m.b, m.a


def rotate(m: Any, x: Any, o: Any) -> None:
    m.a, m.b, m.on = m.b, m.on, m.a


def swap_numbers(m: Any, x: Any, o: Any) -> None:
    m.n, m.k = m.k, m.n


def hand_down(m: Any, x: Any, o: Any) -> None:
    m.n = m.k
    m.k = 0


def hand_down_twice(m: Any, x: Any, o: Any) -> None:
    m.n = m.k
    m.k = m.n
    m.j = m.k


def count_up(m: Any, x: Any, o: Any) -> None:
    when(m.n < HIGH)
    m.n = m.n + 1
    m.j = m.n


def count_round(m: Any, x: Any, o: Any) -> None:
    m.n = if_else(m.n == HIGH, 0, if_else(m.n < HIGH, m.n + 1, m.n))


def chosen(m: Any, x: Any, o: Any) -> None:
    m.a = if_else(m.on, True, m.b)
    m.b = False


def chosen_number(m: Any, x: Any, o: Any) -> None:
    m.n = if_else(m.a, m.k, m.j)
    m.k = 0
    m.a = not_(m.a)


def chosen_member(m: Any, x: Any, o: Any) -> None:
    m.f[x] = if_else(m.a, m.g[x], not_(m.f[x]))
    m.g[x] = m.f[x]
    m.a = m.f[x]


def copy_row(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: m.g[y])
    m.g.set(lambda y: not_(m.f[y]))


def swap_rows(m: Any, x: Any, o: Any) -> None:
    m.g[x] = True
    old = m.a
    m.a = m.f[x]
    m.f[x] = m.g[x]
    m.g[x] = old


def negate_row(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: not_(m.f[y]))


def negate_row_twice(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: not_(m.f[y]))
    m.f.set(lambda y: any_of(not_(m.f[y]), m.g[y]))


def one_of_the_row(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: y == x)
    m.a = all_of(m.f[y] for y in m.X)


def someone_else(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: any_of(all_of(not_(z == y), m.f[z]) for z in m.X))
    m.f[x] = not_(m.f[x])


def transpose(m: Any, x: Any, o: Any) -> None:
    m.h[x, x] = not_(m.h[x, x])
    m.h.set(lambda y, z: m.h[z, y])


def row_and_column(m: Any, x: Any, o: Any) -> None:
    m.h.set(lambda y, z: any_of(y == x, all_of(m.h[z, y], not_(z == x))))
    m.f.set(lambda y: m.h[y, x])


def diagonal(m: Any, x: Any, o: Any) -> None:
    m.h[x, x] = True
    m.f[x] = any_of(m.h[x, y] for y in m.X)
    m.h.set(lambda y, z: m.h[y, y])


def here(m: Any) -> Any:
    """Give a place by a number of the state."""
    return if_else(m.n < 2, m.n, 2)


def alias(m: Any, x: Any, o: Any) -> None:
    m.row[here(m)] = 1
    m.row[o] = if_else(m.row[here(m)] < 2, 2 - m.row[o], m.row[o])
    m.n = m.row[o]


def index_written_first(m: Any, x: Any, o: Any) -> None:
    m.n = if_else(m.n < 2, m.n + 1, 0)
    m.row[here(m)] = here(m)


def index_written_last(m: Any, x: Any, o: Any) -> None:
    m.row[here(m)] = 1
    m.n = if_else(m.n < 2, m.n + 1, 0)


def shift(m: Any, x: Any, o: Any) -> None:
    m.row.set(lambda p: if_else(p == 0, m.row[here(m)], m.row[0]))
    m.row[0] = if_else(m.row[0] < 2, m.row[0] + 1, 0)


def up_to_here(m: Any, x: Any, o: Any) -> None:
    m.row.set(lambda p: if_else(p <= o, 1, m.row[p]))
    m.n = count(m.row[p] == 1 for p in m.O)


def counted(m: Any, x: Any, o: Any) -> None:
    m.f[x] = not_(m.f[x])
    m.n = if_else(count(m.f[y] for y in m.X) >= 2, 2, 1)


def idle(m: Any, x: Any, o: Any) -> None:
    m.a = m.a & m.a


def idle_row(m: Any, x: Any, o: Any) -> None:
    m.f.set(lambda y: m.f[y])
    m.n = m.n + 0


def there_and_back(m: Any, x: Any, o: Any) -> None:
    m.a = not_(m.a)
    m.a = not_(m.a)


def never(m: Any, x: Any, o: Any) -> None:
    when(m.a, not_(m.a))
    m.on = True


def sometimes_idle(m: Any, x: Any, o: Any) -> None:
    m.f[x] = any_of(m.a, m.f[x])
    m.a = any_of(m.a, m.on)


def erase(m: Any, x: Any, o: Any) -> None:
    m.f.fill(True)
    m.f[x] = m.g[x]
    m.g.fill(False)


def settle(m: Any, x: Any, o: Any) -> None:
    when(not_(m.f[x]))
    m.f[x] = True
    m.g[x] = all_of(m.f[y] for y in m.X)


def members_in_turn(m: Any, x: Any, o: Any) -> None:
    when(o == m.n)
    m.row[o] = if_else(m.row[o] < 2, m.row[o] + 1, 2)
    m.n = if_else(m.row[o] == 2, if_else(m.n < 2, m.n + 1, 2), m.n)


EFFECTS = (
    toggle,
    toggle_two,
    swap,
    rotate,
    swap_numbers,
    hand_down,
    hand_down_twice,
    count_up,
    count_round,
    chosen,
    chosen_number,
    chosen_member,
    copy_row,
    swap_rows,
    negate_row,
    negate_row_twice,
    one_of_the_row,
    someone_else,
    transpose,
    row_and_column,
    diagonal,
    alias,
    index_written_first,
    index_written_last,
    shift,
    up_to_here,
    counted,
    idle,
    idle_row,
    there_and_back,
    never,
    sometimes_idle,
    erase,
    settle,
    members_in_turn,
)


class Claims(Protocol):
    """One small state, and claims about it."""

    @always
    def off(self) -> Any:
        return not_(self.on)

    @always
    def equal(self) -> Any:
        return self.a == self.b

    @always
    def not_both(self) -> Any:
        return not_(self.a & self.on)

    @always
    def small(self) -> Any:
        return self.n + self.k <= 2

    @always
    def summed(self) -> Any:
        return self.n + self.k == 1

    @always
    def ordered(self) -> Any:
        return all_of(self.j <= self.n, self.n <= HIGH)

    @always
    def rows_agree(self) -> Any:
        return all_of(self.f[x] == self.g[x] for x in self.X)

    @always
    def row_within(self) -> Any:
        return all_of(implies(self.g[x], self.f[x]) for x in self.X)

    @always
    def someone(self) -> Any:
        return any_of(not_(self.f[x]) for x in self.X)

    @always
    def symmetric(self) -> Any:
        return all_of(self.h[x, y] == self.h[y, x] for x in self.X for y in self.X)

    @always
    def reflexive(self) -> Any:
        return all_of(
            implies(self.h[x, y], self.h[x, x]) for x in self.X for y in self.X
        )

    @always
    def read_by_number(self) -> Any:
        return self.row[here(self)] <= 1

    @step
    def grows(self, after: Any) -> Any:
        return self.n <= after.n

    @step
    def moves(self, after: Any) -> Any:
        return any_of(not_(self.a == after.a), not_(self.n == after.n))

    @step
    def row_changes(self, after: Any) -> Any:
        return any_of(not_(self.f[x] == after.f[x]) for x in self.X)

    @step
    def stays_lit(self, after: Any) -> Any:
        return all_of(implies(self.f[x], after.f[x]) for x in self.X)

    @at_rest
    def dark(self) -> Any:
        return all_of(not_(self.on), not_(self.a))

    @at_rest
    def full(self) -> Any:
        return all_of(self.f[x] for x in self.X)


def protocol(effect: Any, *, things: int = 2) -> Any:
    """Make a protocol whose one action has an effect; a fault clears the state."""
    x, o = Sort("thing", size=things), Sort("place", size=3, ordered=True)

    def act(self: Any, x_: Any, o_: Any) -> None:
        effect(self, x_, o_)

    def clear(self: Any) -> None:
        when(self.on)
        self.a = False
        self.n = 0

    body: dict[str, Any] = {
        "X": x,
        "O": o,
        "on": state(False),
        "a": state(one_of(False, True)),
        "b": state(True),
        "n": state(0, high=HIGH),
        "k": state(1, high=HIGH),
        "j": state(0, high=HIGH),
        "f": state(False, per=x),
        "g": state(False, per=x),
        "h": state(False, per=(x, x)),
        "row": state(0, high=2, per=o),
        "act": action(per=(x, o))(act),
        "clear": fault(clear),
    }
    made = type("Tricky", (Claims,), body)
    for name, what in body.items():
        if hasattr(what, "__set_name__"):
            what.__set_name__(made, name)
    return made()
