internal import Lifecycle

extension AppKeys {
    /// Whose rights the app has, and what of the system it sees. First of all the level: the defaults of the others
    /// follow from it.
    mutating func confinement() {
        var level = app.sandbox.level
        keys.word(
            "sandbox", [("default", .standard), ("strict", .strict), ("off", .off)], &level,
            .init(
                "What the app and its hooks can see and change of the system; sets the defaults of the keys below. "
                    + "default: a user of its own, no more rights than that, the system read-only, /tmp and homes "
                    + "hidden; what the kernel refuses is gone without. strict: also devices and system calls, and no "
                    + "launch without all of it. off is the default below a --root."))
        app.take(level)
        account()
        privileges()
        view()
    }

    private mutating func account() {
        let accounts = accounts
        keys.value(
            "user", "the name of a user", &app.user,
            .init(
                "Whose rights it runs with. \"auto\": a user that it has for itself, and a folder that only it can "
                    + "enter, told as STATE_DIRECTORY. Its name is curfew-NAME, where nss-systemd(8) is there "
                    + "to say so (Debian: libnss-systemd); dbus-daemon turns away users without a name. Without a "
                    + "sandbox the default is the daemon's, which is usually root.",
                example: #""www-data""#),
            show: { .optional($0) }, read: { AppFile.account($0, $1, accounts.user).map(Optional.some) })
        keys.value(
            "group", "the name of a group", &app.group,
            .init("By default the user's own, or the daemon's.", example: #""video""#),
            show: { .optional($0) }, read: { AppFile.account($0, $1, accounts.group) })
    }

    private mutating func privileges() {
        keys.boolean(
            "no-new-privileges", &app.forbidsNewPrivileges,
            "true: setuid programs and file capabilities give it nothing: no sudo, no ping of old.")
        keys.value(
            "capabilities", AppFile.capabilitiesExpected, &app.capabilities,
            .init(
                "All that it and its hooks can have, whatever they start; with a `user` they have them at once. [] is "
                    + "for most apps; without a sandbox the default is what its user may have.",
                example: #"["CAP_NET_BIND_SERVICE"]"#),
            show: { $0.map { .list(CapabilityName.texts($0)) } ?? .unset },
            read: { AppFile.capabilities($0, $1).map(Optional.some) })
    }

    private mutating func view() {
        keys.boolean(
            "protect-system", &app.sandbox.protectsSystem,
            .init(
                "true: all is read-only, but for /dev, /proc, /sys, its STATE_DIRECTORY, its user's home and "
                    + "`read-write-paths`."))
        keys.value(
            "read-write-paths", AppFile.pathsExpected, &app.sandbox.readWritePaths,
            .init(
                "Folders and files that it may change all the same; each has to be there.", example: #"["/srv/data"]"#),
            show: { .list($0) }, read: AppFile.paths)
        keys.value(
            "read-only-paths", AppFile.pathsExpected, &app.sandbox.readOnlyPaths,
            .init(
                "Folders and files that it sees, though what is around them is hidden, and cannot change, with all "
                    + "below them; each has to be there.",
                example: #"["/home/pi/app"]"#),
            show: { .list($0) }, read: AppFile.paths)
        keys.boolean(
            "private-tmp", &app.sandbox.hasPrivateTmp,
            .init(
                "true: /tmp, /var/tmp and /dev/shm are its own and its hooks', in memory (at most a quarter of it "
                    + "each), and gone with it."))
        keys.boolean(
            "protect-home", &app.sandbox.protectsHome,
            "true: /home, /root and /run/user are empty, but for what is its user's own.")
        keys.boolean(
            "protect-proc", &app.sandbox.protectsProcesses,
            "true: it does not see the processes of other users (Linux 5.8).")
        keys.boolean(
            "private-devices", &app.sandbox.hasPrivateDevices,
            "true: /dev has /dev/null, terminals and the like, and `devices`.")
        keys.value(
            "devices", AppFile.devicesExpected, &app.sandbox.devices,
            .init(
                "With `private-devices`: what else is in /dev, where it is there when the app is launched. A folder "
                    + "shows what comes later, too.",
                example: #"["/dev/video0", "/dev/snd"]"#),
            show: { .list($0) }, read: AppFile.devices)
        keys.boolean(
            "private-ipc", &app.sandbox.hasPrivateIPC,
            "true: System V memory, semaphores and messages, and POSIX messages, are its own and gone with it.")
        keys.word(
            "network", [("full", .full), ("loopback", .loopback), ("none", .none)], &app.sandbox.network,
            "loopback: nothing but a lo of its own; none: not even that. Sockets in the file system work always.")
        keys.boolean(
            "system-call-filter", &app.sandbox.filtersSystemCalls,
            .init(
                "true: system calls that administer the board, debug others or make namespaces are refused. Brings "
                    + "`no-new-privileges`."))
        keys.boolean(
            "restrict-namespaces", &app.sandbox.restrictsNamespaces,
            .init(
                "true: it makes no namespaces. In its own any program may mount file systems and build networks, which "
                    + "can hold the board up. false is for browsers and for what starts containers. Needs "
                    + "`no-new-privileges`, and that it has no CAP_SYS_ADMIN."))
    }
}
