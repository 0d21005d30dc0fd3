"""`python -m bathtub`: the same as the console command."""

from bathtub.cli import main

main()
