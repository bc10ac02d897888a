/// A descriptor that the keeper has, too, for the next loop: for as long as this lives.
public final class KeptCopy {
    // Strongly: it has to be told at the end.
    private let keeper: ProcessKeeper
    private let name: String

    /// Has it keep a copy.
    public convenience init(_ keeper: ProcessKeeper, _ name: String, of descriptor: Int32) {
        keeper.keep(name, descriptor)
        self.init(takenFrom: keeper, name)
    }

    /// Of what an earlier loop has had it keep, and this one has taken.
    public init(takenFrom keeper: ProcessKeeper, _ name: String) {
        self.keeper = keeper
        self.name = name
    }

    deinit { keeper.drop(name) }
}
