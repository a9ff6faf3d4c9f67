"""What a process does about a server that was silent."""

import pytest

from common.processes.circuit import Circuit


class Silence(Exception):
    pass


class Fault(Exception):
    pass


@pytest.fixture
def circuit() -> Circuit:
    """Whose server was silent, a moment after the pause."""
    circuit = Circuit(60.0, lambda: ConnectionError("not asked"))
    with pytest.raises(Silence), circuit.asking(Silence):
        raise Silence
    circuit._open_until = 0.0  # noqa: SLF001
    return circuit


def test_one_asks_after_the_pause_and_others_only_once_it_was_answered(circuit: Circuit) -> None:
    with circuit.asking(Silence), pytest.raises(ConnectionError, match="not asked"), circuit.asking(Silence):
        pytest.fail("asked beside the trial")
    with circuit.asking(Silence):
        pass


@pytest.mark.parametrize("error", [Fault, KeyboardInterrupt])
def test_trial_with_another_error_keeps_nobody_out(circuit: Circuit, error: type[BaseException]) -> None:
    with pytest.raises(error), circuit.asking(Silence):
        raise error
    with circuit.asking(Silence):
        pass


def test_silence_begins_another_pause(circuit: Circuit) -> None:
    with pytest.raises(Silence), circuit.asking(Silence):
        raise Silence
    with pytest.raises(ConnectionError, match="not asked"), circuit.asking(Silence):
        pytest.fail("asked during the pause")
