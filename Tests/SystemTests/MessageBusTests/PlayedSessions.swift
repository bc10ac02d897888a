import Foundation

/// Sessions of python-dbusmock's logind, which announces none of them by itself.
extension PrivateBus {
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"

    /// seat: nil for one from afar.
    func addSession(
        _ name: String, kind: String = "user", seat: String? = "seat0", state: String = "active", hint: Bool = false,
        announced: Bool = true
    ) throws {
        var code = """
            self.AddSession('\(name)', 'seat0', 1000, 'somebody', True)
            properties = \(session(name)).props['\(Self.session)']
            properties['Class'] = '\(kind)'
            properties['State'] = '\(state)'
            properties['LockedHint'] = dbus.Boolean(\(hint ? "True" : "False"))

            """
        if seat == nil { code += "properties['Seat'] = ('', dbus.ObjectPath('/'))\n" }
        if announced { code += announcement("SessionNew", of: name) }
        try script(code)
    }

    func removeSession(_ name: String) throws {
        try script("self.RemoveObject('\(path(name))')\n" + announcement("SessionRemoved", of: name))
    }

    /// Lock or Unlock.
    func signal(_ member: String, of name: String) throws {
        try script("\(session(name)).EmitSignal('\(Self.session)', '\(member)', '', [])")
    }

    func setSession(_ name: String, _ property: String, _ value: Bool) throws {
        try setSession(name, property, "dbus.Boolean(\(value ? "True" : "False"))")
    }

    func setSession(_ name: String, _ property: String, _ value: String) throws {
        try script("\(session(name)).UpdateProperties('\(Self.session)', {'\(property)': \(value)})")
    }

    /// So often logind takes so long to speak of it, and answers nothing else meanwhile. It looks at it three times
    /// itself whenever it lists all of them.
    func slowDown(_ name: String, seconds: Int, times: Int) throws {
        try script(
            """
            class Slow(dict):
                left = \(times)
                looks = 0
                def __getitem__(self, key):
                    self.looks += 1
                    if self.looks % 4 == 0 and self.left > 0:
                        self.left -= 1
                        __import__('time').sleep(\(seconds))
                    return dict.__getitem__(self, key)
            \(session(name)).props = Slow(\(session(name)).props)
            """)
    }

    /// A property of the manager, of which nothing is said.
    func changeQuietly(_ property: String, _ value: String) throws {
        try script("self.props['\(Self.manager)']['\(property)'] = \(value)")
    }

    /// Gives up logind's name and takes it again; its sessions stay.
    func passNameOn() throws {
        try script(
            """
            bus = self.bus_name.get_bus()
            bus.release_name('org.freedesktop.login1')
            bus.request_name('org.freedesktop.login1')
            """)
    }

    /// What a method of the manager does from now on, in Python.
    func play(_ method: String, _ signature: String, _ code: String) throws {
        try script("self.AddMethod('\(Self.manager)', '\(method)', '\(signature)', '', \"\"\"\(code)\"\"\")")
    }

    /// How often a method was called: "123.456 ListSessions", and once more "raised:" where it failed.
    func calls(_ method: String) throws -> Int {
        try String(contentsOfFile: directory + "/logind.log", encoding: .utf8).split(separator: "\n")
            .filter { line in
                let words = line.split(separator: " ").dropFirst()
                return words.first == method[...] && words.dropFirst().first != "raised:"
            }.count
    }

    /// The object, in Python.
    func session(_ name: String) -> String { "objects['\(path(name))']" }

    private func path(_ name: String) -> String { "/org/freedesktop/login1/session/\(name)" }

    func announcement(_ signal: String, of name: String) -> String {
        "self.EmitSignal('\(Self.manager)', '\(signal)', 'so', ['\(name)', dbus.ObjectPath('\(path(name))')])"
    }
}
