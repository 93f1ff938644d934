"""The HTTP face of the service: one router per resource."""
