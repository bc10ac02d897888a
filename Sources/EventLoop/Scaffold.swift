enum EventLoopScaffold {}
