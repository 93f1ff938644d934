"""Algorithms of Foresolve: graph problems with predictions, and the contract that turns them into operations."""
