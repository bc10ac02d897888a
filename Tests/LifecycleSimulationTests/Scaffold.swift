enum LifecycleSimulationTestsScaffold {}
