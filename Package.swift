// swift-tools-version: 6.2
import PackageDescription

// CURFEW_EMBEDDED=1 builds what runs always as Embedded Swift: the form in which curfewd is shipped (deploy/build).
// Tests, the command line tool and its packages exist in the regular build only.
let embedded = Context.environment["CURFEW_EMBEDDED"] != nil

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // glibc's types have one shape only where every module sees the same of it; CLinux needs all of it.
    .unsafeFlags(["-Xcc", "-D_GNU_SOURCE"]),
]
// What the optimiser would copy to every place that uses it, 60 to 200 bytes each time, and a call does as well. As
// nm names it; a name that another Swift does not have costs size and nothing else.
let outOfLine = [
    "$eSS6appendyySSF",  // String.append
    "$es26DefaultStringInterpolationV13appendLiteralyySSF",
    "$eSS2eeoiySbSS_SStFZ",  // String.==
    "$eSS1loiySbSS_SStFZ",  // String.<
    "$eSS1poiyS2S_SStFZ",  // String.+
    "$eSS12_createEmpty19withInitialCapacitySSSi_tFZ",
    "$eSS18_fromUTF8RepairingySS6result_Sb11repairsMadetSRys5UInt8VGFZ",
    "$es17FixedWidthIntegerPsEyxSgSScfCs5Int32V_Tt1g5",  // Int32.init(String)
    "$es17FixedWidthIntegerPsEyxSgSScfCs5Int64V_Tt1g5",
    "$eSa6appendyyxnFSi_Tg5",  // [Int].append
    "$eSa6appendyyxnFSS_Tg5",  // [String].append
    "$e13Configuration5ValueV4kindAC4KindOvg",
    "$e11SystemCalls5FilesO13writeExistingyySS_SStAA0A5ErrorVYKFZ",
    "$es14_stringCompare__9expectingSbs11_StringGutsV_ADs01_D16ComparisonResultOtF",
    "$e7Varlink10JSONObjectVyAA4JSONOSgSScis",  // JSONObject.subscript, its setter
]
let device: [SwiftSetting] =
    strict
    + (embedded
        ? [
            .enableExperimentalFeature("Embedded"),
            .unsafeFlags(
                [
                    "-wmo", "-Osize", "-Xfrontend", "-function-sections", "-Xcc", "-fno-asynchronous-unwind-tables",
                    // What functions have in common becomes a function. Embedded Swift emits them all as linkonce_odr.
                    "-Xllvm", "-enable-machine-outliner=always", "-Xllvm", "-enable-linkonceodr-outlining",
                    // No copy of a function for every closure that it is called with.
                    "-Xllvm", "-sil-disable-pass=closure-specialize",
                ] + outOfLine.flatMap { ["-Xllvm", "-sil-inline-never-function=" + $0] }),
        ] : [])
