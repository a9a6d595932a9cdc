"""The values of kernels as LLVM's IR: expressions, variables, arrays, and calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NoReturn

from llvmlite import ir

from onceproof.model.search.compiling.kernel_language import DIMENSIONS

MARK = "kernel"
"""The decorator of functions that are called from outside of their file."""
I64, I1 = ir.IntType(64), ir.IntType(1)
_WORDS = I64.as_pointer()
_HALVES = ir.VectorType(ir.IntType(32), 16)
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}


class KernelError(TypeError):
    """A kernel uses what kernels have not."""


@dataclass(frozen=True)
class KernelArray:
    """An array that a function was handed, or a part of it."""

    pointer: ir.Value
    """The address of its first element."""
    dims: tuple[ir.Value, ...]
    """The length of each dimension."""


class KernelFile:
    """The functions and the constants of a file."""

    def __init__(self, tree: ast.Module) -> None:
        """Declare each function, so that any can call any."""
        self.module = ir.Module("kernels")
        self.nodes = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        self.constants: dict[str, int] = {}
        for node in tree.body:
            match node:
                case ast.Assign([ast.Name(name)], value):
                    self.constants[name] = int(ast.literal_eval(value))
        self.functions = {n: self._declared(f) for n, f in self.nodes.items()}
        kind = ir.FunctionType(ir.VoidType(), [_WORDS, *[ir.IntType(32)] * 3])
        self.prefetch = ir.Function(self.module, kind, "llvm.prefetch.p0")

    def _declared(self, node: ast.FunctionDef) -> ir.Function:
        kinds: list[ir.Type] = []
        for dims in map(dimensions, node.args.args):
            kinds += [_WORDS, *[I64] * dims] if dims else [I64]
        nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
        result = ir.VoidType() if nothing else I64
        kind = ir.FunctionType(result, kinds)
        function = ir.Function(self.module, kind, node.name)
        if not any(
            isinstance(d, ast.Name) and d.id == MARK for d in node.decorator_list
        ):
            function.linkage = "internal"
            function.attributes.add("alwaysinline")
        return function


def dimensions(argument: ast.arg) -> int:
    """Return how many dimensions a parameter has: none is an integer."""
    match argument.annotation:
        case ast.Name(name) if name in DIMENSIONS:
            return DIMENSIONS[name]
    return refuse(argument, f"{argument.arg} is annotated by none of {[*DIMENSIONS]}")


class KernelValues:
    """Emits the expressions of one function."""

    def __init__(self, file: KernelFile, node: ast.FunctionDef) -> None:
        """Nothing is emitted yet."""
        self.file, self.node = file, node
        self.function = file.functions[node.name]
        self.entry = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.b = ir.IRBuilder(self.function.append_basic_block("start"))
        self.cells: dict[str, ir.Value] = {}
        self.arrays: dict[str, KernelArray] = {}
        # Where ``continue`` and ``break`` lead to, for each loop around a statement.
        self.loops: list[tuple[ir.Block, ir.Block]] = []

    def cell(self, name: str) -> ir.Value:
        """Return where a variable is kept; it starts as 0."""
        if name not in self.cells:
            self.cells[name] = self.entry.alloca(I64, name=name)
            self.entry.store(constant(0), self.cells[name])
        return self.cells[name]

    def block(self, name: str) -> ir.Block:
        """Append an empty block."""
        return self.function.append_basic_block(name)

    def number(self, node: ast.expr) -> ir.Value:
        """Emit an expression as a 64-bit integer."""
        found = self.value(node)
        if isinstance(found, KernelArray):
            refuse(node, "this is an array, and no number")
        return self.widened(found)

    def widened(self, value: ir.Value) -> ir.Value:
        """Return a truth value as 0 or 1, and an integer as it is."""
        return self.b.zext(value, I64) if value.type == I1 else value

    def truth(self, node: ast.expr) -> ir.Value:
        """Emit an expression as a truth value."""
        match node:
            case ast.BoolOp():
                found = self.joined(node, numbers=False)
            case ast.UnaryOp(ast.Not(), inner):
                return self.b.not_(self.truth(inner))
            case _:
                found = self.value(node)
        if isinstance(found, KernelArray):
            refuse(node, "this is an array, and no truth value")
        if found.type == I1:
            return found
        return self.b.icmp_signed("!=", found, constant(0))

    def value(self, node: ast.expr) -> ir.Value | KernelArray:
        """Emit an expression of any kind."""
        match node:
            case ast.Constant(bool(value)):
                return ir.Constant(I1, int(value))
            case ast.Constant(int(value)):
                return constant(value)
            case ast.Name(name):
                return self.named(node, name)
            case ast.Subscript(ast.Attribute(array, "shape"), ast.Constant(int(axis))):
                return self.array(array).dims[axis]
            case ast.Subscript():
                return self.element(node)
            case ast.BinOp(left, operator, right):
                sides = self.number(left), self.number(right)
                return self.operation(node, operator, *sides)
            case ast.UnaryOp(ast.USub(), inner):
                return self.b.neg(self.number(inner))
            case ast.UnaryOp(ast.Invert(), inner):
                return self.b.not_(self.number(inner))
            case ast.UnaryOp(ast.Not(), _):
                return self.truth(node)
            case ast.Compare(left, [sign], [right]) if type(sign) in _SIGNS:
                sides = self.number(left), self.number(right)
                return self.b.icmp_signed(_SIGNS[type(sign)], *sides)
            case ast.BoolOp():
                return self.joined(node, numbers=True)
            case ast.Call():
                return self.call(node)
        return refuse(node, "kernels have no such expression")

    def named(self, node: ast.expr, name: str) -> ir.Value | KernelArray:
        """Return an array, the value of a variable, or a constant of the file."""
        if name in self.arrays:
            return self.arrays[name]
        if name in self.cells:
            return self.b.load(self.cells[name])
        if name in self.file.constants:
            return constant(self.file.constants[name])
        return refuse(node, f"{name} is not known here")

    def joined(self, node: ast.BoolOp, *, numbers: bool) -> ir.Value:
        """Emit ``and`` or ``or``; what comes later runs only if it has to."""
        cell = self.entry.alloca(I64 if numbers else I1)
        end = self.block("joined")
        for part in node.values[:-1]:
            found = self.number(part) if numbers else self.truth(part)
            self.b.store(found, cell)
            test = self.b.icmp_signed("!=", found, ir.Constant(found.type, 0))
            onward = self.block("onward")
            both = isinstance(node.op, ast.And)
            self.b.cbranch(test, *((onward, end) if both else (end, onward)))
            self.b.position_at_end(onward)
        last = node.values[-1]
        self.b.store(self.number(last) if numbers else self.truth(last), cell)
        self.b.branch(end)
        self.b.position_at_end(end)
        return self.b.load(cell)

    def operation(
        self, node: ast.AST, operator: ast.operator, left: ir.Value, right: ir.Value
    ) -> ir.Value:
        """Emit an operation on two integers."""
        if isinstance(operator, ast.FloorDiv | ast.Mod):
            rest = self.b.srem(left, right)
            zero = constant(0)
            apart = self.b.icmp_signed("<", self.b.xor(left, right), zero)
            some = self.b.icmp_signed("!=", rest, zero)
            below = self.b.and_(apart, some)
            if isinstance(operator, ast.Mod):
                return self.b.select(below, self.b.add(rest, right), rest)
            whole = self.b.sdiv(left, right)
            return self.b.sub(whole, self.b.zext(below, I64))
        if type(operator) not in _OPERATIONS:
            refuse(node, "kernels have no such operation")
        emitted: ir.Value = getattr(self.b, _OPERATIONS[type(operator)])(left, right)
        return emitted

    def array(self, node: ast.expr) -> KernelArray:
        """Return the array that an expression stands for."""
        found = self.value(node)
        if not isinstance(found, KernelArray):
            refuse(node, "this is no array")
        return found

    def element(self, node: ast.Subscript) -> ir.Value | KernelArray:
        """Return an element of an array, or a part of it if indices are left out."""
        found = self.part(node)
        return found if found.dims else self.b.load(found.pointer)

    def place(self, node: ast.Subscript) -> ir.Value:
        """Return the address of an element."""
        found = self.part(node)
        if found.dims:
            refuse(node, "only a single element can be assigned to")
        return found.pointer

    def part(self, node: ast.Subscript) -> KernelArray:
        """Emit the part of an array that some indices leave."""
        whole = self.array(node.value)
        one = node.slice
        indices = one.elts if isinstance(one, ast.Tuple) else [one]
        if len(indices) > len(whole.dims):
            refuse(node, "there are more indices than dimensions")
        offset: ir.Value = constant(0)
        for at, length in enumerate(whole.dims):
            offset = self.b.mul(offset, length) if at else offset
            if at < len(indices):
                offset = self.b.add(offset, self.number(indices[at]))
        pointer = self.b.gep(whole.pointer, [offset])
        return KernelArray(pointer, whole.dims[len(indices) :])

    def call(self, node: ast.Call) -> ir.Value:
        """Emit a call of a function of the file, or of one that all kernels have."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.file.functions:
            return self.called(node, name)
        match name, node.args:
            case "product", [left, right]:
                return self.b.mul(self.number(left), self.number(right))
            case "high_bits", [word, distance]:
                return self.b.lshr(self.number(word), self.number(distance))
            case "lowest_bit", [word]:
                return self.b.cttz(self.number(word), ir.Constant(I1, 1))
            case "same_halves", [row, value, mask]:
                sides = self.number(value), self.number(mask)
                return self.same_halves(self.array(row).pointer, *sides)
            case "fetch", [ast.Subscript() as spot]:
                kinds = [ir.Constant(ir.IntType(32), hint) for hint in (1, 3, 1)]
                return self.b.call(self.file.prefetch, [self.place(spot), *kinds])
            case "len", [array]:
                return self.array(array).dims[0]
        return refuse(node, "there is no such function in this file")

    def same_halves(
        self, pointer: ir.Value, value: ir.Value, mask: ir.Value
    ) -> ir.Value:
        """Compare sixteen halves of words at once."""
        spot = self.b.bitcast(pointer, _HALVES.as_pointer())
        differ = self.b.xor(self.b.load(spot, align=8), self.spread(value))
        counted = self.b.and_(differ, self.spread(mask))
        same = self.b.icmp_unsigned("==", counted, ir.Constant(_HALVES, None))
        return self.b.zext(self.b.bitcast(same, ir.IntType(16)), I64)

    def spread(self, number: ir.Value) -> ir.Value:
        """Return a vector with the lower half of a number in each place."""
        none = ir.Constant(_HALVES, ir.Undefined)
        half = self.b.trunc(number, ir.IntType(32))
        one = self.b.insert_element(none, half, ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(_HALVES, [0] * 16)
        return self.b.shuffle_vector(one, none, everywhere)

    def called(self, node: ast.Call, name: str) -> ir.Value:
        """Emit a call of a function of the file."""
        values: list[ir.Value] = []
        parameters = self.file.nodes[name].args.args
        if len(parameters) != len(node.args) or node.keywords:
            refuse(node, f"{name} takes other arguments")
        for argument, parameter in zip(node.args, parameters, strict=True):
            wanted = dimensions(parameter)
            if not wanted:
                values.append(self.number(argument))
                continue
            array = self.array(argument)
            if len(array.dims) != wanted:
                refuse(argument, f"{parameter.arg} has {wanted} dimensions")
            values += [array.pointer, *array.dims]
        return self.b.call(self.file.functions[name], values)


def constant(value: int) -> ir.Constant:
    """Make a 64-bit constant; larger ones wrap around."""
    return ir.Constant(I64, (value + 2**63) % 2**64 - 2**63)


def refuse(node: ast.AST, why: str) -> NoReturn:
    """Raise ``KernelError`` with the line and the code."""
    line = getattr(node, "lineno", 0)
    message = f"line {line}: {why}: {ast.unparse(node)}"
    raise KernelError(message)
