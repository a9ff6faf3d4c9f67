"""What a mutant changes: operators of Cosmic Ray, and five that take out a condition or a step.

A rule that no test holds is mostly one term of a condition, one argument of a query or one statement.
"""

from collections.abc import Iterator
from typing import Any, Final

import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator
from parso.tree import NodeOrLeaf

Span = tuple[tuple[int, int], tuple[int, int]]

QUERIES = {"filter", "exclude", "get", "Q", "update", "aggregate", "annotate"}
TERMS = {"and_test", "or_test", "expr", "and_expr"}


class ForcedCondition(Operator):
    """Takes a condition for true, or for false."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        for index in _conditions(node):
            at = node.children[index]
            for _ in self._values(node):
                yield at.start_pos, at.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        values = self._values(node)
        which, value = divmod(index, len(values))
        _replace(node, list(_conditions(node))[which], values[value])
        return node

    def _values(self, node: NodeOrLeaf) -> tuple[str, ...]:
        return ("False",) if node.type == "while_stmt" else ("True", "False")

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example("if a: b()", "if True: b()"),
            Example("if a: b()", "if False: b()", occurrence=1),
            Example("while a: b()", "while False: b()"),
            Example("b if a else c", "b if True else c"),
            Example("[b for b in c if a]", "[b for b in c if False]", occurrence=1),
        )


class DroppedTerm(Operator):
    """Leaves out one term of `and`, `or`, `|` or `&`."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        if node.type in TERMS and all(each.value in ("and", "or", "|", "&") for each in node.children[1::2]):
            for term in node.children[::2]:
                yield term.start_pos, term.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        prefix = node.get_first_leaf().prefix
        at = slice(0, 2) if index == 0 else slice(2 * index - 1, 2 * index + 1)
        del node.children[at]
        node.get_first_leaf().prefix = prefix
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example("a and b", "b"),
            Example("a and b", "a", occurrence=1),
            Example("a or b or c", "a or c", occurrence=1),
            Example("Q(a=1) | Q(b=1)", "Q(a=1)", occurrence=1),
        )


class DroppedArgument(Operator):
    """Leaves out one argument of a query."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        for argument in _arguments(node):
            yield argument.start_pos, argument.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        argument = list(_arguments(node))[index]
        siblings = argument.parent.children
        at = siblings.index(argument)
        following = (
            at + 1 < len(siblings) and siblings[at + 1].type == "operator" and siblings[at + 1].value == ","
        )
        del siblings[at : at + 1 + following]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example("rows.filter(a=1, b=2)", "rows.filter( b=2)"),
            Example("rows.filter(a=1)", "rows.filter()"),
            Example("rows.filter(a=1, b=2)", "rows.filter(a=1,)", occurrence=1),
        )


class DroppedStatement(Operator):
    """Leaves out a call whose result isn't used, or the assignment of an attribute."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        if node.type == "simple_stmt" and _has_effect(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        _replace(node, 0, "pass")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("a()\n", "pass\n"), Example("a.b = c\n", "pass\n"))


class DroppedHandler(Operator):
    """Leaves the errors of an `except` to others."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        if node.type == "except_clause":
            yield node.children[1].start_pos, node.children[1].end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        _replace(node, 1, "ZeroDivisionError")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("try: a()\nexcept B: c()", "try: a()\nexcept ZeroDivisionError: c()"),)


def _conditions(node: NodeOrLeaf) -> Iterator[int]:
    """Where the children of the node are conditions."""
    if node.type in ("if_stmt", "while_stmt"):
        yield from (
            at + 1 for at, each in enumerate(node.children) if getattr(each, "value", "") in CONDITIONAL
        )
    elif node.type == "test":  # a if b else c
        yield 2
    elif node.type == "comp_if":
        yield 1


CONDITIONAL = ("if", "elif", "while")


def _arguments(node: NodeOrLeaf) -> Iterator[Any]:
    if node.type != "trailer" or node.children[0].value != "(" or len(node.children) < 3:
        return
    if node.get_previous_leaf().value not in QUERIES:
        return
    given = node.children[1]
    if given.type == "arglist":
        yield from (each for each in given.children if each.type != "operator")
    elif node.get_previous_leaf().value != "Q":  # which `DroppedTerm` drops
        yield given


def _has_effect(statement: NodeOrLeaf) -> bool:
    if statement.type == "atom_expr":  # but a line of the log, which no rule speaks of
        return statement.children[-1].children[0].value == "(" and statement.get_first_leaf().value != "log"
    return statement.type == "expr_stmt" and statement.children[0].type == "atom_expr"


def _replace(node: NodeOrLeaf, index: int, code: str) -> None:
    new = parso.parse(code).children[0]
    new.get_first_leaf().prefix = node.children[index].get_first_leaf().prefix
    node.children[index] = new


def _core(names: str) -> list[Operator]:
    return [get_operator(f"core/{name}")() for name in names.split()]


# `ForcedCondition` does better for a whole condition.
NEGATIONS: Final = _core("""
    ReplaceUnaryOperator_Delete_Not
    ReplaceComparisonOperator_Eq_NotEq ReplaceComparisonOperator_NotEq_Eq
    ReplaceComparisonOperator_Is_IsNot ReplaceComparisonOperator_IsNot_Is
""")
OWN: Final[list[Operator]] = [
    ForcedCondition(),
    DroppedTerm(),
    DroppedArgument(),
    DroppedStatement(),
    DroppedHandler(),
]
OPERATORS: Final = [
    *OWN,
    *NEGATIONS,
    *_core("""
        ReplaceTrueWithFalse ReplaceFalseWithTrue NumberReplacer ZeroIterationForLoop
        ReplaceContinueWithBreak ReplaceBreakWithContinue
        ReplaceComparisonOperator_Lt_LtE ReplaceComparisonOperator_LtE_Lt
        ReplaceComparisonOperator_Gt_GtE ReplaceComparisonOperator_GtE_Gt
        ReplaceBinaryOperator_Add_Sub ReplaceBinaryOperator_Sub_Add
        ReplaceBinaryOperator_Mul_Div ReplaceBinaryOperator_Div_Mul
    """),
]


def changes(tree: NodeOrLeaf) -> Iterator[tuple[int, int, NodeOrLeaf, Span]]:
    """Where something can be changed: which operator, at which of its occurrences in the tree, the node and its span."""
    nodes = list(ast_nodes(tree))
    for number, operator in enumerate(OPERATORS):
        positions = ((node, span) for node in nodes for span in operator.mutation_positions(node))
        for occurrence, (node, span) in enumerate(positions):
            if operator not in NEGATIONS or not _is_condition(node):
                yield number, occurrence, node, span


def _is_condition(node: NodeOrLeaf) -> bool:
    return any(node.parent.children[index] is node for index in _conditions(node.parent))
