/// What kind of event a journal entry is about: its MESSAGE_ID (systemd.journal-fields(7)), the same for ever.
public enum MessageID: CaseIterable, Sendable {
    case daemonStarted
    case daemonStopping
    case configurationInvalid
    case configurationReloaded
    case appLaunched
    case appLaunchFailed
    case appEnded
    case appKilledByWatchdog
    /// Its background tasks were still held at the end of their time.
    case appSpentBudget
    case appKilledForMemory
    case appKilledForHeat
    case appCrashed
    case appRestartScheduled
    case appLeftDown
    case handlerFailed
    case sleepPreparing
    case sleepReleased
    case sleepEnded
    case lockRefused
    case shutdownPreparing
    case unfreezable
    case clockJumped
    case busLost
    case busBack
    case messagesDropped
    case taskExpiring
    case keepAwakeSpent
    case darkWake
    /// Power, heat, memory, people: what the board's conditions ask of apps.
    case conditionChanged
    case boardAtRisk
    case hardwareWatchdog
    /// How the boot before this one ended.
    case bootCause

    /// 128 bits as 32 hexadecimal digits.
    public var id: String {
        switch self {
        case .daemonStarted: "d158b13c2398407696fa32296504bde2"
        case .daemonStopping: "226587c7a7fc45d9a9474f32178d2664"
        case .configurationInvalid: "4ea4172ddd514960afa323d3ebe396b0"
        case .configurationReloaded: "402840742a0f416185fb3385efc03388"
        case .appLaunched: "9a8dbf0515b2408cac535132253009f6"
        case .appLaunchFailed: "486443d4361349dfa7f507e65fe2c9a2"
        case .appEnded: "16e5459fc5304383a9ca4932811ab1e8"
        case .appKilledByWatchdog: "4367c311fcc241eea5ce791d0eedb995"
        case .appSpentBudget: "b74e885fe06b427fa46d318dad5dcc6f"
        case .appKilledForMemory: "058e5df194644c5c893754e6240ff3ae"
        case .appKilledForHeat: "1a86d9482b1f4bc6bc0dced82f9f31eb"
        case .appCrashed: "ade3051703ad43fe9881186af0b3bb68"
        case .appRestartScheduled: "dc629ffc92b74875830a6a0dfdf4f2b5"
        case .appLeftDown: "d4e1c3622a7e4084b7003f1a89c750d0"
        case .handlerFailed: "c6188248d3ca4d928fc85bd923ea8f96"
        case .sleepPreparing: "ad26f91a49c24dd38e4bc5f6df15cdfc"
        case .sleepReleased: "9bff1166fe684e66977b727fa42ddc07"
        case .sleepEnded: "4bd5081b6895470e8496c51cc97a8956"
        case .lockRefused: "3999f854837a49fca9cb6d709095c5d6"
        case .shutdownPreparing: "bc5e5997723a479caa758132956f3097"
        case .unfreezable: "e975419db13246939ec83d5cceb5c3bc"
        case .clockJumped: "76cb6e4dd7a844fe9022316873812cbd"
        case .busLost: "60375d2a59c74247979723d0c2be7d46"
        case .busBack: "f1a5291a95214a3c853197200fd4247e"
        case .messagesDropped: "cb677382ddd64d91bca11451e0eb95f3"
        case .taskExpiring: "e6b32ee87c8e4da181a47fe67120203f"
        case .darkWake: "ed8a67dddc3544dab91f3239eb3e1791"
        case .conditionChanged: "8c0a4b0458764cc3a264125861edf432"
        case .hardwareWatchdog: "4fff1ab399c54282a670bf58cc80ba86"
        case .bootCause: "fb7ce0b1f7db4f32be39fee659aada85"
        case .boardAtRisk: "88c9ce732ad147f6b57ec9cab01b1eac"
        case .keepAwakeSpent: "b977007893ef420ab766c2019002d853"
        }
    }
}
