enum JournalScaffold {}
