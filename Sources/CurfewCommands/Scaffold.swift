enum CurfewCommandsScaffold {}
