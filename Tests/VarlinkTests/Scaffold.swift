enum VarlinkTestsScaffold {}
