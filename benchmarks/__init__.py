"""Benchmarks, each with its baseline measured in the same run."""
