"""Benchmarks. Each measures its baseline in the same run."""
