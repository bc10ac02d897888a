/// io.systemd.oom.Prekill: what systemd-oomd (from version 260 on) calls at every socket of its hook directory.
public enum PrekillInterface {
    public static let name = "io.systemd.oom.Prekill"

    /// The description, as GetInterfaceDescription gives it.
    public static let description = """
        # What systemd-oomd says before it kills.
        interface io.systemd.oom.Prekill

        # cgroup: the group that is about to be killed, as /proc/PID/cgroup has it.
        method Notify(cgroup: string) -> ()

        """
}
