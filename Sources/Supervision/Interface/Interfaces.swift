internal import CLinux
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// The sockets, who is let in, and who is there.
final class Interfaces {
    // Connections that are open at a time, to each service: a client that may open only the one cannot keep operators
    // off the other.
    /// Of one app.
    private static let perApp = 16
    /// Of one user that is neither root nor an app.
    private static let perUser = 32
    /// Of all such users together; and of root.
    private static let others = 64
    /// Bytes of a message: of an app or an operator, and of a client that is neither. No method needs more.
    private static let longestMessage = 64 << 10
    private static let longestOfStrangers = 4 << 10
    /// Nanoseconds in which a message that has begun has to end.
    private static let longestMessageTime: Int64 = 10_000_000_000
    /// Nanoseconds after which a socket that could take no connection tries again.
    private static let pause: Int64 = 1_000_000_000
    /// Nanoseconds of its share that a user pays for each connection: a thousand in a second, in the long run.
    private static let connectionPrice: Int64 = 100_000
    /// Nanoseconds between two lines about clients that have their share.
    private static let refusalPause: Int64 = 60_000_000_000

    private unowned(unsafe) let supervisor: Supervisor
    private var servers: [Server] = []
    private var applicationServer: Server?
    private var sources: [IOSource] = []
    /// By descriptor.
    private var visitors: [Int32: Visitor] = [:]
    /// MONOTONIC: when it was last said that there are no descriptors for clients.
    private var fullSaidAt = -Interfaces.refusalPause
    /// MONOTONIC: when a client that has its share was last spoken of.
    private var refusalSaidAt = -Interfaces.refusalPause
    /// The same of a client that connects too often.
    private var floodSaidAt = -Interfaces.refusalPause
    private var prekillHook: PrekillHook?
    private var prekillTrouble = ""
    /// For sockets that take no connections for now.
    private var resumption: TimerSource?
    /// Sockets that a full file system has no room for yet, and for their next try.
    private var unopened: [() throws(SystemError) -> Void] = []
    private var opening: TimerSource?
    /// Nanoseconds.
    private static let openingPause: Int64 = 5_000_000_000
    private var trimming: TimerSource?
    /// Messages that have begun and not ended, by descriptor: which of that connection's, and since when.
    private var halfSent: [Int32: (message: Int, since: Int64)] = [:]
    private var halfSentTimer: TimerSource?

    /// A connection, and the app it was accepted for.
    private struct Visitor {
        let watched: WatchedConnection
        let instance: InstanceID?
        let user: UInt32
        let path: String
    }

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func open(control: ControlService, application: ApplicationService) throws(SystemError) {
        let paths = supervisor.paths
        var operators: [(String, (Request) -> Void)] = [(ControlInterface.description, { control.handle($0) })]
        if let trial = supervisor.trial { operators.append((TrialInterface.description, { trial.handle($0) })) }
        try openOrLater { [unowned(unsafe) self] () throws(SystemError) in
            try open(paths.controlSocket, mode: 0o660, group: Self.operators, operators)
        }
        if geteuid() == 0 {
            try openOrLater { [unowned(unsafe) self] () throws(SystemError) in
                try open(paths.rootSocket, mode: 0o600, group: nil, operators)
            }
        }
        let apps: (Request) -> Void = { [unowned(unsafe) self] request in
            // The request knows it until it is answered.
            let connection = request.connection
            let instance = connection.flatMap { visitors[$0.descriptor]?.instance }
            application.handle(request, from: instance)
            if instance == nil { connection?.endAfterAnswers() }
        }
        try openOrLater { [unowned(unsafe) self] () throws(SystemError) in
            try open(paths.applicationSocket, mode: 0o666, group: nil, [(ApplicationInterface.description, apps)])
            applicationServer = servers.last
        }
    }

