"""Scripts for maintainers: releases and pins."""
