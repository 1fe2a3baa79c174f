"""`python -m caveat` is the command `caveat`."""

from caveat_command import main

if __name__ == "__main__":
    main()
