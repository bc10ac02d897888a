/// The interfaces one side of a connection serves, org.varlink.service among them. It checks a call against its
/// interface and passes on what fits.
public final class Service {
    private struct Entry {
        let interface: InterfaceDescription
        let text: String
        let handler: (Request) -> Void
    }

    public let vendor = "Curfew"
    public let product: String
    public let version: String
    public let url: String
    private var entries: [Entry] = []

    public init(product: String, version: String, url: String) throws(DescriptionError) {
        self.product = product
        self.version = version
        self.url = url
        try register(ServiceInterface.description) { [unowned(unsafe) self] request in answer(request) }
    }

    /// Serves the interface that `description` defines. The handler gets calls of its methods with parameters that fit,
    /// and answers now or later.
    public func register(
        _ description: String, _ handler: @escaping (Request) -> Void
    ) throws(DescriptionError) {
        let interface = try InterfaceDescription.parse(description)
        if entries.contains(where: { $0.interface.name == interface.name }) {
            throw DescriptionError(line: 0, message: interface.name + " is registered")
        }
        entries.append(Entry(interface: interface, text: description, handler: handler))
    }

    /// Answers the call, or hands it to its interface's handler. A connection's `onRequest`.
    public func handle(_ request: Request) {
        guard let interface = request.interfaceName else {
            return request.fail(.invalidParameter(parameter: "method"))
        }
        guard let entry = entries.first(where: { sameBytes($0.interface.name, interface) }) else {
            return request.fail(.interfaceNotFound(interface: interface))
        }
        guard let definition = entry.interface.method(request.methodName) else {
            return request.fail(.methodNotFound(method: request.method))
        }
        if let failure = entry.interface.validate(call: definition, request.parameters) {
            return request.fail(.invalidParameter(parameter: failure.parameter))
        }
        entry.handler(request)
    }

    private func answer(_ request: Request) {
        guard request.method == "org.varlink.service.GetInterfaceDescription" else {
            return request.reply([
                "vendor": .string(vendor), "product": .string(product), "version": .string(version),
                "url": .string(url), "interfaces": .array(entries.map { .string($0.interface.name) }),
            ])
        }
        let wanted = request.parameters["interface"]?.stringValue ?? ""
        guard let entry = entries.first(where: { sameBytes($0.interface.name, wanted) }) else {
            return request.fail(.interfaceNotFound(interface: wanted))
        }
        request.reply(["description": .string(entry.text)])
    }
}
