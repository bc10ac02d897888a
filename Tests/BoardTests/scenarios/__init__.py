"""All scenarios, in the order in which they are played."""

from scenarios import begin, sleeps

MODULES = [begin, sleeps]
