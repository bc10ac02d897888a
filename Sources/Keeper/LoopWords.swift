internal import CLinux
internal import Journal
internal import ProcessControl
internal import SystemCalls

// What the loop says to the keeper, and what it is told.

extension Keeper {
    /// Some of its packets. False when there are no more.
    @discardableResult
    func takePackets() -> Bool {
        for _ in 0..<Self.burst {
            var descriptors = [Int32](repeating: -1, count: Int(KEEPER_MAX_DESCRIPTORS))
            var count = descriptors.count
            var isLost = false
            let length = linux_packet_receive(
                loop.socket, packet.baseAddress, packet.count, &descriptors, &count, &isLost, false)
            // Reset: it has died with words of ours unread; its own come after that.
            if length < 0, Errno.current == .interrupted || Errno.current == .connectionReset { continue }
            guard length > 0 else {
                // What has become of the loop is SIGCHLD's to say.
                if length == 0 { closeLoopSocket() }
                return false
            }
            take(UnsafeMutableRawBufferPointer(rebasing: packet[..<length]), isLost ? nil : descriptors[..<count])
            for descriptor in descriptors[..<count] { close(descriptor) }
        }
        return true
    }

    /// descriptors: nil: there was no room for them.
    private func take(_ bytes: UnsafeMutableRawBufferPointer, _ descriptors: ArraySlice<Int32>?) {
        guard let base = bytes.baseAddress, bytes.count >= MemoryLayout<keeper_signal>.size else { return }
        let word = base.load(as: keeper_signal.self)
        switch Int(word.kind) {
        // What it would have started is not to run.
        case KEEPER_START where readsLastWords: break
        case KEEPER_START: start(word.id, bytes, descriptors)
        case KEEPER_SIGNAL: children.signal(word.id, word.signal)
        case KEEPER_NOTIFY: notifier.notify(Self.text(bytes))
        case KEEPER_REMOVE_IPC: linux_remove_ipc(uid_t(truncatingIfNeeded: word.id))
        case KEEPER_ABORT_FUSE: linux_abort_fuse(uid_t(truncatingIfNeeded: word.id))
        case KEEPER_ABORT_AWAITED_FUSE:
            let users = base.load(as: keeper_users.self)
            linux_abort_awaited_fuse(users.pid, users.first, users.count)
        case KEEPER_FIND_LOCK_HOLDERS:
            let lock = base.load(as: keeper_lock.self)
            let directory = String(decoding: bytes[MemoryLayout<keeper_lock>.size...], as: UTF8.self)
            linux_find_lock_holders(loop.socket, lock.user, lock.pid, directory)
        case KEEPER_HOW_ENDED:
            guard bytes.count >= MemoryLayout<keeper_question>.size else { return }
            orphans.ask(base.load(as: keeper_question.self))
            if !isLoopSlow { tellOrphanEnds() }
        case KEEPER_FOLLOW, KEEPER_UNFOLLOW:
            guard bytes.count >= MemoryLayout<keeper_question>.size else { return }
            orphans.follow(base.load(as: keeper_question.self), Int(word.kind) == KEEPER_FOLLOW)
        case KEEPER_KEEP: if let first = descriptors?.first { keep(Self.text(bytes), first) }
        case KEEPER_DROP: drop(Self.text(bytes))
        case KEEPER_CLAIM:
            guard bytes.count >= MemoryLayout<keeper_claim>.size else { return }
            claim(base.load(as: keeper_claim.self))
        case KEEPER_UPGRADE:
            guard bytes.count >= MemoryLayout<keeper_question>.size else { return }
            upgradeAsked(base.load(as: keeper_question.self))
        case KEEPER_READY:
            loop.becameReady()
            upgrade.becameReady()
        case KEEPER_CLAIMED:
            orphans.forgetUnclaimed()
            if children.hasAbandoned { endAbandoned() }
        default: break
        }
    }

