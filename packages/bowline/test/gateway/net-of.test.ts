import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { netOf } from "../../src/gateway/access/net-of.ts";

describe("who comes from an address", () => {
  it("is counted by the net of 64 bits in IPv6, however the address is written", () => {
    const nets = {
      "2001:db8:1:2::1": "2001:db8:1:2::/64",
      "2001:0db8:0001:0002:ffff:eeee:dddd:cccc": "2001:db8:1:2::/64",
      "2001:db8:1:2:3:4:192.0.2.1": "2001:db8:1:2::/64",
      "2001:db8:1::7": "2001:db8:1:0::/64",
      "2001:db8::1:2:3:4:5": "2001:db8:0:1::/64",
      "::1": "0:0:0:0::/64",
      "::": "0:0:0:0::/64",
      "1::": "1:0:0:0::/64",
      "fe80::1%eth0": "fe80:0:0:0::/64",
    };
    for (const [address, net] of Object.entries(nets)) assert.equal(netOf(address), net, address);
  });

  it("is counted by the address in IPv4, and by itself where it is none", () => {
    for (const address of ["192.0.2.1", "", "unix", "a%b"]) assert.equal(netOf(address), address);
  });
});
