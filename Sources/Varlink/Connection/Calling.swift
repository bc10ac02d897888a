internal import CLinux

// The client's side of a connection: calling.

/// A call whose reply has not come.
struct OutstandingCall {
    let more: Bool
    let upgrade: Bool
    let handler: ((Response) -> Void)?
}

extension Connection {
    /// Sends a call (role client). Several may be under way; replies come in order. False where it cannot be sent,
    /// because the connection has ended or this side is not the one that calls; the handler is never called then.
    /// A oneway call's handler is never called either. After an upgrade that succeeded this side is the server.
    @discardableResult
    public func call(_ call: Call, _ handler: ((Response) -> Void)? = nil) -> Bool {
        guard isOpen, failure == nil else { return false }
        let bytes = call.encode()
        if role == .server {
            // Right after acceptUpgrade the reply may still wait for others.
            guard let last = requests.last, last.isUpgraded else { return false }
            last.held += bytes
            heldBytes += bytes.count
            checkOutput()
        } else {
            enqueue(bytes)
        }
        if !call.oneway {
            calls.append(OutstandingCall(more: call.more, upgrade: call.upgrade, handler: handler))
        }
        settleLater()
        return true
    }

    /// Sends at once what was called in the middle of an answer, as far as the socket takes it.
    public func sendNow() { if isOpen, failure == nil { flush() } }

    /// A call was sent over this socket by another connection that had it before; its reply has not come.
    public func awaitReply(_ handler: @escaping (Response) -> Void) {
        calls.append(OutstandingCall(more: false, upgrade: false, handler: handler))
    }

    /// The same of one whose reply counts already: where that is still to be read, it is dropped.
    public func passOverReply() {
        if linux_unix_holds(descriptor, 0) { calls.append(OutstandingCall(more: false, upgrade: false, handler: nil)) }
    }

    /// Another connection had this socket before: what has come of its calls is not known for certain.
    public func followsAnother() { mayHearStrayReplies = true }

    func take(_ reply: Reply) {
        guard let first = calls.first else {
            if mayHearStrayReplies { return }
            failure = .protocolError("a reply to no call")
            return
        }
        if reply.continues {
            guard first.more else {
                failure = .protocolError("a reply that continues, to a call without \"more\"")
                return
            }
        } else {
            calls.removeFirst()
            if first.upgrade, reply.error == nil { role = .server }
        }
        if let error = reply.error {
            first.handler?(.error(name: error, parameters: reply.parameters))
        } else {
            first.handler?(.reply(reply.parameters, continues: reply.continues))
        }
    }
}