    /// A full /run must not end who feeds the board's watchdog: what there is no room for is tried again.
    private func openOrLater(_ open: @escaping () throws(SystemError) -> Void) throws(SystemError) {
        let attempt: () throws(SystemError) -> Void = { [unowned(unsafe) self] () throws(SystemError) in
            try supervisor.paths.makeFolders()
            try open()
        }
        do throws(SystemError) {
            try attempt()
        } catch {
            guard error.errno.isFull else { throw error }
            supervisor.log.daemon(.error, error.text + "; tried again every 5 s")
            unopened.append(attempt)
            openLater()
        }
    }

    private func openLater() {
        if opening == nil { opening = try? supervisor.loop.timer { [unowned(unsafe) self] in openRest() } }
        opening?.arm(at: Clocks.monotonic + Self.openingPause)
    }

    private func openRest() {
        let rest = unopened
        unopened = []
        for open in rest {
            do throws(SystemError) {
                try open()
            } catch {
                unopened.append(open)
            }
        }
        guard unopened.isEmpty else { return openLater() }
        supervisor.log.daemon(.notice, "all sockets are open now")
        resumeDoors()
    }

    /// Those that wait at an app's own socket. False where none can be taken for now: `resumeAccepting` says when.
    func accept(at door: Int32) -> Bool {
        guard let applicationServer else { return false }
        applicationServer.onAcceptable(at: door)
        return applicationServer.wantsAccept
    }

    /// Where systemd-oomd looks for hooks; there may be such a place later.
    func openPrekillHook() {
        guard prekillHook == nil, let hook = PrekillHook(supervisor) else { return }
        do throws(SystemError) {
            try open(hook.path, mode: 0o666, group: nil, [(PrekillInterface.description, { hook.handle($0) })])
            prekillHook = hook
        } catch {
            let text = "systemd-oomd's kills are not announced: " + error.text
            if text != prekillTrouble { supervisor.log.daemon(.warning, text) }
            prekillTrouble = text
        }
    }

    /// The group that may operate the device; root alone where there is no such group. Who runs curfewd without root's
    /// rights operates it alone.
    private static var operators: UInt32? {
        geteuid() == 0 ? try? Credentials.resolve(user: nil, group: "curfew").group : nil
    }

    private func open(
        _ path: String, mode: UInt32, group: UInt32?, _ interfaces: [(String, (Request) -> Void)]
    ) throws(SystemError) {
        let service: Service
        do throws(DescriptionError) {
            service = try Service(product: "Curfew", version: Daemon.version, url: "https://curfew.io/")
            for (description, handler) in interfaces { try service.register(description, handler) }
        } catch {
            throw SystemError("read the description of \(path), line \(error.line): \(error.message)", errno: .invalid)
        }
        let disposal = supervisor.disposal
        let server = Server(try listener(path, mode, group), service, closer: { disposal.close($0) })
        server.admitUser = { [unowned(unsafe) self] in admits(user: $0, at: $1, path) }
        server.admit = { [unowned(unsafe) self] peer in admits(peer, path) }
        server.onConnected = { [unowned(unsafe) self] connection in didConnect(connection, path) }
        server.onDisconnected = { [unowned(unsafe) self] in didDisconnect($0, $1) }
        server.onAcceptFailed = { [unowned(unsafe) self] in noteFull($0, at: Clocks.monotonic) }
        let source = try supervisor.loop.watch(server.descriptor, .readable) { [unowned(unsafe) self] _ in
            accept(server)
            supervisor.wakeIfDue()
        }
        server.onAcceptChanged = { [unowned(unsafe) self] server in
            try? source.setEnabled(server.wantsAccept)
            if server.wantsAccept { resumeDoors() } else { resumeLater() }
        }
        servers.append(server)
        sources.append(source)
    }

    /// The one of the loop before this, where its path leads to a socket still: clients wait at it.
    private func listener(_ path: String, _ mode: UInt32, _ group: UInt32?) throws(SystemError) -> Listener {
        let keeper = supervisor.keeper
        if let kept = keeper.takeKept(path), linux_is_socket(path) == 1 { return Listener(adopting: kept, path: path) }
        let listener = try Listener(path: path, mode: mode, group: group)
        keeper.keep(path, listener.descriptor)
        return listener
    }

