extension Unicode.Scalar {
    /// A terminal obeys it, or shows nothing of it: DEL and C1 of the control characters (C0 is every writer's own
    /// matter); what has no width, ends a line or turns its direction; tags.
    public var isUnseen: Bool {
        switch value {
        case 0x7F..<0xA0, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE007F: true
        default: false
        }
    }
}
