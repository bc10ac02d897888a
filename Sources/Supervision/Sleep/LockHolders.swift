internal import CLinux
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import ProcessControl

/// Who has a delay lock of which logind's user and pid do not tell: it was given to another app, or left by a process
/// that is gone, and whose pid may be another's by now. The keeper looks for it in what processes have open, which it
/// alone may see, and says what it finds later.
final class LockHolders {
    /// Locks that are looked for at a time: an app may take as many as it likes.
    private static let most = 64
    private static let mostOfUser = 16
    /// Of two sleeps: the keeper may have lost a search, and says no word of it any more.
    private static let mostEdges = 4

    private struct Search {
        let lock: ForeignLock
        var instances: [InstanceID] = []
        /// A process that has it and is no app's: its user's apps answer for it, if that is another's.
        var stranger: Int32?
        /// That one is the user's who took it: of a person, perhaps, and logind's to wait for.
        var isUsersOwn = false
        var isOver = false
        /// It is over and has found no app: logind may have been told since that it was let go, and is asked once more.
        var isUnconfirmed = false
        var isGivenUp = false
        /// What it finds may be old: it is made again when it is over, as its words cannot be told from the next one's.
        var isStale = false
        /// Ends and beginnings of sleeps since then.
        var edges = 0
        /// No process was found that has it: its user's apps answer for it.
        var isLost = false
        /// logind has named it last.
        var isHeld = true
    }

    private unowned(unsafe) let supervisor: Supervisor
    /// Those of the present sleep.
    private var searches: [Search] = []
    /// Users of whose locks it was said that no process has them, in this sleep.
    private var said: [UInt32] = []
    /// An answer is awaited with patience.
    private(set) var isAnswerAwaited = false
    /// Where logind keeps what it knows of its locks.
    private var directory: String { supervisor.paths.root + "/run/systemd/inhibit" }

