import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { nameOf, type ProtocolName } from "../fixture.ts";
import { loadWire, readOurs } from "../ours.ts";
import { sections } from "../sections.ts";
import { serveFixtures, type FixtureServer } from "../serve.ts";

/**
 * A test for each fixture of the protocol, over loopback and with few of the cuts of
 * `npm run conformance`, which tries them all.
 */
export function tryFixtures(protocol: ProtocolName): void {
  const fixtures = sections
    .flatMap((section) => section.fixtures)
    .filter((fixture) => fixture.protocol === protocol);
  describe(`the fixtures of ${protocol}`, () => {
    let server: FixtureServer;
    before(async () => {
      server = await serveFixtures(fixtures);
    });
    after(() => server[Symbol.asyncDispose]());

    for (const [at, fixture] of fixtures.entries())
      it(nameOf(fixture), async () => {
        const wire = await loadWire(protocol);
        assert.ok(wire, `no wire for ${protocol}`);
        const url = `${server.origin}/${at}/v1`;
        const { faults } = await readOurs(wire, fixture, url, { cuts: "few" });
        assert.deepEqual(faults, []);
      });
  });
}
