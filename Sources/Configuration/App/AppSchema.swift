internal import Lifecycle

extension Schema {
    static let app = Schema(
        sections: [
            Section(
                name: "",
                keys: [
                    "exec", "description", "user", "group", "working-directory", "environment", "umask", "nice",
                    "launch",
                    "start", "delegate", "readiness", "restart", "restart-delay", "restart-delay-max", "restart-reset",
                    "restart-limit", "priority-band", "essential", "suspend", "after", "liveness", "allowances",
                    "background",
                    "limits",
                    "hooks", "signals",
                ]),
            Section(
                name: "allowances",
                keys: AppKey.timed.map { $0.key } + AppKey.updates),
            Section(
                name: "background",
                keys: ["task-budget", "task-policy", "modes", "accessory", "refresh", "fetch-interval"]),
            Section(name: "limits", keys: ["memory-high", "memory-max", "processes"]),
            Section(name: "hooks", keys: handlers),
            Section(name: "signals", keys: handlers + ["acknowledge"]),
        ],
        refusals: [
            (
                "allowances", "background-task-will-expire",
                "has no allowance of its own: its call gets what is left of the task budget"
            )
        ])

    private static let handlers = Handler.allCases.map { $0.key }
}

/// Keys of `[allowances]`.
enum AppKey {
    /// The handlers with an allowance of their own.
    static let timed = Handler.allCases.filter { $0 != .backgroundTaskWillExpire }
    // Of calls that the core does not make yet.
    static let fetch = "perform-fetch"
    static let remoteNotification = "did-receive-remote-notification"
    static let backgroundSession = "handle-events-for-background-session"
    static let updates = [fetch, remoteNotification, backgroundSession]
}
