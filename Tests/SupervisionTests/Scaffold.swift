enum SupervisionTestsScaffold {}
