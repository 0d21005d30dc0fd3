"""A small cluster with planted truth, written as the raw files that a real one leaves.

`write_demo` writes two weeks of logs of a cluster that never existed, and beside them `truth.csv`: what really
failed, and what a right judge can say from these files alone. Equal seeds give equal bytes and equal file times.
"""

from bathtub.simulate.demo import write_demo

__all__ = ["write_demo"]
