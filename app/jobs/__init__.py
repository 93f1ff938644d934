"""Jobs: where they are kept (store), who hands them out (dispatcher), and what runs them (executors)."""
