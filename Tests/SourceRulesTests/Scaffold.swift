enum SourceRulesTestsScaffold {}
