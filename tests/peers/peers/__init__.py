"""The suite beside the real tools: models of their exporters, run by their owners and by the suite."""
