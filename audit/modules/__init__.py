"""What the modules of the protocol measure: estimates, contrasts, ablations, raters, judges and recognition."""
