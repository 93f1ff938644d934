"""The auction as a state machine, its phases, the mechanisms made of them, and simulations."""
