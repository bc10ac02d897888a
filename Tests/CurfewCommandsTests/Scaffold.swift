enum CurfewCommandsTestsScaffold {}