    func noteFull(_ error: SystemError, at now: Int64) {
        guard now - fullSaidAt >= Self.refusalPause else { return }
        fullSaidAt = now
        supervisor.log.daemon(.warning, "clients are turned away: \(error.text)")
    }

    /// Who pays for what is asked over a connection; nil: no share is kept of it.
    func payer(of connection: Connection?) -> ServiceShares.Payer? {
        connection.flatMap { visitors[$0.descriptor]?.watched.payer }
    }

    /// Connections that come and go at once are taken at a pace: they cost more than they say.
    private func accept(_ server: Server) {
        let payer = ServiceShares.Payer.connects(descriptor: server.descriptor)
        let shares = supervisor.shares
        let begun = payer.clock
        server.onAcceptable()
        shares.pay(payer, payer.clock - begun)
        guard shares.isSpent(payer), let place = servers.firstIndex(where: { $0 === server }) else { return }
        let waits = shares.wait(payer) { [unowned(unsafe) self] in
            if sources.indices.contains(place) { try? sources[place].setEnabled(servers[place].wantsAccept) }
        }
        if waits { try? sources[place].setEnabled(false) }
    }

    private func didDisconnect(_ connection: Connection, _ reason: CloseReason) {
        halfSent[connection.descriptor] = nil
        guard let visitor = visitors.removeValue(forKey: connection.descriptor) else { return }
        if connection.hasHeldMuch || visitor.watched.hasWaited { trimLater() }
        visitor.watched.stopWatching()
        guard let instance = visitor.instance else { return }
        supervisor.processes[instance.rawValue]?.delegate?.didLose(connection, reason)
    }

    /// What others have taken of the system's may be free again, and no event says so.
    private func resumeLater() {
        if resumption == nil {
            resumption = try? supervisor.loop.timer { [unowned(unsafe) self] in resumeAccepting() }
        }
        resumption?.arm(at: Clocks.monotonic + Self.pause)
    }

    /// What clients that did not read, or asked for much, have cost is the system's again, once they are gone.
    private func trimLater() {
        if trimming == nil {
            trimming = try? supervisor.loop.timer(priority: EventLoop.Priority.idle) { linux_trim_locked_memory() }
        }
        trimming?.arm(at: Clocks.monotonic + Self.pause)
    }

    /// Descriptors may be free again.
    func resumeAccepting() {
        for server in servers where !server.wantsAccept { server.resumeAccepting() }
        resumeDoors()
    }

    private func resumeDoors() {
        for app in supervisor.apps.values { app.door?.resume() }
    }

    func close() {
        // Servers and their sources know of each other.
        for source in sources { source.cancel() }
        sources = []
        for server in servers { server.stop(removePath: true) }
        servers = []
        applicationServer = nil
        resumption = nil
        trimming = nil
        halfSentTimer = nil
        halfSent = [:]
        visitors = [:]
    }

    /// The connections of all wait in one queue: those of a user that floods it are to be out of the way of others.
    private func admits(user: UInt32, at descriptor: Int32, _ path: String) -> Bool {
        if user == 0 { return true }
        let payer = ServiceShares.Payer.connecting(user, descriptor: descriptor)
        if supervisor.shares.isSpent(payer) {
            sayRefused(&floodSaidAt) {
                "user \(user) is turned away: it connects to \(path) more than a thousand times in a second"
            }
            return false
        }
        supervisor.shares.pay(payer, Self.connectionPrice)
        return true
    }

