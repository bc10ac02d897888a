"""All scenarios, in the order in which they are played."""

from scenarios import begin, sleeps, unannounced, conditions, failures, watchdog, end

MODULES = [begin, sleeps, unannounced, conditions, failures, watchdog, end]
