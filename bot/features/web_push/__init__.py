"""Notifications of people who play on pages, by Web Push."""
