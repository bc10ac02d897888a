enum MessageBusScaffold {}
