"""Running replications: methods on problems, in processes, resumable."""
