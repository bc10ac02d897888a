internal import Lifecycle

/// A board that is spared something.
extension SimulatedBoard {
    /// After it was furnished: what was drawn for it is drawn.
    func spare() {
        let left = configuration.filter { !reduction.apps.contains($0.name) }
        configuration = left.isEmpty ? Array(configuration.prefix(1)) : left
        let names = configuration.map(\.name)
        for index in configuration.indices {
            let name = configuration[index].name
            if reduction.plainApps.contains(name) { configuration[index] = AppPolicy(name: name) }
            configuration[index].after.removeAll { !names.contains($0) }
        }
        if reduction.hasPlainDevice { devicePolicy = DevicePolicy() }
    }

    /// As in the run that is remembered, or not at all.
    func recall(_ happening: Happening, _ recollection: Recollection) {
        let name = recollection.name(happening, directory)
        let now = Recollection.Chance(
            random: random, dark: darkRandom, storm: stormRandom, hard: hardRandom, life: lifeRandom)
        if let chance = recollection.chance(of: name, else: now) {
            random = chance.random
            darkRandom = chance.dark
            stormRandom = chance.storm
            hardRandom = chance.hard
            lifeRandom = chance.life
        }
        guard reduction.happenings.contains(name) else { return happen(happening) }
        switch happening {
        case .disturbance(let disturbance): again(disturbance)
        case .storm(let storm): again(storm)
        case .hardship(let hardship): again(hardship)
        case .deliver, .answer, .timer, .alarm, .loopResumes, .process, .login, .board, .daemonReturns: break
        }
    }
}
