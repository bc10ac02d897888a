enum SupervisionScaffold {}
