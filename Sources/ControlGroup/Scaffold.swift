enum ControlGroupScaffold {}
