enum LifecycleScaffold {}
