/// org.varlink.service: what every Varlink service answers.
public enum ServiceInterface {
    public static let name = "org.varlink.service"

    public static let description = """
        # The interface every Varlink service has.
        interface org.varlink.service

        # Who serves here, and what.
        method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

        # The description of an interface, in Varlink's own language.
        method GetInterfaceDescription(interface: string) -> (description: string)

        error InterfaceNotFound (interface: string)

        error MethodNotFound (method: string)

        error MethodNotImplemented (method: string)

        error InvalidParameter (parameter: string)

        error PermissionDenied ()

        error ExpectedMore ()

        """
}
