"""Kernels as LLVM's IR: the functions of a file, translated statement by statement.

``kernel_language.py`` says what a kernel may use; all else raises ``KernelError``. A
function of the IR takes, for each array, its address and the length of each dimension.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from llvmlite import ir

from onceproof.model.search.compiling.kernel_values import (
    I64,
    KernelArray,
    KernelFile,
    KernelValues,
    constant,
    dimensions,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def kernel_ir(text: str) -> str:
    """Translate all functions of a file of kernels."""
    file = KernelFile(ast.parse(text))
    for node in file.nodes.values():
        _Function(file, node).translate()
    return str(file.module)


class _Function(KernelValues):
    """Translates one function."""

    def translate(self) -> None:
        values = iter(self.function.args)
        for argument in self.node.args.args:
            first, dims = next(values), dimensions(argument)
            if dims:
                lengths = tuple(next(values) for _ in range(dims))
                self.arrays[argument.arg] = KernelArray(first, lengths)
            else:
                self.b.store(first, self.cell(argument.arg))
        self.statements(self.node.body)
        if not self.b.block.is_terminated:
            void = self.function.ftype.return_type == ir.VoidType()
            if void:
                self.b.ret_void()
            else:
                self.b.ret(constant(0))
        self.entry.branch(self.function.blocks[1])

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                pass
            case ast.Expr(ast.Call() as call):
                self.call(call)
            case ast.Assign([target], value):
                self.assign(target, value)
            case ast.AugAssign(target, operator, value):
                old, new = self.number(target), self.number(value)
                self.store(target, self.operation(node, operator, old, new))
            case ast.If():
                self.choice(node)
            case ast.While(test, body, []):
                self.repeat(test, body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds), body, []):
                self.count(name, bounds, body)
            case ast.Break() | ast.Continue():
                self.b.branch(self.loops[-1][isinstance(node, ast.Break)])
                self.b.position_at_end(self.block("unreachable"))
            case ast.Return(None):
                self.b.ret_void()
                self.b.position_at_end(self.block("unreachable"))
            case ast.Return(value) if value is not None:
                self.b.ret(self.number(value))
                self.b.position_at_end(self.block("unreachable"))
            case _:
                refuse(node, "kernels have no such statement")

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        match value:
            case ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"), [size, _]):
                if self.loops or not isinstance(target, ast.Name):
                    refuse(value, "an array is made outside of loops, and named")
                if not self.unused(target.id):
                    refuse(target, "an array has a name of its own")
                self.local(target.id, size, cleared=value.func.attr == "zeros")  # type: ignore[attr-defined]
                return
        found = self.value(value)
        if not isinstance(found, KernelArray):
            self.store(target, found)
        elif isinstance(target, ast.Name) and self.unused(target.id):
            self.arrays[target.id] = found
        else:
            refuse(target, "an array has a name of its own")

    def unused(self, name: str) -> bool:
        return name not in self.arrays and name not in self.cells

    def local(self, name: str, size: ast.expr, *, cleared: bool) -> None:
        """Make an array on the stack."""
        length = self.number(size)
        self.arrays[name] = made = KernelArray(self.b.alloca(I64, length), (length,))
        if cleared:
            with self.counted(constant(0), length, 1) as index:
                self.b.store(constant(0), self.b.gep(made.pointer, [index]))

    def store(self, target: ast.expr, value: ir.Value) -> None:
        match target:
            case ast.Name(name) if name not in self.arrays:
                self.b.store(self.widened(value), self.cell(name))
            case ast.Subscript():
                self.b.store(self.widened(value), self.place(target))
            case _:
                refuse(target, "nothing can be assigned to this")

    def choice(self, node: ast.If) -> None:
        then, orelse, end = self.block("then"), self.block("else"), self.block("end")
        self.b.cbranch(self.truth(node.test), then, orelse)
        for block, body in ((then, node.body), (orelse, node.orelse)):
            self.b.position_at_end(block)
            self.statements(body)
            self.b.branch(end)
        self.b.position_at_end(end)

    def repeat(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        head, inside, end = self.block("head"), self.block("body"), self.block("end")
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self.truth(test), inside, end)
        self.b.position_at_end(inside)
        self.loops.append((head, end))
        self.statements(body)
        self.loops.pop()
        self.b.branch(head)
        self.b.position_at_end(end)

    def count(
        self, name: str, bounds: Sequence[ast.expr], body: Sequence[ast.stmt]
    ) -> None:
        lo = constant(0) if len(bounds) == 1 else self.number(bounds[0])
        hi = self.number(bounds[0] if len(bounds) == 1 else bounds[1])
        step = self.step(bounds[2]) if bounds[2:] else 1
        with self.counted(lo, hi, step) as index:
            self.b.store(index, self.cell(name))
            self.statements(body)

    def step(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(int(value)):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
                return -value
            case ast.Name(name) if name in self.file.constants:
                return self.file.constants[name]
        return refuse(node, "the step of a range is a constant")

    @contextmanager
    def counted(self, lo: ir.Value, hi: ir.Value, step: int) -> Iterator[ir.Value]:
        """Run the block for each index."""
        index = self.entry.alloca(I64)
        self.b.store(lo, index)
        names = ("head", "body", "next", "end")
        head, inside, onward, end = (self.block(name) for name in names)
        self.b.branch(head)
        self.b.position_at_end(head)
        value = self.b.load(index)
        sign = "<" if step > 0 else ">"
        self.b.cbranch(self.b.icmp_signed(sign, value, hi), inside, end)
        self.b.position_at_end(inside)
        self.loops.append((onward, end))
        yield value
        self.loops.pop()
        self.b.branch(onward)
        self.b.position_at_end(onward)
        self.b.store(self.b.add(value, constant(step)), index)
        self.b.branch(head)
        self.b.position_at_end(end)
