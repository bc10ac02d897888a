import Testing

@testable import Lifecycle

/// What is known of the board by itself: what is heard, what that asks, and when it is in force.
@Suite struct ConditionsStateTests {
    private static let window = DevicePolicy().debounce

    private static func deadline(_ conditions: Conditions, isBoardUp: Bool = true, mayRest: Bool = true) -> Deadline {
        conditions.nextDeadline(window, isBoardUp: isBoardUp, isEnding: false, mayRest: mayRest)
    }

    /// On battery, with so much left, since second 100.
    private static func onBattery(_ level: Int?) -> Conditions {
        var conditions = Conditions()
        _ = conditions.hear(PowerReading(isExternal: false, level: level), at: .seconds(100))
        _ = conditions.settleReadings(window, at: .seconds(100))
        _ = conditions.settleDemands(DevicePolicy(), isIdleHeld: false, at: .seconds(100))
        return conditions
    }

    @Test func firstSupplyIsNews_andOneThatComesBackFillsBudgets() {
        var conditions = Conditions()
        _ = conditions.hear(PowerReading(isExternal: false, level: 50), at: .seconds(100))
        var news = conditions.settleReadings(Self.window, at: .seconds(100))
        #expect(news.isPowerNews && news.supply?.isExternal == false && news.supply?.isBack == false)
        // It is said before the charge is in force.
        #expect(news.supply?.level == .some(nil) && conditions.batteryLevel == 50)
        let isBack = conditions.hear(PowerReading(isExternal: true, level: 50), at: .seconds(200))
        news = conditions.settleReadings(Self.window, at: .seconds(200))
        #expect(isBack && news.supply?.isBack == true && news.supply?.level == 50)
        #expect(!conditions.settleReadings(Self.window, at: .seconds(200)).isPowerNews)
    }

    @Test func supplyThatFallsSilentIsUnknown_andIsNotBackWhenItIsHeardAgain() {
        var conditions = Conditions()
        _ = conditions.hear(PowerReading(isExternal: true, level: nil), at: .seconds(100))
        _ = conditions.settleReadings(Self.window, at: .seconds(100))
        _ = conditions.hear(PowerReading(isExternal: nil, level: nil), at: .seconds(200))
        #expect(Self.deadline(conditions).at == .seconds(500))
        let news = conditions.settleReadings(Self.window, at: .seconds(500))
        #expect(news.isPowerNews && news.supply == nil && conditions.isExternal == nil)
        #expect(conditions.lastExternal == true)
        let isBack = conditions.hear(PowerReading(isExternal: true, level: nil), at: .seconds(600))
        #expect(!isBack && conditions.settleReadings(Self.window, at: .seconds(600)).supply?.isBack == false)
    }

    @Test(arguments: [(100, 21, false), (100, 20, true), (20, 24, true), (20, 25, false)])
    func batteryIsLowAtItsThreshold_untilALittleAbove(_ before: Int, _ level: Int, _ isLow: Bool) {
        var conditions = Self.onBattery(before)
        var policy = DevicePolicy()
        policy.batteryLow = 20
        _ = conditions.settleDemands(policy, isIdleHeld: false, at: .seconds(100))
        _ = conditions.hear(PowerReading(isExternal: false, level: level), at: .seconds(200))
        _ = conditions.settleReadings(Self.window, at: .seconds(200))
        _ = conditions.settleDemands(policy, isIdleHeld: false, at: .seconds(200))
        #expect(conditions.holding.contains(.batteryLow) == isLow)
    }

    @Test func strongestDemandWins_andSaysWhose() {
        var conditions = Conditions()
        conditions.hear(SessionReading(users: 1, isLocked: true, isIdle: false))
        let isOpened = conditions.hear(lidClosed: true)
        var policy = DevicePolicy()
        policy.responses[.sessionLocked] = .inactive
        policy.responses[.lidClosed] = .background
        let news = conditions.settleDemands(policy, isIdleHeld: false, at: .seconds(100))
        #expect(!isOpened && news.isLimitNews && news.lowPower == nil && !news.endsDarkWakes)
        #expect(conditions.phaseLimit == .background && conditions.limiting(policy.responses) == .lidClosed)
        #expect(conditions.frontDenial(policy.responses) == .condition(.lidClosed))
        let isOpenedNow = conditions.hear(lidClosed: false)
        #expect(isOpenedNow)
    }

    @Test func ownWordOnLowPowerCounts_butNeverEndsAPause() {
        var conditions = Conditions()
        conditions.setLowPower(true)
        var news = conditions.settleDemands(DevicePolicy(), isIdleHeld: false, at: .seconds(100))
        #expect(news.lowPower == true && news.endsDarkWakes && conditions.isLowPower)
        conditions.setLowPower(false)
        news = conditions.settleDemands(DevicePolicy(), isIdleHeld: false, at: .seconds(500))
        #expect(news.lowPower == false && !news.endsDarkWakes && !conditions.forbidsDarkWake)
    }

    @Test(arguments: [
        (true, 0, false, false), (true, 1, true, false), (true, 1, false, true), (false, 1, false, false),
    ])
    func idleCounts_whereAPersonIsAndNothingOfOursHoldsIt(
        _ isIdle: Bool, _ users: Int, _ isHeld: Bool, _ counts: Bool
    ) {
        var conditions = Conditions()
        conditions.hear(SessionReading(users: users, isLocked: false, isIdle: isIdle))
        _ = conditions.settleDemands(DevicePolicy(), isIdleHeld: isHeld, at: .seconds(100))
        #expect(conditions.holding.contains(.idle) == counts)
    }

