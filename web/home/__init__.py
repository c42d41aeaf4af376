"""The first page: sign-in for a stranger, what moves in the workspace for everybody else."""
