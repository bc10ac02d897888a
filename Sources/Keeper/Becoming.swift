internal import CLinux
internal import Journal
internal import ProcessControl
internal import SystemCalls

// The keeper becomes another version of its program: the same process, so that all children stay its own, and the
// service manager sees no end. Its loop is gone by then; the next one is forked by what it has become.

extension Keeper {
    /// What lies at the program's path by now. Returns only where that cannot be: the loop is started again then.
    func becomeNext() {
        guard upgrade.isStillRehearsed else {
            return upgrade.failed("\(upgrade.program) was replaced after it had been tried; try again")
        }
        let own = linux_own_program()
        guard own >= 0 else { return upgrade.failed(SystemError("open /proc/self/exe").text) }
        upgrade.failed(become(-1, former: own, failure: ""))
        close(own)
    }

    /// The version before, after a loop of this one that has failed.
    func goBack(_ reason: String) {
        Self.say("the new version has failed, the one before goes on: " + reason)
        let problem = become(upgrade.former, former: -1, failure: reason)
        Self.say("it cannot be gone back to: " + problem)
    }

    /// program: -1: that at the path. Returns why it could not.
    private func become(_ program: Int32, former: Int32, failure: String) -> String {
        // The kernel waits for all other threads to end, and an app may hold one up.
        for _ in 0..<(Upgrade.patience / 5) where linux_other_threads() > 0 { poll(nil, 0, 5) }
        if linux_other_threads() > 0 { return "what an app has sent is still being closed; try again" }
        var handover = Handover()
        handover.add(.head, [isStopping ? 1 : 0, Int64(former)], upgrade.program)
        handover.add(.arguments, [], upgrade.arguments)
        if !failure.isEmpty { handover.add(.failure, [], failure) }
        var open = children.leave(&handover)
        for (name, descriptor) in kept.list {
            open.append(descriptor)
            handover.add(.kept, [Int64(descriptor)], name)
        }
        orphans.leave(&handover)
        if former >= 0 { open.append(former) }
        for descriptor in open { _ = linux_keep_over_exec(descriptor, true) }
        defer { for descriptor in open { _ = linux_keep_over_exec(descriptor, false) } }
        do throws(SystemError) {
            let file = try handover.leave(former: former)
            if let address = notifier.address { setenv("NOTIFY_SOCKET", address, 1) }
            Upgrade.become(upgrade.program, program, upgrade.arguments)
            let error = SystemError("execute", upgrade.program)
            unsetenv("NOTIFY_SOCKET")
            Handover.forget()
            file.close()
            return error.text
        } catch {
            return error.text
        }
    }

    /// What the version before has left.
    func takeOver(_ handover: Handover) {
        linux_name_process("curfewd")
        children.take(handover)
        kept = KeptDescriptors(handover.all(.kept).map { ($0.text, $0.short(0)) })
        orphans.take(handover)
        guard let head = handover.all(.head).first else { return }
        isStopping = head[0] != 0
        if isStopping { orders = [SIGTERM] }
        // The version before may have been told of ends, and not have looked.
        hasMoreEnds = true
        upgrade = Upgrade(
            program: head.text, arguments: handover.all(.arguments).first?.text ?? Upgrade.ownArguments,
            former: head.short(1), failure: handover.all(.failure).first?.text ?? "")
        loop.followsAnother()
    }
}
