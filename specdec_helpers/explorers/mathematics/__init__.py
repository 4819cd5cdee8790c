"""What the explorers draw, computed for drawing: a second implementation, never imported by the reference."""
