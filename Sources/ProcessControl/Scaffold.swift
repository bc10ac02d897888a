enum ProcessControlScaffold {}