    @Test func restIsAskedForEverMoreRarely() {
        var wish = RestWish()
        var moments: [Int64] = []
        var at = Nanoseconds.zero
        for _ in 0..<8 {
            let isAsked = wish.ask(at: at)
            let isAskedTwice = wish.ask(at: at)
            #expect(isAsked && !isAskedTwice)
            moments.append(at.rawValue / 1_000_000_000)
            at = wish.due ?? .max
        }
        #expect(moments == [0, 30, 90, 210, 450, 930, 1890, 3690])
        wish.postpone(at: .seconds(5000))
        #expect(wish.due == .seconds(5030))
        wish.hasten(at: .seconds(5001))
        #expect(wish.due == .seconds(5001))
    }

    // MARK: The last resorts

    @Test func batteryMustBeCriticalForAWhile() {
        var conditions = Self.onBattery(1)
        #expect(conditions.settleBattery(endsAll: true, mayConfirm: true, at: .seconds(100)) == .critical)
        #expect(conditions.settleBattery(endsAll: true, mayConfirm: true, at: .seconds(103)) == .critical)
        #expect(Self.deadline(conditions) == Deadline(at: .seconds(105), reason: .criticalBattery))
        #expect(Self.deadline(conditions, isBoardUp: false) == .never)
        #expect(conditions.settleBattery(endsAll: false, mayConfirm: true, at: .seconds(104)) == .better)
        #expect(conditions.powerOffDue == nil)
    }

    @Test func batteryThatSaysNothingIsNotKnownToBeBetter() {
        var conditions = Self.onBattery(nil)
        #expect(conditions.settleBattery(endsAll: true, mayConfirm: true, at: .seconds(100)) == .unknown)
        var full = Self.onBattery(100)
        #expect(full.settleBattery(endsAll: true, mayConfirm: true, at: .seconds(100)) == .better)
    }

    @Test func criticalHeatHasTimeToPass_betweenTwoEnds() {
        var conditions = Conditions()
        conditions.hear(
            [ThermalReading(temperature: 90_000, fair: nil, serious: 70_000, critical: 90_000)], at: .seconds(100))
        #expect(conditions.settleReadings(Self.window, at: .seconds(100)).thermalState == .critical)
        _ = conditions.settleDemands(DevicePolicy(), isIdleHeld: false, at: .seconds(100))
        let steps = [100, 109, 110].map { conditions.settleHeat(endsApps: true, at: .seconds($0)) }
        #expect(steps == [true, false, true] && !conditions.isSurelyCool)
        #expect(Self.deadline(conditions).reason == .thermalRelief)
        let isEnded = conditions.settleHeat(endsApps: false, at: .seconds(111))
        #expect(!isEnded && conditions.nextThermalKill == nil)
    }

    @Test func whatNothingAnnouncesIsLookedAt_atItsInterval() {
        var conditions = Conditions()
        conditions.hear(polling: .seconds(10), at: .seconds(100))
        conditions.hear(polling: .seconds(10), at: .seconds(105))
        #expect(Self.deadline(conditions) == Deadline(at: .seconds(110), reason: .poll))
        let steps = [109, 113, 113].map { conditions.takePollDue(at: .seconds($0)) }
        #expect(steps == [false, true, false] && Self.deadline(conditions).at == .seconds(123))
        conditions.hear(polling: nil, at: .seconds(114))
        #expect(Self.deadline(conditions) == .never)
    }
}

/// Places whose temperature is watched.
@Suite struct HeatZonesTests {
    private static func reading(_ zone: Int, _ temperature: Int?) -> ThermalReading {
        ThermalReading(zone: zone, temperature: temperature, fair: nil, serious: 70_000, critical: 90_000)
    }

    @Test(arguments: [
        (ThermalState.nominal, 69_999, ThermalState.nominal), (.nominal, 70_000, .serious),
        (.serious, 67_000, .serious), (.serious, 66_999, .nominal), (.serious, 89_999, .serious),
        (.critical, 87_000, .critical),
    ])
    func limitIsLeftALittleBelowIt(_ before: ThermalState, _ temperature: Int, _ after: ThermalState) {
        var zones = HeatZones()
        zones.hear([Self.reading(0, 20_000), Self.reading(1, temperature)], at: .zero)
        #expect(zones.state(after: before) == after)
    }

    @Test func silentPlaceCountsForAWhile_andIsRememberedAsLost() {
        var zones = HeatZones()
        zones.hear([Self.reading(0, 95_000)], at: .seconds(100))
        zones.hear([], at: .seconds(200))
        let isEarly = zones.settle(at: .milliseconds(499_999))
        #expect(!isEarly && zones.state(after: .critical) == .critical && !zones.isLostWhileCritical)
        let isForgotten = zones.settle(at: .seconds(500))
        #expect(isForgotten && zones.state(after: .critical) == .nominal && zones.isLostWhileCritical)
        zones.hear(
            [ThermalReading(zone: 0, temperature: nil, fair: nil, serious: nil, critical: nil)], at: .seconds(501))
        #expect(zones.all.isEmpty)
    }

    @Test func hottestOfSeveralReadingsCounts_andPlacesAreLimited() {
        var zones = HeatZones()
        zones.hear([Self.reading(0, 50_000), Self.reading(0, 71_000), Self.reading(0, 60_000)], at: .zero)
        #expect(zones.all.count == 1 && zones.state(after: .nominal) == .serious)
        zones.hear((0..<300).map { Self.reading($0, 20_000) }, at: .zero)
        #expect(zones.all.count == HeatZones.limit)
    }
}
