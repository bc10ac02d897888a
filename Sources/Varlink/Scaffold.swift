enum VarlinkScaffold {}
