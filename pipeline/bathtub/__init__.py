"""Why each GPU job died, which part is to blame, how often it fails, and what the vendor gets."""

__version__ = "0.1.0"
