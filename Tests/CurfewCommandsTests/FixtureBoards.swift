import Foundation
import Testing

/// A board as its firmware describes it: the device tree's names, or DMI's texts, and the profile for it.
struct FixtureBoard: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let profile: String
    var compatible: [String] = []
    var dmi: [String: String] = [:]
    var architecture = "aarch64"

    func tree() throws -> FixtureTree {
        let tree = try FixtureTree()
        if !compatible.isEmpty {
            let bytes = compatible.map { $0 + "\0" }.joined()
            try tree.write("sys/firmware/devicetree/base/compatible", bytes)
        }
        for (key, text) in dmi { try tree.write("sys/class/dmi/id/\(key)", text + "\n") }
        try tree.write("proc/sys/kernel/arch", architecture + "\n")
        return tree
    }
}

extension FixtureBoard {
    /// With a device tree.
    init(_ profile: String, _ compatible: String..., architecture: String = "aarch64") {
        self.init(
            testDescription: compatible[0], profile: profile, compatible: compatible, architecture: architecture)
    }

    /// With DMI.
    init(_ profile: String, dmi: [String: String], architecture: String = "x86_64") {
        self.init(
            testDescription: dmi.keys.sorted().map { dmi[$0] ?? "" }.joined(separator: " "), profile: profile, dmi: dmi,
            architecture: architecture)
    }
}

enum Boards {
    /// The package's.
    static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    static let directory = root + "/hardware-profiles"

    static let all = [
        FixtureBoard("raspberry-pi-3b-plus", "raspberrypi,3-model-b-plus", "brcm,bcm2837"),
        FixtureBoard("raspberry-pi-4b", "raspberrypi,4-model-b", "brcm,bcm2711"),
        FixtureBoard("raspberry-pi-5b", "raspberrypi,5-model-b", "brcm,bcm2712"),
        FixtureBoard("raspberry-pi-zero-2-w", "raspberrypi,model-zero-2-w", "brcm,bcm2837"),
        FixtureBoard("raspberry-pi-cm4", "raspberrypi,4-compute-module", "brcm,bcm2711"),
        FixtureBoard(
            "beaglebone-black", "ti,am335x-bone-black", "ti,am335x-bone", "ti,am33xx", architecture: "armv7l"),
        FixtureBoard("orange-pi-pc", "xunlong,orangepi-pc", "allwinner,sun8i-h3", architecture: "armv7l"),
        FixtureBoard("orange-pi-pc", "xunlong,orangepi-one", "allwinner,sun8i-h3", architecture: "armv7l"),
        FixtureBoard("orange-pi-3", "xunlong,orangepi-3", "allwinner,sun50i-h6"),
        FixtureBoard("rock-pi-4", "radxa,rockpi4b", "radxa,rockpi4", "rockchip,rk3399"),
        FixtureBoard("rock-5b", "radxa,rock-5b", "rockchip,rk3588"),
        FixtureBoard("jetson-orin-nano", "nvidia,p3768-0000+p3767-0005", "nvidia,p3767-0005", "nvidia,tegra234"),
        FixtureBoard("imx8mm-evk", "fsl,imx8mm-evk", "fsl,imx8mm"),
        FixtureBoard("stm32mp157-dk", "st,stm32mp157c-dk2", "st,stm32mp157", architecture: "armv7l"),
        FixtureBoard("pinephone", "pine64,pinephone-1.2", "pine64,pinephone", "allwinner,sun50i-a64"),
        FixtureBoard("pinephone-pro", "pine64,pinephone-pro", "rockchip,rk3399"),
        FixtureBoard("generic-arm64", "nvidia,p3450-0000", "nvidia,tegra210"),
        FixtureBoard("qemu", "linux,dummy-virt"),
        FixtureBoard("qemu", dmi: ["sys_vendor": "QEMU", "product_name": "Standard PC (i440FX + PIIX, 1996)"]),
        FixtureBoard(
            "qemu", dmi: ["sys_vendor": "QEMU", "product_name": "KVM Virtual Machine"], architecture: "aarch64"),
        FixtureBoard("pc-engines-apu2", dmi: ["sys_vendor": "PC Engines", "board_name": "APU2"]),
        FixtureBoard("pc-engines-apu2", dmi: ["sys_vendor": "PC Engines", "board_name": "PC Engines apu2"]),
        FixtureBoard("generic-x86", dmi: ["sys_vendor": "PC Engines", "board_name": "apu1"]),
        FixtureBoard("generic-x86", dmi: ["sys_vendor": "AAEON", "board_name": "UP-CHT01"]),
        FixtureBoard("generic-x86", dmi: ["sys_vendor": "Valve", "product_name": "Jupiter"]),
        FixtureBoard(testDescription: "neither device tree nor DMI", profile: "generic-x86", architecture: "x86_64"),
    ]
}

/// A tree of files, as /proc and /sys are; gone with the last reference.
final class FixtureTree {
    let path = NSTemporaryDirectory() + "curfew-tree-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: try place(name)))
    }

    func link(_ name: String, _ target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: try place(name), withDestinationPath: target)
    }

    private func place(_ name: String) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        return file
    }
}