    /// What follows the word.
    private static func text(_ bytes: UnsafeMutableRawBufferPointer) -> String {
        String(decoding: bytes[MemoryLayout<keeper_signal>.size...], as: UTF8.self)
    }

    /// It has stopped where it is: what it would still do, the next one does.
    private func upgradeAsked(_ question: keeper_question) {
        upgrade.rehearsed = ProgramMark(file: question.id, change: Int64(bitPattern: question.identity))
        upgrade.isWanted = true
        if !readsLastWords { kill(loop.pid, SIGKILL) }
    }

    private func claim(_ claim: keeper_claim) {
        switch children.claim(claim.id) {
        case .place(let place): if !isLoopSlow { tellAll(of: place) }
        case .over(let word):
            if Int(word.kind) == KEEPER_UNKNOWN, adopt(claim) { return }
            answers.append(word)
            if !isLoopSlow { tellAnswers() }
        }
    }

    private func start(_ id: Int64, _ bytes: UnsafeMutableRawBufferPointer, _ descriptors: ArraySlice<Int32>?) {
        var begun = linux_begun(pid: -1, gate: -1, step: Int32(LINUX_SPAWN_CLONE), error: EMFILE)
        var hasGroup = false
        if let descriptors {
            begun.error = EBADMSG
            _ = ReceivedStart.read(bytes, descriptors) { request, head in
                hasGroup = request.group >= 0
                children.share(head.enter, &request)
                if !request.change_nice { (request.change_nice, request.nice) = (true, usualNice) }
                linux_begin_spawn(&request, &begun)
            }
        }
        let place = children.add(id, pid: begun.pid, gate: begun.gate, hasGroup: hasGroup)
        if begun.step == Int32(LINUX_SPAWN_DONE) {
            do throws(SystemError) {
                try watch(begun.gate, UInt64(place), nil)
            } catch {
                // What becomes of it would not be heard.
                kill(begun.pid, SIGKILL)
                children.fail(place, step: Int32(LINUX_SPAWN_CLONE), error: error.errno.rawValue, detail: 0)
            }
        } else {
            children.fail(place, step: begun.step, error: begun.error, detail: 0)
        }
        if !isLoopSlow { tellAll(of: place) }
    }

    // MARK: Our word

    func gateHungUp(_ place: Int) {
        hearOutcome(of: place)
        if !isLoopSlow { tellAll(of: place) }
    }

    /// Not by its close alone: a child that is just being started has a copy of the gate.
    func hearOutcome(of place: Int) {
        guard let gate = children.gate(of: place) else { return }
        try? control(EPOLL_CTL_DEL, gate, 0, 0)
        children.hearOutcome(of: place)
    }

    func tellOrders() {
        while let signal = orders.first {
            var word = keeper_word()
            word.kind = UInt32(KEEPER_ORDER)
            word.detail = signal
            guard tell(word) else { return }
            orders.removeFirst()
        }
    }

    /// All that is known of a child and was not told yet. False where the loop has no room for it.
    @discardableResult
    func tellAll(of place: Int) -> Bool {
        while let word = children.nextWord(of: place) {
            guard tell(word) else { return false }
            children.told(place)
        }
        return true
    }

    func tellAnswers() { while let word = answers.first, tell(word) { answers.removeFirst() } }

    func tellOrphanEnds() { while let word = orphans.nextWord, tell(word) { orphans.told() } }

    func tell(_ word: keeper_word) -> Bool {
        guard loop.isThere else { return true }
        var word = word
        while linux_packet_send(loop.socket, &word, MemoryLayout<keeper_word>.size, nil, 0) != 0 {
            switch Errno.current {
            case .interrupted: continue
            case .again:
                isLoopSlow = true
                try? control(EPOLL_CTL_MOD, loop.socket, Mark.loop, EPOLLIN.rawValue | EPOLLOUT.rawValue)
                return false
            default: return true
            }
        }
        return true
    }
}
