"""The suite beside the real tools: exporters' models, run by their owners and by the suite."""