    private func admits(_ peer: Peer, _ path: String) -> Bool {
        if let prekillHook, path == prekillHook.path, !prekillHook.admits(peer) { return false }
        let instance = supervisor.instance(of: peer)
        var ofKind = 0
        var ofUser = 0
        for visitor in visitors.values where visitor.path == path {
            let isRoots = visitor.instance == nil && visitor.user == 0
            guard visitor.instance == instance, isRoots == (instance == nil && peer.uid == 0) else { continue }
            ofKind += 1
            if visitor.user == peer.uid { ofUser += 1 }
        }
        let hasRoom =
            instance != nil
            ? ofKind < Self.perApp : ofKind < Self.others && (peer.uid == 0 || ofUser < Self.perUser)
        if !hasRoom { noteRefusal(of: peer, instance, path) }
        return hasRoom
    }

    private func noteRefusal(of peer: Peer, _ instance: InstanceID?, _ path: String) {
        let name = instance.flatMap { supervisor.processes[$0.rawValue]?.app.name }
        let limit = name == nil ? "\(Self.perUser) of a user and \(Self.others) of all" : "\(Self.perApp) of an app"
        sayRefused(&refusalSaidAt) {
            "pid \(peer.pid) of \(name ?? "user \(peer.uid)") is turned away: \(limit) are all the connections kept to "
                + path
        }
    }

    /// One that leaks its connections is to be found; one that floods us does not fill the journal.
    private func sayRefused(_ saidAt: inout Int64, _ text: () -> String) {
        let now = Clocks.monotonic
        guard now - saidAt >= Self.refusalPause else { return }
        saidAt = now
        supervisor.log.daemon(.warning, text())
    }

    private func didConnect(_ connection: Connection, _ path: String) {
        do throws(SystemError) {
            let instance = connection.peer.flatMap { supervisor.instance(of: $0) }
            let isStranger = instance == nil && path == supervisor.paths.applicationSocket
            connection.limitMessages(to: isStranger ? Self.longestOfStrangers : Self.longestMessage)
            let user = connection.peer?.uid ?? .max
            let users = isStranger ? ServiceShares.Payer.stranger(user) : .user(user)
            let payer = instance.map { ServiceShares.Payer.app($0) } ?? (user == 0 ? nil : users)
            let watched = try WatchedConnection(connection, supervisor, isStranger: isStranger, payer: payer)
            watched.onServed = { [unowned(unsafe) self] in noteHalfSent($0) }
            visitors[connection.descriptor] = Visitor(
                watched: watched, instance: instance, user: user, path: path)
        } catch {
            supervisor.log.daemon(.warning, error.text)
            connection.close()
        }
    }

    // MARK: Messages that do not end

    private func noteHalfSent(_ connection: Connection) {
        let descriptor = connection.descriptor
        guard let message = connection.unendedMessage else {
            halfSent[descriptor] = nil
            return
        }
        guard halfSent[descriptor]?.message != message else { return }
        let now = Clocks.monotonic
        halfSent[descriptor] = (message, now)
        if halfSentTimer == nil {
            halfSentTimer = try? supervisor.loop.timer { [unowned(unsafe) self] in endHalfSent() }
        }
        if halfSent.count == 1 { halfSentTimer?.arm(at: now + Self.longestMessageTime) }
    }

    private func endHalfSent() {
        let now = Clocks.monotonic
        var next = Int64.max
        for (descriptor, half) in halfSent {
            if now - half.since < Self.longestMessageTime {
                next = min(next, half.since + Self.longestMessageTime)
            } else {
                halfSent[descriptor] = nil
                visitors[descriptor]?.watched.connection.close()
            }
        }
        if next < .max { halfSentTimer?.arm(at: next) }
    }
}

extension Supervisor {
    func openInterfaces() throws(SystemError) {
        let control = ControlService(self)
        let application = ApplicationService(self)
        let interfaces = Interfaces(self)
        self.control = control
        self.application = application
        self.interfaces = interfaces
        try interfaces.open(control: control, application: application)
    }

    func closeInterfaces() {
        interfaces?.close()
        groups?.removeIfEmpty()
    }
}
