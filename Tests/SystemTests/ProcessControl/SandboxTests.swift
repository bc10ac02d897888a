import CLinux
import ProcessControl
import SystemCalls
import Testing

/// What a program sees and can change of this very system, by the kernel.
@Suite(.enabled(if: isRoot, "needs root")) struct SandboxTests {
    private func sandboxed(_ script: String, _ parts: Sandbox.Parts, _ places: [Sandbox.Place] = []) -> SpawnRequest {
        var request = shell(script)
        request.sandbox = Sandbox(parts, places: places)
        return request
    }

    /// Below /var/tmp, which is on the disk; removed by the caller.
    private func makeFolder() throws -> String {
        let path = "/var/tmp/curfew-sandbox-\(getpid())-\(UInt32.random(in: 0 ..< .max))"
        _ = try output(of: shell("mkdir -p \(path)/open/inner \(path)/other"))
        return path
    }

    private func remove(_ path: String) { _ = try? output(of: shell("rm -rf \(path)")) }

    @Test func theSystemIsReadOnly_butForWhatIsListed() throws {
        let folder = try makeFolder()
        defer { remove(folder) }
        let script = """
            for place in / /usr /etc /var/tmp \(folder)/other \(folder)/open/inner; do
              (: > $place/probe) 2>/dev/null && { echo "$place can be written"; rm $place/probe; }
            done
            : > \(folder)/open/kept && echo 1 > /dev/null && echo 500 > /proc/self/oom_score_adj && echo all
            """
        let places: [Sandbox.Place] = [.writable(folder + "/open"), .readable(folder + "/open/inner")]
        #expect(try output(of: sandboxed(script, .system, places)) == "all\n")
        #expect(try output(of: shell("ls \(folder)/open")) == "inner\nkept\n")
        // Outside nothing has changed.
        #expect(try output(of: shell("touch /var/tmp/.curfew-probe && rm /var/tmp/.curfew-probe")) == "")
    }

    @Test func aWritableFolderThatIsMissing_isNamed() throws {
        let request = sandboxed("true", .system, [.own("/nowhere/a"), .writable("/nowhere/b")])
        let error = try #require(throws: SpawnError.self) { try ChildProcess.spawn(request) }
        #expect(error.text == "make its sandbox: read-write-paths: /nowhere/b: No such file or directory")
    }

    @Test func tmpIsItsOwn() throws {
        let name = "curfew-probe-\(getpid())"
        let script = """
            ls -A /tmp /dev/shm
            stat -c %a /tmp /var/tmp /dev/shm
            touch /tmp/\(name) /dev/shm/\(name) && ls -A /var/tmp
            """
        let text = try output(of: sandboxed(script, [.system, .temporary]))
        #expect(text == "/dev/shm:\n\n/tmp:\n1777\n1777\n1777\n")
        #expect(try output(of: shell("ls /tmp /var/tmp /dev/shm | grep -c \(name) || true")) == "0\n")
    }

    @Test func homesAreHidden_butItsOwn() throws {
        let home = "/root/.curfew-home-\(getpid())"
        _ = try output(of: shell("mkdir -p \(home) && chown 65534 \(home)"))
        defer { _ = try? output(of: shell("rm -rf \(home)")) }
        var request = sandboxed(
            "ls -A /root; touch \(home)/x && echo wrote; (: > /root/y) 2>/dev/null || echo refused",
            [.system, .homes], [.own(home), .own("/"), .own("/home")])
        request.credentials = Credentials(user: 65534, group: 65534)
        let name = home.split(separator: "/").last ?? ""
        #expect(try output(of: request) == "\(name)\nwrote\nrefused\n")
    }

    @Test func processesOfOthersAreHidden() throws {
        var request = sandboxed("ls -d /proc/[0-9]* | wc -l; test -e /proc/1 || echo hidden", [.system, .processes])
        request.credentials = Credentials(user: 65533, group: 65533)
        let lines = try output(of: request).split(separator: "\n")
        #expect(lines.last == "hidden" && Int(lines.first ?? "").map { $0 <= 4 } == true)
    }

    @Test func onlyListedDevicesAreThere() throws {
        let script = """
            ls -1 /dev | grep -v -E '^(null|zero|full|random|urandom|tty|pts|shm|mqueue|fd|std.*|ptmx|log)$'
            echo x > /dev/null && head -c 4 /dev/urandom | wc -c && test -d /dev/shm && echo usual
            (: > /dev/probe) 2>/dev/null || echo sealed
            """
        let places: [Sandbox.Place] = [.device("/dev/kmsg"), .device("/dev/not-there")]
        let text = try output(of: sandboxed(script, [.devices], places))
        #expect(text == "kmsg\n4\nusual\nsealed\n")
        let both = try output(of: sandboxed("touch /dev/shm/a && ls -A /dev/shm", [.devices, .temporary]))
        #expect(both == "a\n")
    }

    @Test func networkOfItsOwn() throws {
        let script = "cat /proc/net/dev | tail -n +3 | cut -d : -f 1 | tr -d ' '; cat /sys/class/net/lo/flags"
        #expect(try output(of: sandboxed("cut -d : -f 1 /proc/net/dev | tail -n +3 | tr -d ' '", .network)) == "lo\n")
        let up = try output(of: sandboxed("ip -br link show lo 2>/dev/null || " + script, [.network, .loopback]))
        #expect(up.contains("UP") || up.contains("0x9"))
    }

    @Test func filterIsInEffect() throws {
        // All is let through, but for uname(2), which fails: x86-64's number 63, arm64's 160.
        #if arch(x86_64)
            let number: UInt64 = 63
        #else
            let number: UInt64 = 160
        #endif
        func step(_ code: UInt64, _ onTrue: UInt64, _ onFalse: UInt64, _ value: UInt64) -> UInt64 {
            code | onTrue << 16 | onFalse << 24 | value << 32
        }
        var request = shell("uname 2>&1 || true")
        request.forbidsNewPrivileges = true
        request.sandbox = Sandbox(
            [],
            filter: [
                step(0x20, 0, 0, 0), step(0x15, 0, 1, number), step(6, 0, 0, 0x5_0001), step(6, 0, 0, 0x7fff_0000),
            ])
        #expect(try output(of: request).contains("Operation not permitted"))
        request.sandbox?.filter = [step(0, 0, 0, 0)]
        let error = try #require(throws: SpawnError.self) { try ChildProcess.spawn(request) }
        #expect(error.text == "filter system calls: Invalid argument")
    }
}
