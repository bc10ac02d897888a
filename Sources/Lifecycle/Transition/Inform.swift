// What an app is told without being waited for.

extension DeviceLifecycle {
    mutating func warnOfMemory(_ index: Int, _ level: MemoryLevel, _ request: RequestID) {
        guard apps[index].instance?.isAlive == true else { return reply(request, .app(.notRunning)) }
        apps[index].instance?.news.warn(level)
        touch(index)
        reply(request, .app(.done))
    }

    /// Nothing is sent to a frozen app, nor after willTerminate.
    mutating func inform(_ index: Int) {
        guard let id = instanceID(index), apps[index].instance?.canBeInformed == true else { return }
        while let news = apps[index].instance?.news.next(conditions) { emit(.app(.inform(id, news))) }
    }
}
