"""What each peer runs, written as its own documentation recommends, in an environment of its own (`build/peers/`).

`setup` prepares its tables, `produce` hands jobs to it, and its workers do them. A job is one signed POST of a prepared body on a
kept connection, and a row of its result. Every job and its signature are in `jobs.py` and `jobs.js`.
"""
