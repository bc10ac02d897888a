/// io.curfew.Trial: a board on a desk: served by curfewd with --trial.
public enum TrialInterface {
    public static let name = "io.curfew.Trial"

    /// The description, as GetInterfaceDescription gives it.
    public static let description = """
        # A board on a desk, for `curfew try`: only where curfewd runs with --trial, on its Control socket.
        interface io.curfew.Trial

        # handler: "DidEnterBackground". outcome: "returned", "overran", "ended" (the app ended meanwhile).
        type Handled (app: string, handler: string, timeAllowance: float, seconds: float, outcome: string)

        # So much time passes at once for deadlines and budgets. Handlers that are called meanwhile run in real time \
        and are waited for.
        # Returns when all of it has passed.
        method Skip(seconds: float) -> (skipped: float)

        # DidReceiveMemoryWarning. level: "warning" or "critical".
        method WarnOfMemory(app: string, level: string) -> ()

        # What the board says of itself, which is played; null: as it was. batteryLevel: 0 to 1; a battery without a \
        word on
        # external power is on its own. thermalState: "nominal", "fair", "serious" or "critical".
        method SetCondition(
          locked: ?bool,
          lidClosed: ?bool,
          externalPower: ?bool,
          batteryLevel: ?float,
          thermalState: ?string
        ) -> ()

        # Called with "more": one reply for each handler that is over.
        method Watch() -> (handled: Handled)

        """
}
