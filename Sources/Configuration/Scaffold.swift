enum ConfigurationScaffold {}
