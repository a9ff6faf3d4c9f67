"""What our own operators do to a source, by their examples."""

import pytest
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator

from tests.mutants.operators import OWN

EXAMPLES = [(operator, example) for operator in OWN for example in operator.examples()]


@pytest.mark.parametrize(
    ("operator", "example"), EXAMPLES, ids=[each.pre_mutation_code for _, each in EXAMPLES]
)
def test_operator_changes_its_example(operator: Operator, example: Example) -> None:
    changed = mutate_code(example.pre_mutation_code, operator, example.occurrence)
    assert changed == example.post_mutation_code


@pytest.mark.parametrize("operator", OWN, ids=lambda each: type(each).__name__)
def test_operator_has_an_example(operator: Operator) -> None:
    assert operator.examples()
