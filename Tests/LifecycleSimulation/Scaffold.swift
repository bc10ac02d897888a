enum LifecycleSimulationScaffold {}
