"""The solutions of the six lessons, one module each. For instructors only; NumPy is all they need."""