// The core and its simulation in a debug build too: their tests take millions of steps, in a sixth of the time.
let fast: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]
// What the simulation of the shell plays: the linker sends the daemon's calls to Tests/ShellSimulation/Calls.
let playedCalls = [
    "accept4", "access", "clock_gettime", "close", "epoll_create1", "epoll_ctl",
    "epoll_wait", "eventfd", "fcntl", "fstat", "fsync", "getenv", "getpid", "getsockopt", "getxattr",
    "kill", "linux_control_group_id", "linux_dispose", "linux_do_in_time", "linux_find_busy_thread",
    "linux_finish_disposal", "linux_hear_lock", "linux_is_disposed", "linux_packet_pair", "linux_packet_receive",
    "linux_packet_send", "linux_parent_and_user", "linux_pidfd_open", "linux_pidfd_pid", "linux_pidfd_send_signal",
    "linux_process_identity", "linux_start_thread", "linux_wait_channel", "linux_write_user_records",
    "lstat", "mallopt", "memfd_create", "mkdir", "mlockall",
    "open",
    "opendir", "pipe2", "poll", "pread", "read", "recv", "recvmsg", "rename", "rmdir",
    "sd_bus_add_match_async", "sd_bus_attach_event", "sd_bus_call_async", "sd_bus_close_unref", "sd_bus_is_open",
    "sd_bus_message_append_basic", "sd_bus_message_enter_container", "sd_bus_message_exit_container",
    "sd_bus_message_get_error", "sd_bus_message_get_member", "sd_bus_message_get_path", "sd_bus_message_get_sender",
    "sd_bus_message_is_method_error", "sd_bus_message_new_method_call", "sd_bus_message_read_basic",
    "sd_bus_message_set_auto_start", "sd_bus_message_skip", "sd_bus_message_unref", "sd_bus_new",
    "sd_bus_negotiate_fds", "sd_bus_set_address",
    "sd_bus_set_bus_client", "sd_bus_set_close_on_exit", "sd_bus_set_connected_signal",
    "sd_bus_set_watch_bind", "sd_bus_slot_set_destroy_callback", "sd_bus_slot_unref", "sd_bus_start",
    "sd_event_add_defer", "sd_event_add_io", "sd_event_add_time", "sd_event_exit",
    "sd_event_loop", "sd_event_new", "sd_event_source_disable_unref", "sd_event_source_set_destroy_callback",
    "sd_event_source_set_enabled", "sd_event_source_set_io_events", "sd_event_source_set_priority",
    "sd_event_source_set_time", "sd_event_unref", "sd_watchdog_enabled", "send", "setrlimit", "setsockopt",
    "setxattr", "socket", "socketpair", "stat", "statfs", "timerfd_create", "timerfd_settime", "umask", "unlink",
    "write",
]
let warnings = ["-Wall", "-Wextra", "-Werror"]
// The same for C and C++; Embedded Swift has no unwind tables either.
let small =
    embedded ? ["-Oz", "-ffunction-sections", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"] : []

// What curfewd links. Dependencies point inward: curfewd -> Supervision -> leaf modules and Lifecycle.
var targets: [Target] = [
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .target(
        name: "CLinux",
        cSettings: [.unsafeFlags(warnings + small)] + (embedded ? [.define("CURFEW_EMBEDDED")] : [])),
    .target(
        name: "CToml",
        cxxSettings: [.unsafeFlags(["-fno-exceptions", "-fno-rtti"] + warnings + small)]
            + (embedded ? [.define("CURFEW_EMBEDDED")] : [])),
    .target(name: "Vocabulary", swiftSettings: device + fast),
    .target(name: "Lifecycle", dependencies: ["Vocabulary"], swiftSettings: device + fast),
    .target(name: "SystemCalls", dependencies: ["CLinux"], swiftSettings: device),
    .target(
        name: "Configuration", dependencies: ["Lifecycle", "SystemCalls", "CToml", "CLinux"], swiftSettings: device),
    .target(name: "Varlink", dependencies: ["SystemCalls", "CLinux", "CJansson"], swiftSettings: device),
    .target(name: "EventLoop", dependencies: ["SystemCalls", "CLinux", "CSystemd"], swiftSettings: device),
    .target(
        name: "MessageBus", dependencies: ["Vocabulary", "SystemCalls", "CLinux", "CSystemd"], swiftSettings: device),
    .target(name: "ProcessControl", dependencies: ["SystemCalls", "CLinux"], swiftSettings: device),
    .target(name: "ControlGroup", dependencies: ["SystemCalls", "CLinux"], swiftSettings: device),
    .target(name: "Journal", dependencies: ["SystemCalls", "CLinux", "CSystemd"], swiftSettings: device),
    .target(
        name: "Keeper", dependencies: ["ProcessControl", "Journal", "SystemCalls", "CLinux"], swiftSettings: device),
    .target(name: "WakeAlarm", dependencies: ["SystemCalls", "CLinux"], swiftSettings: device),
    .target(name: "HardwareWatchdog", dependencies: ["SystemCalls", "CLinux"], swiftSettings: device),
    .target(name: "DeviceMonitor", dependencies: ["SystemCalls", "CLinux", "CUdev"], swiftSettings: device),
    .target(
        name: "Supervision",
        dependencies: [
            "Lifecycle", "Configuration", "Varlink", "SystemCalls", "EventLoop", "MessageBus", "ProcessControl",
            "ControlGroup", "Journal", "Keeper", "WakeAlarm", "HardwareWatchdog", "DeviceMonitor", "CLinux",
        ],
        swiftSettings: device),
    .executableTarget(
        name: "curfewd", dependencies: ["Supervision", "CLinux"], swiftSettings: device,
        linkerSettings: [.linkedLibrary("m")]),
]
var products: [Product] = [.executable(name: "curfewd", targets: ["curfewd"])]
var packages: [Package.Dependency] = []

if !embedded {
    packages += [.package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")]
    products += [
        .executable(name: "curfew", targets: ["curfew"]), .library(name: "Curfew", targets: ["Curfew"]),
    ]
    targets += [
        .target(name: "Curfew", dependencies: ["Varlink", "SystemCalls", "CLinux"], swiftSettings: strict),
        .executableTarget(
            name: "uploader-example", dependencies: ["Curfew"], path: "Sources/Clients/swift/Uploader",
            swiftSettings: strict),
        .executableTarget(
            name: "walk", dependencies: ["Curfew", "SystemCalls", "CLinux"], path: "Tests/BlackBoxTests/programs/walk",
            swiftSettings: strict),
        .executableTarget(
            name: "device-probe", dependencies: ["DeviceMonitor", "SystemCalls", "CLinux"],
            path: "Tests/BlackBoxTests/programs/device-probe", swiftSettings: strict),
        .target(
            name: "CurfewCommands",
            dependencies: [
                "Lifecycle", "Varlink", "Configuration", "SystemCalls", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(name: "curfew", dependencies: ["CurfewCommands"], swiftSettings: strict),
        .target(
            name: "LifecycleSimulation", dependencies: ["Lifecycle"], path: "Tests/LifecycleSimulation",
            swiftSettings: strict + fast),
        .executableTarget(
            name: "lifecycle-simulation", dependencies: ["LifecycleSimulation", "Lifecycle"],
            path: "Tests/LifecycleSimulationRun", swiftSettings: strict),
        .target(
            name: "PlayedKernel", dependencies: ["CLinux"], path: "Tests/PlayedKernel",
            cSettings: [.unsafeFlags(warnings)]),
        .target(
            name: "ShellSimulation",
            dependencies: [
                "Supervision", "Keeper", "Lifecycle", "LifecycleSimulation", "PlayedKernel", "ProcessControl",
                "SystemCalls",
                "CLinux", "CSystemd",
            ],
            path: "Tests/ShellSimulation", swiftSettings: strict),
        .executableTarget(
            name: "shell-simulation", dependencies: ["ShellSimulation"], path: "Tests/ShellSimulationRun",
            swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(playedCalls.flatMap { ["-Xlinker", "--wrap=" + $0] }), .linkedLibrary("m"),
            ]),
    ]
}

if !embedded {
    targets += [
        .testTarget(
            name: "LifecycleTests", dependencies: ["Lifecycle"], exclude: ["States"], swiftSettings: strict),
        .testTarget(
            name: "LifecycleSimulationTests", dependencies: ["Lifecycle", "LifecycleSimulation"],
            exclude: ["seeds.txt"], swiftSettings: strict),
        .testTarget(
            name: "ConfigurationTests", dependencies: ["Configuration", "Lifecycle", "SystemCalls", "CLinux"],
            swiftSettings: strict),
        .testTarget(name: "VarlinkTests", dependencies: ["Varlink", "SystemCalls", "CLinux"], swiftSettings: strict),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "Vocabulary", "SystemCalls", "EventLoop", "MessageBus", "ProcessControl", "ControlGroup", "Journal",
                "WakeAlarm", "DeviceMonitor", "CLinux",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HardwareWatchdogTests", dependencies: ["HardwareWatchdog", "SystemCalls", "CLinux"],
            swiftSettings: strict),
        .testTarget(
            name: "SupervisionTests",
            dependencies: [
                "Supervision", "Keeper", "Lifecycle", "Configuration", "DeviceMonitor", "EventLoop", "Journal",
                "ProcessControl", "Varlink", "SystemCalls", "CLinux",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CurfewCommandsTests",
            dependencies: [
                "CurfewCommands", "Configuration", "HardwareWatchdog", "Lifecycle", "Varlink",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CurfewTests", dependencies: ["Curfew", "Varlink", "SystemCalls", "CLinux"], swiftSettings: strict),
        .testTarget(name: "SourceRulesTests", swiftSettings: strict),
    ]
}

let package = Package(
    name: "curfew", products: products, dependencies: packages, targets: targets, cLanguageStandard: .gnu11,
    cxxLanguageStandard: .gnucxx17)
