"""The command line: argv and Hydra in, one workflow call, an exit code out."""