    init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        supervisor.keeper.onLockHolder = { [unowned(unsafe) self] in hear($0, $1, $2) }
    }

    /// Another sleep: each lock may be asked for once. Of a search that is under way the end is still to come.
    func reset() {
        searches.removeAll { $0.isOver || $0.edges == Self.mostEdges }
        for index in searches.indices {
            searches[index].edges += 1
            searches[index].isStale = true
            searches[index].isHeld = false
            searches[index].instances = []
        }
        said = []
        isAnswerAwaited = false
    }

    func giveUpWaiting() { isAnswerAwaited = false }

    /// All that is held. What was let go leaves its place to others.
    func hear(_ locks: [ForeignLock]) {
        for index in searches.indices {
            let lock = searches[index].lock
            searches[index].isHeld = locks.contains { $0.user == lock.user && $0.pid == lock.pid }
        }
        searches.removeAll { !$0.isHeld && $0.isOver }
        isAnswerAwaited = isAnswerAwaited && isUnderWay
    }

    /// logind was asked after these searches, and names the locks still.
    func confirm() {
        for index in searches.indices where searches[index].isUnconfirmed {
            searches[index].isUnconfirmed = false
            judge(index)
        }
        isAnswerAwaited = isAnswerAwaited && isUnderWay
    }

    private var isUnderWay: Bool { searches.contains { !$0.isOver || $0.isUnconfirmed } }

    /// Those that are known; the first time it is asked.
    func holders(of lock: ForeignLock) -> [AppProcess] {
        guard let index = place(of: lock.user, lock.pid) else {
            ask(for: lock)
            return []
        }
        if searches[index].isStale { isAnswerAwaited = true }
        return searches[index].instances.compactMap { supervisor.processes[$0.rawValue] }
    }

    /// An app that had one has ended: who has it now is looked for anew, once for each that ends.
    func searchAgain(after instance: InstanceID) {
        searches.removeAll { $0.isOver && $0.instances.contains(instance) }
        for index in searches.indices where searches[index].instances.contains(instance) {
            searches[index].isStale = true
        }
    }

    private func place(of user: UInt32, _ pid: Int32) -> Int? {
        searches.firstIndex { $0.lock.user == user && $0.lock.pid == pid }
    }

    private func ask(for lock: ForeignLock) {
        guard supervisor.groups != nil, isOurs(lock.user), searches.count < Self.most,
            searches.count(where: { $0.lock.user == lock.user }) < Self.mostOfUser
        else { return }
        guard (try? supervisor.keeper.findLockHolders(user: lock.user, pid: lock.pid, in: directory)) != nil
        else { return }
        searches.append(Search(lock: lock))
        isAnswerAwaited = true
    }

    /// Root's are the system's own.
    private func isOurs(_ user: UInt32) -> Bool {
        if user == 0 { return false }
        return OwnUsers.isOwn(user) || supervisor.apps.values.contains { $0.user == user }
    }

    private func hear(_ user: UInt32, _ pid: Int32, _ word: ProcessKeeper.LockSearchWord) {
        guard let index = place(of: user, pid) else { return }
        switch word {
        case .holder(let holder): hear(of: holder, index)
        case .over: finish(index)
        case .givenUp: finish(index, isGivenUp: true)
        }
    }

    private func hear(of holder: Int32, _ index: Int) {
        if searches[index].isStale || !searches[index].isHeld { return }
        guard let name = supervisor.place(of: holder).instance,
            let process = supervisor.processes.values.first(where: { $0.group?.name == name })
        else {
            searches[index].stranger = holder
            let user = (try? ProcessHandle.open(holder))?.user
            if user == searches[index].lock.user { searches[index].isUsersOwn = true }
            return
        }
        if searches[index].instances.contains(process.instance) { return }
        searches[index].instances.append(process.instance)
        supervisor.appLocks.found(process, searches[index].lock)
    }

    /// Why it is not known for sure who has it, for people.
    func doubt(of lock: ForeignLock) -> String {
        guard let index = place(of: lock.user, lock.pid), searches[index].isLost else { return "" }
        return searches[index].isGivenUp
            ? "; it was not found in time which process has it, and its user took it"
            : "; no process was found that has it, and its user took it"
    }

    /// No process was found that has it.
    func isLost(_ lock: ForeignLock) -> Bool { place(of: lock.user, lock.pid).map { searches[$0].isLost } ?? false }

    private func finish(_ index: Int, isGivenUp: Bool = false) {
        searches[index].isOver = true
        searches[index].isGivenUp = isGivenUp
        if searches[index].isStale {
            let old = searches.remove(at: index)
            if old.isHeld { ask(for: old.lock) }
        } else if !searches[index].isHeld {
            // Should its taker take another, that is looked for.
            searches.remove(at: index)
        } else if searches[index].instances.isEmpty, !searches[index].isUsersOwn {
            searches[index].isUnconfirmed = true
            return supervisor.appLocks.askAnew()
        }
        guard isAnswerAwaited, !isUnderWay else { return }
        isAnswerAwaited = false
        supervisor.appLocks.searchesAreOver()
    }

    /// No app was found that has it: it is hidden (in a queue of io_uring's, say), the search was outlasted, or it was
    /// given to what is no app. The apps of the user who took it answer for it: they cannot be told apart, and share
    /// all that they have.
    private func judge(_ index: Int) {
        let search = searches[index]
        searches[index].isLost = search.stranger == nil
        let takers = supervisor.apps.values.filter { $0.user == search.lock.user }.compactMap { $0.process?.instance }
        searches[index].instances = takers
        if said.contains(search.lock.user) { return }
        said.append(search.lock.user)
        let holder =
            if let stranger = search.stranger {
                "pid \(stranger), which is no app's, has it now"
            } else if search.isGivenUp {
                "it was not found in time which process has it: apps have much open"
            } else {
                "no process was found that has it: logind waits for it in vain"
            }
        supervisor.log.strangeLock(
            "a lock on sleep at logind was taken by pid \(search.lock.pid) of user \(search.lock.user), "
                + "\(search.lock.words); \(holder)")
    }
}

extension ForeignLock {
    /// Bytes of what a holder says that are passed on: it may be a megabyte, which no journal takes.
    private static let longestWord = 200

    /// “who”: why.
    var words: String {
        "“\(who.beginning(bytes: Self.longestWord))”: \(why.beginning(bytes: Self.longestWord))"
    }
}
