extension Unicode.Scalar {
    /// A terminal obeys it, or shows nothing of it: DEL and C1 of the control characters (C0 is every writer's own
    /// matter); what has no width, ends a line or turns its direction; blanks that count as letters; tags.
    public var isUnseen: Bool {
        switch value {
        case 0x7F..<0xA0, 0xAD, 0x34F, 0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E, 0x200B, 0x200E...0x200F,
            0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
