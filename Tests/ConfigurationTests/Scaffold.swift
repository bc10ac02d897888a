enum ConfigurationTestsScaffold {}
