"""All scenarios, in the order in which they are played."""

from scenarios import begin, sandbox, malice, sleeps, unannounced, conditions, failures, upgrade, watchdog, end

MODULES = [begin, sandbox, malice, sleeps, unannounced, conditions, failures, upgrade, watchdog, end]
