enum LifecycleTestsScaffold {}
