"""A week that passes within a run, by leaps: `--week`. The rows of the database grow older, while all clocks stay as they are.

`clock` knows which moment of the run a row's time was, `rows` makes the rows older, `due` has what a week must bring, and `leaps` does it.
"""
