/** The timer that a closed server leaves would keep its process alive. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { gatewayWith } from "./gateway.ts";

describe("a closing server", () => {
  it("stops its ticks, so that its process can end", async () => {
    const tickIntervalMs = 86_400_001; // unlike all other waits
    const ticks = new Set<object>();
    const setTimer = (ms: number, fire: () => void): (() => void) => {
      if (ms !== tickIntervalMs) return systemClock.setTimer(ms, fire);
      const timer = {};
      ticks.add(timer);
      return () => void ticks.delete(timer);
    };
    const server = await gatewayWith([], {
      limits: { tickIntervalMs },
      clock: { now: () => systemClock.now(), setTimer },
    });
    assert.equal(ticks.size, 1);
    await server.gateway.close();
    assert.equal(ticks.size, 0);
  });
});
