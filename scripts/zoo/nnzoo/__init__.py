"""Examines collections of models with the programs of nnsuite, as jobs of Snakemake."""
