"""A model in other languages: SQL, ONNX, PMML, Python and a page to read."""
