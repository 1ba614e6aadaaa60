"""The sets of models. Each module has `recipes()`, and `requirements/SET.txt` its packages."""
