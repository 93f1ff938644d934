"""Pages and static files, all served by the service itself."""
